//! The escapes of `$'…'`, `echo -e` and `printf`, and texts as quoted words.

/// Returns a text without its escapes, as `$'…'` reads it, and whether it is certain: bytes that are no UTF-8 are replaced.
pub(crate) fn ansi(text: &str) -> (String, bool) {
    unescape(text, Octal::Plain)
}

/// Returns a text without its escapes, as `echo -e` and `printf %b` read it: an octal number has a zero before it.
pub(crate) fn echo(text: &str) -> (String, bool) {
    unescape(text, Octal::AfterZero)
}

/// Returns a text as one word for bash.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[derive(Clone, Copy, PartialEq)]
enum Octal {
    Plain,
    AfterZero,
}

fn unescape(text: &str, octal: Octal) -> (String, bool) {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = escape(&rest[at + 1..], octal, &mut bytes);
    }
    bytes.extend_from_slice(rest.as_bytes());
    match String::from_utf8(bytes) {
        Ok(text) => (text, true),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), false),
    }
}

/// Reads what follows a backslash, and returns the rest.
fn escape<'a>(text: &'a str, octal: Octal, bytes: &mut Vec<u8>) -> &'a str {
    let Some(kind) = text.chars().next() else {
        bytes.push(b'\\');
        return text;
    };
    let rest = &text[kind.len_utf8()..];
    let plain = match kind {
        'a' => 7,
        'b' => 8,
        'e' | 'E' => 27,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' | '\'' | '"' | '?' if octal == Octal::Plain => kind as u8,
        '\\' => b'\\',
        'x' => return number(rest, 16, 2, bytes),
        'u' => return character(rest, 4, bytes),
        'U' => return character(rest, 8, bytes),
        '0' if octal == Octal::AfterZero => return number(rest, 8, 3, bytes),
        '0'..='7' => return number(text, 8, 3, bytes),
        _ => {
            bytes.push(b'\\');
            bytes.extend_from_slice(&text.as_bytes()[..kind.len_utf8()]);
            return rest;
        }
    };
    bytes.push(plain);
    rest
}

fn digits(text: &str, radix: u32, most: usize) -> (u32, &str) {
    let length = text.chars().take(most).take_while(|digit| digit.is_digit(radix)).count();
    (u32::from_str_radix(&text[..length], radix).unwrap_or(0), &text[length..])
}

fn number<'a>(text: &'a str, radix: u32, most: usize, bytes: &mut Vec<u8>) -> &'a str {
    let (value, rest) = digits(text, radix, most);
    // bash takes the low eight bits: `\562` is `r`.
    bytes.push((value & 0xff) as u8);
    rest
}

fn character<'a>(text: &'a str, most: usize, bytes: &mut Vec<u8>) -> &'a str {
    let (value, rest) = digits(text, 16, most);
    let character = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_bash() {
        assert_eq!(ansi(r"\x72\x6d\040-rf").0, "rm -rf");
        assert_eq!(ansi(r"\162\155").0, "rm");
        assert_eq!(ansi(r"\562\555\440").0, "rm ");
        assert_eq!(ansi(r"\u00e9\'").0, "é'");
        assert_eq!(echo(r"\0162m").0, "rm");
        assert_eq!(echo(r"\q\").0, r"\q\");
        assert_eq!(ansi(r"\xff"), ("\u{fffd}".to_owned(), false));
    }
}
