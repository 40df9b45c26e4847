//! The fields that a payload can have, told without one: whoever writes a condition over it learns early what can never hold.
//! What stands in `tool_input`, in a session's `args` and in a tool's `metadata` is nobody's to list.

use crate::EventName;

/// A field, and what can stand in it.
type Field = (&'static str, Inside);

/// What can stand in a field.
#[derive(Debug, Clone, Copy)]
enum Inside {
    /// Whatever there is.
    Anything,
    /// These fields; none, where it is no object.
    Fields(&'static [Field]),
}

/// A name in a path that a payload cannot have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stranger {
    /// Its place in the path, from 0.
    pub index: usize,
    /// The names that can stand there.
    pub known: Vec<&'static str>,
}

const VALUE: Inside = Inside::Fields(&[]);

const EVERY_EVENT: &[Field] = &[
    ("event_type", VALUE),
    ("timestamp", VALUE),
    ("session_id", VALUE),
    ("work_dir", VALUE),
    ("context", Inside::Fields(CONTEXT)),
];
const CONTEXT: &[Field] = &[
    ("invoked_by", VALUE),
    ("parent_session_id", VALUE),
    ("recipe_name", VALUE),
    ("recipe_full_name", VALUE),
    ("protocol_version", VALUE),
];
const SESSION_START: &[Field] = &[("model", VALUE), ("args", Inside::Anything)];
const SESSION_END: &[Field] =
    &[("duration_seconds", VALUE), ("total_steps", VALUE), ("exit_reason", VALUE)];
const CALL: &[Field] = &[
    ("tool_name", VALUE),
    ("tool_input", Inside::Anything),
    ("tool_use_id", VALUE),
    ("tool_aliases", VALUE),
    ("paths", VALUE),
];
const OUTPUT: Field = (
    "tool_output",
    Inside::Fields(&[
        ("toolName", VALUE),
        ("success", VALUE),
        ("error", VALUE),
        ("metadataType", VALUE),
        ("metadata", Inside::Anything),
        ("timestamp", VALUE),
    ]),
);
const TURN: &[Field] =
    &[("turn_number", VALUE), ("session_turn", VALUE), ("tools_used", VALUE), ("response", VALUE)];
const STOP: &[Field] = &[
    ("stop_reason", VALUE),
    ("step_count", VALUE),
    ("final_message", Inside::Fields(&[("role", VALUE), ("content", VALUE)])),
    ("stop_hook_active", VALUE),
    ("continuation_count", VALUE),
];
const FIGURES: &[Field] = &[
    ("usage", Inside::Fields(USAGE)),
    ("auto_compact_enabled", VALUE),
    ("auto_compact_threshold", VALUE),
    ("messages", VALUE),
];
const USAGE: &[Field] = &[
    ("input_tokens", VALUE),
    ("output_tokens", VALUE),
    ("current_context_window", VALUE),
    ("max_context_window", VALUE),
    ("estimated", VALUE),
    ("cost_usd", VALUE),
    (
        "turn",
        Inside::Fields(&[
            ("input_tokens", VALUE),
            ("output_tokens", VALUE),
            ("cached_input_tokens", VALUE),
            ("cache_write_tokens", VALUE),
        ]),
    ),
];
const SUBAGENT: &[Field] =
    &[("subagent_name", VALUE), ("subagent_type", VALUE), ("task_description", VALUE)];
const COMPACTION: &[Field] = &[("trigger", VALUE), ("tokens_before", VALUE)];

/// The fields of an event's own, in pieces.
fn own(event: EventName) -> &'static [&'static [Field]] {
    match event {
        EventName::SessionStart => &[SESSION_START],
        EventName::BeforeAgent => &[&[("prompt", VALUE)]],
        EventName::BeforeTool => &[CALL],
        EventName::AfterTool => &[CALL, &[OUTPUT]],
        EventName::AfterToolFailure => &[CALL, &[("tool_error", VALUE), OUTPUT]],
        EventName::AfterTurn => &[TURN, FIGURES],
        EventName::BeforeStop => &[STOP, FIGURES],
        EventName::AfterAgent => &[&[("response", VALUE)]],
        EventName::SubagentStart => &[SUBAGENT],
        EventName::SubagentStop => &[SUBAGENT, &[("response", VALUE)]],
        EventName::PreCompact => &[COMPACTION],
        EventName::PostCompact => &[COMPACTION, &[("tokens_after", VALUE)]],
        EventName::SessionEnd => &[SESSION_END],
    }
}

/// The first name of `path`, the way to a value from the payload's beginning, that the payload of `event` cannot have.
pub fn stranger(event: EventName, path: &[&str]) -> Option<Stranger> {
    let mut fields: Vec<&Field> =
        own(event).iter().copied().chain([EVERY_EVENT]).flatten().collect();
    for (index, name) in path.iter().enumerate() {
        match fields.iter().find(|(known, _)| known == name) {
            Some((_, Inside::Anything)) => return None,
            Some((_, Inside::Fields(inside))) => fields = inside.iter().collect(),
            None => {
                return Some(Stranger {
                    index,
                    known: fields.iter().map(|(name, _)| *name).collect(),
                });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_that_cannot_be_there_is_told_with_those_that_can() {
        let found = |event, path: &[&str]| stranger(event, path).map(|found| found.index);
        assert_eq!(found(EventName::BeforeTool, &["tool_input", "anything", "at", "all"]), None);
        assert_eq!(found(EventName::BeforeTool, &["tool_output"]), Some(0));
        assert_eq!(found(EventName::AfterTool, &["tool_output", "metadata", "exitCode"]), None);
        assert_eq!(found(EventName::AfterTool, &["tool_error"]), Some(0));
        assert_eq!(found(EventName::AfterTurn, &["usage", "turn", "input_tokens"]), None);
        assert_eq!(found(EventName::AfterTurn, &["usage", "turn", "tokens"]), Some(2));
        assert_eq!(found(EventName::AfterTurn, &["response", "text"]), Some(1));
        assert_eq!(found(EventName::AfterTurn, &[]), None);
        let stranger = stranger(EventName::BeforeStop, &["final_message", "text"]).unwrap();
        assert_eq!(stranger.known, ["role", "content"]);
    }
}
