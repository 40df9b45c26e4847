//! The text of a new executable: a commented hook that does nothing yet, for every event and in every language. The scripts are
//! in `templates/executable`.

use tenter_protocol::lifecycle::{by_any_spelling, executable_spellings};
use tenter_terminal::Failure;

use super::manifest::NAME;
use super::{ScriptLanguage, comments};

/// Returns the spelling by which an executable subscribes to the event `word`, which may have any spelling.
///
/// # Errors
/// The event is unknown, or only manifest hooks have it.
pub(super) fn spelling(word: &str) -> Result<&'static str, Failure> {
    if let Some(spelling) = executable_spellings().into_iter().find(|spelling| *spelling == word) {
        return Ok(spelling);
    }
    let events = super::super::events_named(word)?;
    let spellings = events.iter().find_map(|event| event.lifecycle().executable.first());
    spellings.copied().ok_or_else(|| {
        let possible = executable_spellings().join(", ");
        Failure::usage(format!("executable hooks do not have the event {word}"))
            .help(format!("omit `--format executable`, or choose one of {possible}"))
    })
}

/// Returns the text of a hook that subscribes with `spelling`; `None` if this is not a spelling of executables.
pub(super) fn text(name: &str, spelling: &str, language: ScriptLanguage) -> Option<String> {
    let event = *by_any_spelling(spelling).first()?;
    let (script, comment) = match language {
        ScriptLanguage::Bash => (include_str!("../templates/executable/run.sh"), "#"),
        ScriptLanguage::Python => (include_str!("../templates/executable/run.py"), "#"),
        ScriptLanguage::Node => (include_str!("../templates/executable/run.mjs"), "//"),
    };
    let lines = comments::write_executable_comment(event, spelling);
    let lines: Vec<String> =
        lines.iter().map(|line| format!("{comment} {line}").trim_end().to_owned()).collect();
    let text = script.replace("@FIELDS@", &lines.join("\n"));
    Some(text.replace("@EVENT@", spelling).replace(NAME, name))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_event_of_executables_has_a_script_in_every_language() {
        for spelling in executable_spellings() {
            for language in ScriptLanguage::value_variants() {
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
        assert!(!text("guard", "turn_end", ScriptLanguage::Bash).unwrap().contains("after_turn"));
    }

    #[test]
    fn events_are_accepted_in_any_spelling() {
        for (word, expected) in [
            ("turn_end", "turn_end"),
            ("after_turn", "after_turn"),
            ("before_stop", "agent_stop"),
            ("pre-tool-call", "before_tool_call"),
            ("after_tool_failure", "after_tool_call"),
        ] {
            assert_eq!(spelling(word).unwrap(), expected);
        }
        assert!(spelling("session_start").unwrap_err().message.contains("do not have the event"));
        assert!(spelling("xyz").unwrap_err().message.contains("there is no event"));
    }
}
