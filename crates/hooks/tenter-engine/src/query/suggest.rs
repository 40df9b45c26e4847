//! Explains an invalid reply to the query for events, and suggests the event that was probably meant. The suggestion is never used
//! as the reply (R12).

use tenter_base::nearest;
use tenter_protocol::lifecycle::{by_any_spelling, by_claude_code, executable_spellings};

/// Returns why `text` is not a valid reply, as the end of a sentence that begins with the hook's name.
pub(crate) fn explain(text: &str) -> String {
    if text.is_empty() {
        return "printed nothing instead of an event when it was asked `hook`".to_owned();
    }
    let suggestion = match meant(text) {
        Meant::Spelling(spelling) => format!("; did you mean \"{spelling}\"?"),
        Meant::ManifestOnly => "; only a hook with a HOOK.md can have this event".to_owned(),
        Meant::Unknown => format!("; the events are {}", executable_spellings().join(", ")),
    };
    format!("printed \"{text}\" instead of an event when it was asked `hook`{suggestion}")
}

enum Meant {
    Spelling(&'static str),
    /// An event that executables have no name for.
    ManifestOnly,
    Unknown,
}

fn meant(text: &str) -> Meant {
    let word = text.to_ascii_lowercase().replace(['-', ' '], "_");
    let elsewhere = by_claude_code(text).into_iter().collect();
    let manifest_events = [by_any_spelling(text), by_any_spelling(&word), elsewhere].concat();
    if let Some(event) = manifest_events.first() {
        return event
            .lifecycle()
            .executable
            .first()
            .map_or(Meant::ManifestOnly, |spelling| Meant::Spelling(spelling));
    }
    match nearest(&word, executable_spellings()) {
        Some(spelling) => Meant::Spelling(spelling),
        None => Meant::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probable_event_is_suggested() {
        let table = [
            ("before_tool", "did you mean \"before_tool_call\"?"),
            ("pre-tool-call", "did you mean \"before_tool_call\"?"),
            ("after_tool_failure", "did you mean \"after_tool_call\"?"),
            ("before_tool_cal", "did you mean \"before_tool_call\"?"),
            ("Before-Tool-Call", "did you mean \"before_tool_call\"?"),
            ("agentstop", "did you mean \"agent_stop\"?"),
            ("before_agent", "did you mean \"user_message_send\"?"),
            ("PreToolUse", "did you mean \"before_tool_call\"?"),
            ("Stop", "did you mean \"agent_stop\"?"),
            ("SubagentStop", "only a hook with a HOOK.md can have this event"),
            ("session_start", "only a hook with a HOOK.md can have this event"),
            (
                "xyz",
                "the events are user_message_send, before_tool_call, after_tool_call, after_turn, turn_end, agent_stop",
            ),
        ];
        for (printed, end) in table {
            let why = explain(printed);
            assert!(
                why.starts_with(&format!("printed \"{printed}\"")) && why.ends_with(end),
                "{why}"
            );
        }
        assert!(explain("").starts_with("printed nothing"));
    }
}
