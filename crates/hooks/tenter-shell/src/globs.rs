//! Patterns with which programs and tools select files: `--include=.env`, `-g '*.{js,ts}'`, `:(glob)**/x`.

/// Maximum number of patterns that braces make of one.
const MAX_PATTERNS: usize = 32;

/// Returns the patterns for file names that a selecting pattern stands for, without braces and a leading `**/`; none if it excludes files.
pub fn selecting(pattern: &str) -> Vec<String> {
    let plain = match pattern.strip_prefix(":(") {
        Some(magic) => match magic.split_once(')') {
            Some((words, _)) if words.contains("exclude") => return Vec::new(),
            Some((_, rest)) => rest,
            None => magic,
        },
        None => pattern.strip_prefix(":/").unwrap_or(pattern),
    };
    // An escaped dot, and the end of a regular expression.
    let plain = plain.replace('\\', "");
    let plain = plain.trim_end_matches('$');
    if plain.is_empty() || plain.starts_with(['!', '^']) || plain.starts_with(":!") {
        return Vec::new();
    }
    let mut results = Vec::new();
    let mut open = vec![plain.to_owned()];
    while let Some(pattern) = open.pop() {
        match alternatives(&pattern) {
            Some(choices) if open.len() + results.len() + choices.len() <= MAX_PATTERNS => {
                open.extend(choices);
            }
            _ if !results.contains(&pattern) => results.push(pattern),
            _ => {}
        }
    }
    let bare = |pattern: &String| {
        let rest = pattern.trim_start_matches("./").trim_start_matches('/');
        rest.trim_start_matches("**/").to_owned()
    };
    let bare: Vec<String> = results.iter().map(bare).collect();
    // `*.env` selects `.env`, too, and names it.
    let names = bare.iter().filter_map(|pattern| pattern.strip_prefix('*').map(str::to_owned));
    let names: Vec<String> = names.filter(|pattern| !bare.contains(pattern)).collect();
    bare.into_iter().chain(names).filter(|pattern| !pattern.is_empty()).collect()
}

/// Returns the pattern that says the same as a simple regular expression for names: `^\\.env$` is `.env`.
pub(crate) fn from_regex(regex: &str) -> String {
    let bare = regex.trim_start_matches('^').trim_end_matches('$');
    bare.replace("\\.", ".").replace(".*", "*")
}

/// Expands the first braces without braces in them. `None` if there are none.
fn alternatives(pattern: &str) -> Option<Vec<String>> {
    let close = pattern.find('}')?;
    let open = pattern[..close].rfind('{')?;
    let choices = pattern[open + 1..close].split(',');
    let whole = |choice| format!("{}{choice}{}", &pattern[..open], &pattern[close + 1..]);
    Some(choices.map(whole).collect())
}

/// Checks whether a name may fit a pattern of the shell. `[…]` is any letter. The time is linear in the length of both.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    // At each number of letters: whether the pattern so far fits so many.
    let mut fitting = vec![false; name.len() + 1];
    fitting[0] = true;
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter == '*' {
            let first = fitting.iter().position(|fits| *fits).unwrap_or(fitting.len());
            fitting[first..].fill(true);
            continue;
        }
        if letter == '[' {
            letters.find(|end| *end == ']');
        }
        let is_any = matches!(letter, '?' | '[');
        for count in (1..=name.len()).rev() {
            fitting[count] = fitting[count - 1] && (is_any || name[count - 1] == letter);
        }
        fitting[0] = false;
    }
    fitting[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_pattern_is_compared_in_linear_time() {
        for (pattern, is_fitting) in [
            ("c?t", true),
            ("b*sh", false),
            ("c*", true),
            ("[bc]at", true),
            ("cat?", false),
            ("", false),
        ] {
            assert_eq!(fits(pattern, "cat"), is_fitting, "{pattern}");
        }
        let stars = "*".repeat(60_000);
        assert!(fits(&format!("c{stars}t"), "cat"));
        assert!(!fits(&format!("{stars}x"), "cat"));
    }

    #[test]
    fn a_selecting_pattern_is_one_or_more_names() {
        for (pattern, expected) in [
            (".env", &[".env"][..]),
            ("**/.env", &[".env"]),
            ("*.env", &["*.env", ".env"]),
            ("/config/.env", &["config/.env"]),
            ("{.env,a{b,c}}", &[".env", "ab", "ac"]),
            (":(glob)**/.env", &[".env"]),
            (":/.env", &[".env"]),
            ("!.env", &[]),
            (":!.env", &[]),
            (":(exclude).env", &[]),
            ("", &[]),
            ("**/", &[]),
            (r"\.env$", &[".env"]),
            ("a}b{", &["a}b{"]),
        ] {
            let mut names = selecting(pattern);
            names.sort();
            assert_eq!(names, expected, "{pattern}");
        }
        assert_eq!(from_regex(r"^\.env$"), ".env");
        let many = "{a,b}".repeat(20);
        assert!(selecting(&many).len() <= MAX_PATTERNS);
    }
}
