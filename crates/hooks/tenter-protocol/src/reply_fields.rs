//! The table of reply fields: spellings, types, meanings, and the events at which a field has an effect. Replies are read with
//! it, and their JSON Schemas and `docs/events.md` come from it. A derived type would not fit: fields have several spellings, an
//! event allows some of them, and one that cannot be read leaves the others in force.

#[cfg(feature = "schema")]
use serde_json::{Value, json};

use crate::EventName;
use crate::lifecycle::{Power, ProtocolName};

/// The JSON type of a field: as a word for tables, as a phrase for messages, and as JSON Schema.
#[derive(Debug, Clone, Copy)]
pub enum FieldType {
    /// Any string.
    Text,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// `true` or `false`.
    Boolean,
    /// An object with arbitrary fields.
    AnyObject,
    /// An object whose values are strings.
    StringMap,
    /// A list of strings.
    Strings,
    /// A list of messages as a hook writes them: plain text or typed blocks.
    NewMessages,
    /// A confinement.
    Confinement,
    /// Any JSON value.
    Any,
}

use FieldType::{
    Any, AnyObject, Boolean, Confinement, NewMessages, OneOf, StringMap, Strings, Text,
};

impl FieldType {
    /// Returns the JSON type, for tables.
    pub fn name(self) -> &'static str {
        match self {
            Text | OneOf(_) => "string",
            Boolean => "boolean",
            AnyObject | StringMap | Confinement => "object",
            Strings | NewMessages => "array",
            Any => "any",
        }
    }

    /// Returns the type with its article, to complete "must be".
    pub(crate) fn phrase(self) -> &'static str {
        match self {
            Text | OneOf(_) => "a string",
            Boolean => "true or false",
            AnyObject => "an object",
            StringMap => "an object of strings",
            Strings => "a list of strings",
            NewMessages => "a list of messages with \"role\" and \"content\"",
            Confinement => {
                "an object with \"write\", \"read_not\", \"network\", \"otherwise\" or \"profile\""
            }
            Any => "a JSON value",
        }
    }

    #[cfg(feature = "schema")]
    fn schema(self) -> Value {
        match self {
            Text => json!({"type": "string"}),
            OneOf(words) => json!({"type": "string", "enum": words}),
            Boolean => json!({"type": "boolean"}),
            AnyObject => json!({"type": "object"}),
            StringMap => json!({"type": "object", "additionalProperties": {"type": "string"}}),
            Strings => json!({"type": "array", "items": {"type": "string"}}),
            NewMessages => new_messages(),
            Confinement => {
                let settings = schemars::generate::SchemaSettings::draft2020_12();
                crate::derived_schema::derived::<crate::confinement::Confinement>(settings)
            }
            Any => json!({}),
        }
    }
}

#[cfg(feature = "schema")]
fn new_messages() -> Value {
    json!({
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "required": ["role"],
            "properties": {
                "role": {"type": "string", "enum": ["user", "assistant"]},
                "content": {"type": "string"},
                "blocks": {"type": "array", "items": {"type": "object", "required": ["type"]}},
            },
            "anyOf": [{"required": ["content"]}, {"required": ["blocks"]}],
        },
    })
}

/// A field that a reply may have.
#[derive(Debug)]
pub struct ReplyField {
    /// The spellings; the first one given counts.
    pub spellings: &'static [&'static str],
    /// The type.
    pub kind: FieldType,
    /// The power that an event must have for the field to have an effect; `None` if it always has one.
    pub power: Option<Power>,
    /// True if the field asks for a change: if it cannot be read, the run has failed (R61).
    pub is_change: bool,
    /// The meaning of the field, as sentences.
    pub meaning: &'static str,
}

impl ReplyField {
    /// Returns the name.
    pub fn name(&self) -> &'static str {
        self.spellings[0]
    }

    /// Returns the other spellings that are accepted.
    pub fn aliases(&self) -> &'static [&'static str] {
        &self.spellings[1..]
    }

    /// Returns true if the field has an effect at `event`.
    pub fn applies_at(&self, event: EventName) -> bool {
        self.power.is_none_or(|power| event.may(power))
    }

    const fn means(mut self, meaning: &'static str) -> Self {
        self.meaning = meaning;
        self
    }

    #[cfg(feature = "schema")]
    fn schema(&self, event: EventName) -> Value {
        let mut schema = self.kind.schema();
        schema["description"] = json!(self.meaning);
        if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
            words.retain(|word| word_power(word).is_none_or(|power| event.may(power)));
        }
        schema
    }
}

#[cfg(feature = "schema")]
/// Returns the power that a word of `decision` or `result` needs, if only some of the field's events allow the word.
fn word_power(word: &Value) -> Option<Power> {
    match word.as_str() {
        Some("ask" | "confine") => Some(Power::Ask),
        Some("continue") => Some(Power::Continue),
        _ => None,
    }
}

/// Returns the fields of a protocol's replies.
pub fn reply_fields(protocol: ProtocolName) -> &'static [&'static ReplyField] {
    match protocol {
        ProtocolName::Executable => &EXECUTABLE,
        ProtocolName::Manifest => &MANIFEST,
    }
}

/// Returns an example of a reply that uses `power`, as JSON; `None` if the protocol has no such reply.
pub fn example(power: Power, protocol: ProtocolName) -> Option<&'static str> {
    use ProtocolName::{Executable, Manifest};
    match (power, protocol) {
        (Power::Block, Executable) => Some(r#"{"blocked": true, "reason": "…"}"#),
        (Power::Block | Power::FeedBack, Manifest) => {
            Some(r#"{"decision": "deny", "reason": "…"}"#)
        }
        (Power::Ask, Manifest) => Some(r#"{"decision": "ask", "reason": "…"}"#),
        (Power::Ask | Power::FeedBack, Executable) => None,
        (Power::RewriteMessage, Executable) => Some(r#"{"message": "…"}"#),
        (Power::RewriteMessage, Manifest) => Some(r#"{"modified_prompt": "…"}"#),
        (Power::RewriteInput, Executable) => Some(r#"{"input": {"command": "ls"}}"#),
        (Power::RewriteInput, Manifest) => Some(r#"{"modified_input": {"command": "ls"}}"#),
        (Power::RewriteOutput, Executable) => Some(r#"{"output": {"metadata": {"output": "…"}}}"#),
        (Power::RewriteOutput, Manifest) => {
            Some(r#"{"modified_output": {"metadata": {"output": "…"}}}"#)
        }
        (Power::AddContext, _) => Some(r#"{"additional_context": "…"}"#),
        (Power::Continue, _) => Some(r#"{"follow_up_messages": ["…"]}"#),
        (Power::Mutate, _) => {
            Some(r#"{"result": "mutate", "messages": [{"role": "user", "content": "…"}]}"#)
        }
        (Power::Callback, _) => {
            Some(r#"{"result": "callback", "callback": "compact", "callback_args": {}}"#)
        }
    }
}

/// Returns the `properties` of a reply at `event`, aliases included.
#[cfg(feature = "schema")]
pub(crate) fn schema(event: EventName, protocol: ProtocolName) -> Value {
    let mut properties = crate::Object::new();
    for field in reply_fields(protocol).iter().filter(|field| field.applies_at(event)) {
        let schema = field.schema(event);
        properties.insert(field.name().to_owned(), schema.clone());
        for alias in field.aliases() {
            let mut schema = schema.clone();
            schema["description"] = json!(format!("The same as `{}`.", field.name()));
            properties.insert((*alias).to_owned(), schema);
        }
    }
    json!({"additionalProperties": false, "properties": properties})
}

const fn field(
    spellings: &'static [&'static str],
    kind: FieldType,
    power: Option<Power>,
) -> ReplyField {
    ReplyField { spellings, kind, power, is_change: false, meaning: "" }
}

const fn change(
    spellings: &'static [&'static str],
    kind: FieldType,
    power: Option<Power>,
) -> ReplyField {
    ReplyField { spellings, kind, power, is_change: true, meaning: "" }
}

const REASON_MEANING: &str = "Why. The model or the user reads it.";

// Fields of both protocols.
pub(crate) static RESULT: ReplyField =
    field(&["result"], OneOf(&["continue", "mutate", "callback"]), Some(Power::Mutate)).means(
        "`mutate` replaces the history with `messages`; `callback` runs a recipe on it; `continue`, which is optional, goes with `follow_up_messages`.",
    );
pub(crate) static MESSAGES: ReplyField =
    change(&["messages"], NewMessages, Some(Power::Mutate)).means(
        "With `mutate`: the new history. Each message has a `role` and `content` or `blocks`; the last one is a user message.",
    );
pub(crate) static CALLBACK: ReplyField = field(&["callback"], Text, Some(Power::Callback))
    .means("With `callback`: the name of the recipe.");
pub(crate) static CALLBACK_ARGS: ReplyField =
    field(&["callback_args", "callbackArgs"], StringMap, Some(Power::Callback))
        .means("With `callback`: the arguments of the recipe, all strings.");
pub(crate) static FOLLOW_UPS: ReplyField =
    field(&["follow_up_messages", "followUpMessages"], Strings, Some(Power::Continue))
        .means("Messages with which the agent continues instead of stopping.");
pub(crate) static CONTEXT: ReplyField =
    field(&["additional_context", "additionalContext", "context"], Text, Some(Power::AddContext))
        .means("Text that the model also reads.");

pub(crate) static CONFINE: ReplyField = change(&["confine"], Confinement, Some(Power::Ask)).means(
    "Runs the call with fewer rights, which the operating system keeps: `write` (the only places that may be written), `read_not` (what may not be read), `network`, or a `profile`. `{}` is the profile `standard`. All confinements of all hooks apply.",
);

// Fields of executables.
pub(crate) static BLOCKED: ReplyField = field(&["blocked"], Boolean, Some(Power::Block))
    .means("`true` blocks. `false` allows; another hook may still block.");
pub(crate) static BLOCK_REASON: ReplyField =
    field(&["reason"], Text, Some(Power::Block)).means(REASON_MEANING);
pub(crate) static TOOL_INPUT: ReplyField =
    change(&["input"], AnyObject, Some(Power::RewriteInput)).means(INPUT_MEANING);
pub(crate) static TOOL_OUTPUT: ReplyField =
    change(&["output"], AnyObject, Some(Power::RewriteOutput)).means(OUTPUT_MEANING);
pub(crate) static USER_MESSAGE: ReplyField =
    change(&["message"], Text, Some(Power::RewriteMessage)).means(MESSAGE_MEANING);

const INPUT_MEANING: &str =
    "The tool runs with this input: the complete input, not only the changed fields.";
const OUTPUT_MEANING: &str = "The new result. With `toolName` and `success` it is a complete result; otherwise it replaces the fields that it has. `metadata` is always replaced as a whole.";
const MESSAGE_MEANING: &str = "Replaces the user's message.";

// Fields of manifest hooks.
pub(crate) static DECISION: ReplyField =
    field(&["decision"], OneOf(&["allow", "deny", "ask", "confine", "approve", "block"]), None).means(
        "`deny` blocks or, where nothing can be blocked, gives the model the reason. `ask` lets the user decide. `confine` runs the call with fewer rights. `allow` permits; another hook may still deny. `block` and `approve` are accepted for `deny` and `allow`.",
    );
pub(crate) static REASON: ReplyField =
    field(&["reason", "message"], Text, None).means(REASON_MEANING);
pub(crate) static LOG: ReplyField = field(&["log"], Text, None).means("Text for the journal.");
pub(crate) static MODIFIED_INPUT: ReplyField = change(
    &["modified_input", "modifiedInput", "updated_input", "updatedInput"],
    AnyObject,
    Some(Power::RewriteInput),
)
.means(INPUT_MEANING);
pub(crate) static MODIFIED_OUTPUT: ReplyField = change(
    &["modified_output", "modifiedOutput", "updated_output", "updatedOutput"],
    AnyObject,
    Some(Power::RewriteOutput),
)
.means(OUTPUT_MEANING);
pub(crate) static MODIFIED_PROMPT: ReplyField = change(
    &["modified_prompt", "modifiedPrompt", "updated_prompt", "updatedPrompt"],
    Text,
    Some(Power::RewriteMessage),
)
.means(MESSAGE_MEANING);

// Fields of replies in Claude Code's form (see `manifest::reply::claude_code`).
pub(crate) static HOOK_SPECIFIC: ReplyField = change(&["hookSpecificOutput"], AnyObject, None);
pub(crate) static CONTINUE: ReplyField = field(&["continue"], Boolean, None);
pub(crate) static STOP_REASON: ReplyField = field(&["stopReason"], Text, None);
pub(crate) static SYSTEM_MESSAGE: ReplyField = field(&["systemMessage"], Text, None);
pub(crate) static SUPPRESS_OUTPUT: ReplyField = field(&["suppressOutput"], Boolean, None);
pub(crate) static HOOK_EVENT_NAME: ReplyField = field(&["hookEventName"], Text, None);
pub(crate) static PERMISSION_DECISION: ReplyField =
    field(&["permissionDecision"], Text, Some(Power::Ask));
pub(crate) static PERMISSION_REASON: ReplyField =
    field(&["permissionDecisionReason"], Text, Some(Power::Ask));
pub(crate) static UPDATED_INPUT: ReplyField =
    change(&["updatedInput"], AnyObject, Some(Power::RewriteInput));
pub(crate) static UPDATED_OUTPUT: ReplyField =
    change(&["updatedToolOutput", "updatedMCPToolOutput"], Any, Some(Power::RewriteOutput));

/// The fields of an executable's reply.
pub(crate) static EXECUTABLE: [&ReplyField; 12] = [
    &BLOCKED,
    &BLOCK_REASON,
    &CONFINE,
    &TOOL_INPUT,
    &TOOL_OUTPUT,
    &USER_MESSAGE,
    &CONTEXT,
    &RESULT,
    &MESSAGES,
    &CALLBACK,
    &CALLBACK_ARGS,
    &FOLLOW_UPS,
];

/// The fields of a manifest hook's reply.
pub(crate) static MANIFEST: [&ReplyField; 13] = [
    &DECISION,
    &REASON,
    &CONFINE,
    &LOG,
    &CONTEXT,
    &MODIFIED_INPUT,
    &MODIFIED_OUTPUT,
    &MODIFIED_PROMPT,
    &RESULT,
    &MESSAGES,
    &CALLBACK,
    &CALLBACK_ARGS,
    &FOLLOW_UPS,
];

/// The fields of a reply in Claude Code's form, which includes the fields of [`MANIFEST`].
pub(crate) static CLAUDE_CODE: [&ReplyField; 18] = [
    &HOOK_SPECIFIC,
    &CONTINUE,
    &STOP_REASON,
    &SYSTEM_MESSAGE,
    &SUPPRESS_OUTPUT,
    &DECISION,
    &REASON,
    &CONFINE,
    &LOG,
    &CONTEXT,
    &MODIFIED_INPUT,
    &MODIFIED_OUTPUT,
    &MODIFIED_PROMPT,
    &RESULT,
    &MESSAGES,
    &CALLBACK,
    &CALLBACK_ARGS,
    &FOLLOW_UPS,
];

/// The fields of `hookSpecificOutput`.
pub(crate) static HOOK_SPECIFIC_FIELDS: [&ReplyField; 8] = [
    &HOOK_EVENT_NAME,
    &PERMISSION_DECISION,
    &PERMISSION_REASON,
    &UPDATED_INPUT,
    &UPDATED_OUTPUT,
    &CONTEXT,
    &DECISION,
    &REASON,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::TABLE;
    use crate::{Reply, executable, manifest};

    #[test]
    fn every_example_is_understood_completely_and_has_an_effect() {
        for row in &TABLE {
            for (power, _) in row.may {
                for protocol in [ProtocolName::Executable, ProtocolName::Manifest] {
                    let parse = match protocol {
                        ProtocolName::Executable => executable::parse_reply,
                        ProtocolName::Manifest => manifest::parse_reply,
                    };
                    let Some(example) = example(*power, protocol) else { continue };
                    let reply = parse(row.event, example.as_bytes()).unwrap();
                    assert_ne!(reply.reply, Reply::default(), "{} {power:?}", row.name);
                    assert_eq!((reply.warnings, reply.defects), (vec![], vec![]), "{example}");
                }
            }
        }
    }

    #[test]
    fn every_field_of_a_protocol_is_described() {
        for field in EXECUTABLE.iter().chain(&MANIFEST) {
            assert!(field.meaning.ends_with('.'), "{}", field.name());
        }
    }
}
