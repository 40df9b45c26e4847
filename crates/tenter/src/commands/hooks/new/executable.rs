//! What a new executable holds: a commented hook that does nothing yet, for every event and in every language. The texts are the
//! files in `templates/executable`.

use tenter_protocol::lifecycle::executable_spellings;

use super::Language;
use super::manifest::NAME;
use crate::failure::Failure;

/// What an executable reads and may answer, by event.
const FIELDS: [(&str, &str); 5] = [
    ("user_message_send", include_str!("../templates/executable/user_message_send.txt")),
    ("before_tool_call", include_str!("../templates/executable/before_tool_call.txt")),
    ("after_tool_call", include_str!("../templates/executable/after_tool_call.txt")),
    ("after_turn", include_str!("../templates/executable/after_turn.txt")),
    ("agent_stop", include_str!("../templates/executable/agent_stop.txt")),
];
/// The other word for `after_turn`.
const TURN_END: &str = "turn_end";

/// The spelling that an executable has for the event that `word` means, in any spelling.
pub(super) fn spelling(word: &str) -> Result<&'static str, Failure> {
    if let Some(spelling) = executable_spellings().into_iter().find(|spelling| *spelling == word) {
        return Ok(spelling);
    }
    let events = super::super::events_named(word)?;
    let spellings = events.iter().find_map(|event| event.lifecycle().executable.first());
    spellings.copied().ok_or_else(|| {
        let possible = executable_spellings().join(", ");
        Failure::usage(format!("the event {word} is for manifest hooks only")).help(format!(
            "leave `--format executable` out; the events of executables are {possible}"
        ))
    })
}

/// The text of a hook for the event with this spelling.
pub(super) fn text(name: &str, spelling: &str, language: Language) -> Option<String> {
    let event = if spelling == TURN_END { "after_turn" } else { spelling };
    let (_, fields) = FIELDS.iter().find(|(of, _)| *of == event)?;
    let (script, comment) = match language {
        Language::Bash => (include_str!("../templates/executable/run.sh"), "#"),
        Language::Python => (include_str!("../templates/executable/run.py"), "#"),
        Language::Node => (include_str!("../templates/executable/run.mjs"), "//"),
    };
    let fields: Vec<String> = fields.lines().map(|line| line.replacen('#', comment, 1)).collect();
    let text = script.replace("@FIELDS@", &fields.join("\n"));
    Some(text.replace("@EVENT@", spelling).replace(NAME, name))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn there_is_a_template_for_every_event_of_executables_in_every_language() {
        for spelling in executable_spellings() {
            for language in Language::value_variants() {
                let text = text("guard", spelling, *language).unwrap();
                assert!(
                    text.starts_with("#!") && text.contains(spelling),
                    "{spelling} {language:?}"
                );
                assert!(
                    text.lines().all(|line| line.chars().count() <= 125),
                    "{spelling} {language:?}"
                );
            }
        }
        assert!(!text("guard", TURN_END, Language::Bash).unwrap().contains("after_turn"));
    }

    #[test]
    fn an_event_is_named_in_any_spelling_that_executables_have_a_word_for() {
        for (word, expected) in [
            ("turn_end", "turn_end"),
            ("after_turn", "after_turn"),
            ("before_stop", "agent_stop"),
            ("pre-tool-call", "before_tool_call"),
            ("after_tool_failure", "after_tool_call"),
        ] {
            assert_eq!(spelling(word).unwrap(), expected);
        }
        assert!(spelling("session_start").unwrap_err().message.contains("manifest hooks only"));
        assert!(spelling("xyz").unwrap_err().message.contains("there is no event"));
    }
}
