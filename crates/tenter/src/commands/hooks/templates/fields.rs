/// The payload's first text of this name.
fn text(payload: &str, field: &str) -> Option<String> {
    let (_, rest) = payload.split_once(&format!("\"{field}\": \""))?;
    let mut text = String::new();
    let mut characters = rest.chars();
    loop {
        match characters.next()? {
            '"' => return Some(text),
            '\\' => text.push(unescaped(&mut characters)?),
            other => text.push(other),
        }
    }
}

/// The character that stands behind a backslash in JSON.
fn unescaped(characters: &mut std::str::Chars) -> Option<char> {
    Some(match characters.next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => {
            let code: String = characters.take(4).collect();
            char::from_u32(u32::from_str_radix(&code, 16).ok()?)?
        }
        other => other,
    })
}

/// The payload's first whole number of this name.
fn number(payload: &str, field: &str) -> Option<u64> {
    let (_, rest) = payload.split_once(&format!("\"{field}\": "))?;
    rest[..rest.find(|character: char| !character.is_ascii_digit())?].parse().ok()
}

/// `text` as JSON writes it.
fn quoted(text: &str) -> String {
    let mut json = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            '\0'..='\x1f' => json.push_str(&format!("\\u{:04x}", character as u32)),
            other => json.push(other),
        }
    }
    json + "\""
}
