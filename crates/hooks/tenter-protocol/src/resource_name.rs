//! The names of hooks and skills: 1 to 64 lower-case letters and digits of any script, separated by single hyphens (R16).

use unicode_normalization::UnicodeNormalization;

use crate::front_matter::quotable;

/// Maximum number of characters in a name.
pub const MAX_LENGTH: usize = 64;

/// Removes surrounding white space and normalizes letters (NFKC).
pub fn normalize(text: &str) -> String {
    text.trim().nfkc().collect()
}

/// Returns everything that is wrong with a name, as the ends of sentences.
pub fn faults(name: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let length = name.chars().count();
    if length == 0 {
        return vec!["is empty".to_owned()];
    }
    if length > MAX_LENGTH {
        faults.push(format!("has {length} characters; the maximum is {MAX_LENGTH}"));
    }
    if name.chars().any(|letter| letter.is_alphanumeric() && !is_lower_case(letter)) {
        faults.push("contains upper-case letters".to_owned());
    }
    if name.starts_with('-') || name.ends_with('-') {
        faults.push("begins or ends with a hyphen".to_owned());
    }
    if name.contains("--") {
        faults.push("contains two hyphens in a row".to_owned());
    }
    if let Some(other) = name.chars().find(|letter| !letter.is_alphanumeric() && *letter != '-') {
        faults.push(format!("contains `{}`", quotable(&other.to_string())));
    }
    faults
}

/// Returns a valid name similar to `name`.
pub fn suggestion(name: &str) -> Option<String> {
    let lower: String = name.chars().take(MAX_LENGTH).flat_map(char::to_lowercase).collect();
    let words = lower.split(|letter: char| !letter.is_alphanumeric());
    let name = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    let cut: String = name.chars().take(MAX_LENGTH).collect();
    let suggestion = normalize(cut.trim_end_matches('-'));
    faults(&suggestion).is_empty().then_some(suggestion)
}

fn is_lower_case(letter: char) -> bool {
    letter.to_lowercase().eq([letter])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_any_script_are_valid() {
        for name in ["a", "block-rm-2", "技能", "café", "ñandú-4", &"x".repeat(64)] {
            assert_eq!(faults(name), Vec::<String>::new(), "{name}");
        }
    }

    #[test]
    fn normalizes_letters_and_white_space() {
        assert_eq!(normalize("cafe\u{301}"), "café");
        assert_eq!(normalize(" ﬁle "), "file");
    }

    #[test]
    fn reports_all_faults_at_once() {
        let faults_of_name = faults("-My--Hook_x");
        assert_eq!(
            faults_of_name,
            [
                "contains upper-case letters",
                "begins or ends with a hyphen",
                "contains two hyphens in a row",
                "contains `_`"
            ]
        );
        assert_eq!(faults(""), ["is empty"]);
        assert_eq!(faults(&"x".repeat(65)), ["has 65 characters; the maximum is 64"]);
    }

    #[test]
    fn suggests_a_valid_name() {
        assert_eq!(suggestion("-My--Hook_x").as_deref(), Some("my-hook-x"));
        assert_eq!(suggestion(&"a-".repeat(50)).unwrap().len(), 63);
        assert_eq!(suggestion("!!"), None);
    }
}
