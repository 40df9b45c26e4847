//! Comments in a new hook about its event: the payload's fields and the possible replies, from the tables of the protocol.

use tenter_base::capitalize;
use tenter_protocol::EventName;
use tenter_protocol::lifecycle::{Power, ProtocolName};
use tenter_protocol::reply_fields::example;
use tenter_protocol::schema::PayloadField;
use tenter_terminal::text::prose;

/// Maximum number of characters in a line of a comment.
const WIDTH: usize = 118;
/// Column at which the explanation of a field or a reply starts.
const INDENT: usize = 24;

/// Returns the end of a new `HOOK.md`: payload and replies at `event`.
pub(super) fn write_manifest_comment(event: EventName) -> String {
    let row = event.lifecycle();
    let about = format!("The hook runs {}. {}", row.fires, row.notes);
    let mut lines =
        vec!["## Payload".to_owned(), String::new(), prose(about.trim(), WIDTH).join("\n")];
    lines.extend(["", "| Field | Meaning |", "| --- | --- |"].map(str::to_owned));
    let fields = PayloadField::own(event, ProtocolName::Manifest).into_iter();
    lines.extend(fields.map(|field| format!("| `{}` | {} |", field.name, field.description)));
    lines.extend(MANIFEST_REPLIES.map(str::to_owned));
    for (power, effect) in row.may {
        let effect = capitalize(effect) + ".";
        if matches!(power, Power::Block | Power::Continue | Power::FeedBack) {
            lines.push(format!("| exit code 2, the reason on stderr | {effect} |"));
        }
        let example = example(*power, ProtocolName::Manifest).into_iter();
        lines.extend(example.map(|example| format!("| `{example}` | {effect} |")));
    }
    lines.extend(AFTER_REPLIES.map(str::to_owned));
    lines.join("\n") + "\n"
}

const AFTER_REPLIES: [&str; 2] = [
    r#"| `{"log": "…"}` | The text is written to the journal. |"#,
    "| another exit code | Failure: the agent shows a warning and continues. With `metadata: {fail: closed}` it blocks if it can. |",
];

const MANIFEST_REPLIES: [&str; 7] = [
    "| `event_type`, `timestamp`, `session_id`, `work_dir`, `context`, `host` | In every payload. |",
    "",
    "## Reply",
    "",
    "| Reply | Effect |",
    "| --- | --- |",
    "| exit code 0, no output | None. |",
];

/// Returns the comment in a new executable for the event of this spelling, without comment characters.
pub(super) fn write_executable_comment(event: EventName, spelling: &str) -> Vec<String> {
    let row = event.lifecycle();
    let mut lines = vec![format!("{spelling} fires {}.", row.fires)];
    lines.extend(prose(row.notes, WIDTH));
    lines.extend([String::new(), "Payload:".to_owned()]);
    for field in PayloadField::own(event, ProtocolName::Executable) {
        lines.extend(format_explanation(&field.name, &field.description));
    }
    lines.extend(format_explanation(
        "…",
        "Every payload has event, conv_id, cwd, host, timestamp and protocol_version.",
    ));
    lines.extend([String::new(), "Reply:".to_owned()]);
    lines.extend(format_explanation("nothing, or {}", "No effect."));
    for (power, effect) in row.may {
        if let Some(example) = example(*power, ProtocolName::Executable) {
            lines.extend(format_explanation(example, &(capitalize(effect) + ".")));
        }
    }
    lines
}

/// Returns `word`, and its explanation beside or below it.
fn format_explanation(word: &str, explanation: &str) -> Vec<String> {
    let lines = prose(explanation, WIDTH - INDENT).into_iter();
    let mut lines: Vec<String> = lines.map(|line| format!("{:INDENT$}{line}", "")).collect();
    let start = format!("  {word}");
    match lines.first_mut() {
        Some(first) if start.chars().count() < INDENT => {
            *first = format!("{start:INDENT$}{}", first.trim_start());
        }
        _ => lines.insert(0, start),
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_explanations_are_wrapped_beside_or_below_their_word() {
        let long = "word ".repeat(30);
        let beside = format_explanation("name", long.trim());
        assert!(beside[0].starts_with("  name                  word word"), "{beside:?}");
        let below = format_explanation(&"x".repeat(30), "What it is.");
        assert_eq!(below[1], format!("{:24}What it is.", ""));
        assert!(beside.iter().all(|line| line.chars().count() <= WIDTH), "{beside:?}");
    }
}
