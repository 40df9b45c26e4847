//! Front matter as a JSON Schema, for editors. Ranges, words and spellings come from where they are checked; what a schema
//! cannot say (that the folder has the hook's name) it leaves out.

use serde_json::{Value, json};

use super::number::{PRIORITY, TIMEOUT};
use super::{LONGEST_DESCRIPTION, LONGEST_NAME};
use crate::lifecycle::TABLE;
use crate::manifest::declaration::ACTIONS;

/// The JSON Schema of front matter, to be checked in and shown to editors.
pub fn json_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "HOOK.md front matter",
        "description": "When a hook runs, and how.",
        "type": "object",
        "required": ["name", "description", "trigger"],
        "additionalProperties": false,
        "properties": {
            "name": {
                "description": "Lower-case letters and digits of any script, with single hyphens between them. The same as the folder's name.",
                "type": "string",
                "minLength": 1,
                "maxLength": LONGEST_NAME,
                "pattern": r"^[\p{Ll}\p{Lm}\p{Lo}\p{M}\p{N}]+(-[\p{Ll}\p{Lm}\p{Lo}\p{M}\p{N}]+)*$",
            },
            "description": {
                "description": "What the hook is for.",
                "type": "string",
                "minLength": 1,
                "maxLength": LONGEST_DESCRIPTION,
            },
            "trigger": {
                "description": "The event at which the hook runs.",
                "oneOf": triggers(),
            },
            "matcher": matcher(),
            "timeout": {
                "description": "How long the hook may take, in milliseconds.",
                "type": "integer",
                "minimum": TIMEOUT.least,
                "maximum": TIMEOUT.most,
                "default": TIMEOUT.default,
            },
            "async": {
                "description": "Whether the agent goes on without waiting for the hook. Such a hook cannot block.",
                "type": "boolean",
                "default": false,
            },
            "priority": {
                "description": "Hooks with a higher priority run earlier.",
                "type": "integer",
                "minimum": PRIORITY.least,
                "maximum": PRIORITY.most,
                "default": PRIORITY.default,
            },
            "metadata": metadata(),
        },
    })
}

/// One constant for each spelling, with what it means.
fn triggers() -> Vec<Value> {
    let spellings = TABLE.iter().flat_map(|row| row.manifest.iter().map(move |word| (row, word)));
    spellings
        .map(|(row, word)| json!({"const": word, "description": format!("Fires {}.", row.fires)}))
        .collect()
}

fn matcher() -> Value {
    json!({
        "description": "Which tool calls the hook is about; all of them without it. Both expressions have to match.",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "tool": {
                "description": "A regular expression that matches somewhere in the tool's name. `^Shell$` is only that tool.",
                "type": "string",
                "format": "regex",
            },
            "pattern": {
                "description": "A regular expression that matches somewhere in a value of the tool's input.",
                "type": "string",
                "format": "regex",
            },
        },
    })
}

fn metadata() -> Value {
    json!({
        "description": "Anything else. Tenter reads the keys below; others are free.",
        "type": "object",
        "properties": {
            "fail": {
                "description": "What a failure of the hook does: `closed` denies what it could have blocked.",
                "enum": ["open", "closed"],
            },
            "protected": {
                "description": "Whether no hook of a higher layer takes this one's place.",
                "type": "boolean",
            },
            "workdir": {
                "description": "Where the hook starts: in the project, or in its own folder.",
                "enum": ["project", "hook"],
            },
            "env": {
                "description": "Variables that the hook gets although they look like keys of a model.",
                "type": "array",
                "items": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
            },
            "payload": {
                "description": "Whether the hook gets the history (`full`) or does without (`light`).",
                "enum": ["full", "light"],
            },
            "triggers": {
                "description": "Further events at which the hook runs.",
                "type": "array",
                "items": {"oneOf": triggers()},
            },
            "action": {
                "description": "What a hook without a script does.",
                "enum": ACTIONS.map(|(word, _)| word),
            },
            "when": {
                "description": "The condition on which it does so, as after `if` in a template; always, without one.",
                "type": "string",
            },
            "reason": {
                "description": "With `deny`, `ask` and `allow`: a template of why.",
                "type": "string",
            },
            "text": {
                "description": "With `context`: a template of what the model reads besides.",
                "type": "string",
            },
            "messages": {
                "description": "With `mutate`: the new history, its contents templates, the last the user's.",
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "required": ["role", "content"],
                    "properties": {
                        "role": {"enum": ["user", "assistant"]},
                        "content": {"type": "string"},
                    },
                },
            },
            "recipe": {
                "description": "With `callback`: a template of the recipe's name.",
                "type": "string",
            },
            "args": {
                "description": "With `callback`: the recipe's arguments, templates all of them.",
                "type": "object",
                "additionalProperties": {"type": ["string", "number", "boolean"]},
            },
        },
        "allOf": needs(),
    })
}

/// What each action cannot do without.
fn needs() -> Vec<Value> {
    let needed = [
        ("deny", "reason"),
        ("ask", "reason"),
        ("context", "text"),
        ("mutate", "messages"),
        ("callback", "recipe"),
    ];
    let need = |(action, key): (&str, &str)| {
        let named = json!({"properties": {"action": {"const": action}}, "required": ["action"]});
        json!({"if": named, "then": {"required": [key]}})
    };
    needed.map(need).to_vec()
}
