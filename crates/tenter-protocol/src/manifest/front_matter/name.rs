//! A hook's name: 1 to 64 lower-case letters and digits of any script, with single hyphens between them (R16).

use unicode_normalization::UnicodeNormalization;

use super::LONGEST_NAME;
use super::findings::{FOLDER, Findings, NAME};
use super::tree::{Node, shown};

/// The name that `text` stands for, if it is one; the findings say what is wrong with it.
pub(super) fn check(text: &str, node: &Node, findings: &mut Findings<'_>) -> Option<String> {
    let name = normal(text);
    let faults = faults(&name);
    let rescued = rescued(&name);
    let help = match &rescued {
        Some(rescued) => format!("for example `{rescued}`"),
        None => "write lower-case letters and digits, with single hyphens between them".to_owned(),
    };
    for fault in &faults {
        findings.add(&NAME, Some(&node.at), format!("the name {fault}"), help.clone());
    }
    compare_with_folder(&name, rescued.as_deref(), node, findings);
    faults.is_empty().then_some(name)
}

/// White space around a name does not count, nor do different ways of writing one letter (NFKC).
fn normal(text: &str) -> String {
    text.trim().nfkc().collect()
}

/// Everything that is wrong with the name of a hook or of a skill, as the ends of sentences.
pub fn faults(name: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let length = name.chars().count();
    if length == 0 {
        return vec!["is empty".to_owned()];
    }
    if length > LONGEST_NAME {
        faults.push(format!("is {length} characters long; {LONGEST_NAME} are allowed"));
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
        faults.push(format!("contains `{}`", shown(&other.to_string())));
    }
    faults
}

fn is_lower_case(letter: char) -> bool {
    letter.to_lowercase().eq([letter])
}

/// The valid name that is nearest to `name`.
fn rescued(name: &str) -> Option<String> {
    let lower: String = name.chars().take(LONGEST_NAME).flat_map(char::to_lowercase).collect();
    let words = lower.split(|letter: char| !letter.is_alphanumeric());
    let joined = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    let cut: String = joined.chars().take(LONGEST_NAME).collect();
    let rescued = normal(cut.trim_end_matches('-'));
    faults(&rescued).is_empty().then_some(rescued)
}

/// A name that becomes the folder's once its faults are gone has no further fault.
fn compare_with_folder(
    name: &str,
    rescued: Option<&str>,
    node: &Node,
    findings: &mut Findings<'_>,
) {
    let folder = findings.path().parent().and_then(|folder| folder.file_name());
    let Some(folder) = folder.map(|folder| normal(&folder.to_string_lossy())) else { return };
    if folder != name && Some(folder.as_str()) != rescued {
        let (name, folder) = (shown(name), shown(&folder));
        let message = format!("the hook is called `{name}` but its folder `{folder}`");
        let help = "give the folder the hook's name, or the hook the folder's";
        findings.add(&FOLDER, Some(&node.at), message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_any_script_make_a_name() {
        for name in ["a", "block-rm-2", "技能", "café", "ñandú-4", &"x".repeat(64)] {
            assert_eq!(faults(name), Vec::<String>::new(), "{name}");
        }
    }

    #[test]
    fn ways_of_writing_one_letter_are_one() {
        assert_eq!(normal("cafe\u{301}"), "café");
        assert_eq!(normal(" ﬁle "), "file");
    }

    #[test]
    fn everything_wrong_with_a_name_is_said_at_once() {
        let found = faults("-My--Hook_x");
        assert_eq!(
            found,
            [
                "contains upper-case letters",
                "begins or ends with a hyphen",
                "contains two hyphens in a row",
                "contains `_`"
            ]
        );
        assert_eq!(faults(""), ["is empty"]);
        assert_eq!(faults(&"x".repeat(65)), ["is 65 characters long; 64 are allowed"]);
    }

    #[test]
    fn a_valid_name_is_proposed() {
        assert_eq!(rescued("-My--Hook_x").as_deref(), Some("my-hook-x"));
        assert_eq!(rescued(&"a-".repeat(50)).unwrap().len(), 63);
        assert_eq!(rescued("!!"), None);
    }
}
