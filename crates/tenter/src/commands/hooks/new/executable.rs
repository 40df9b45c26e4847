//! What a new executable holds: for every event and language an example that works. The texts are the files in
//! `templates`; an event's own part stands between what all hooks of its language begin and end with.

use tenter_protocol::lifecycle::executable_spellings;

use super::Language;
use crate::failure::Failure;

struct Template {
    event: &'static str,
    bash: &'static str,
    python: &'static str,
    rust: &'static str,
}

macro_rules! text {
    ($event:literal, $extension:literal) => {
        concat!(
            include_str!(concat!("../templates/head.", $extension)),
            include_str!(concat!("../templates/", $event, ".", $extension)),
            include_str!(concat!("../templates/tail.", $extension)),
        )
    };
}

macro_rules! templates {
    ($($event:literal),+ $(,)?) => {
        &[$(Template {
            event: $event,
            bash: text!($event, "sh"),
            python: text!($event, "py"),
            rust: concat!(
                include_str!("../templates/polyglot.rs"),
                text!($event, "rs"),
                include_str!("../templates/fields.rs"),
            ),
        }),+]
    };
}

const TEMPLATES: &[Template] = templates![
    "user_message_send",
    "before_tool_call",
    "after_tool_call",
    "after_turn",
    "agent_stop"
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
        Failure::usage(format!("the event {word} is for hooks with a HOOK.md alone")).help(format!(
            "leave `--format executable` out; an executable can be told of {possible}"
        ))
    })
}

/// The text of a hook that is told of the event with this spelling.
pub(super) fn text(spelling: &str, language: Language) -> Option<String> {
    let event = if spelling == TURN_END { "after_turn" } else { spelling };
    let template = TEMPLATES.iter().find(|template| template.event == event)?;
    let text = match language {
        Language::Bash => template.bash,
        Language::Python => template.python,
        Language::Rust => template.rust,
    };
    Some(text.replace(event, spelling))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn there_is_a_template_for_every_event_of_executables_in_every_language() {
        for spelling in executable_spellings() {
            for language in Language::value_variants() {
                let text = text(spelling, *language).unwrap();
                assert!(
                    text.starts_with("#!") && text.contains(spelling),
                    "{spelling} {language:?}"
                );
                assert!(
                    text.lines().all(|line| line.chars().count() <= 120),
                    "{spelling} {language:?}"
                );
            }
        }
        assert!(!text(TURN_END, Language::Rust).unwrap().contains("after_turn"));
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
        assert!(spelling("session_start").unwrap_err().message.contains("HOOK.md alone"));
        assert!(spelling("xyz").unwrap_err().message.contains("there is no event"));
    }
}
