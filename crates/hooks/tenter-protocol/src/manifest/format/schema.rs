//! The front matter of a `HOOK.md` as a JSON Schema, for editors. Limits, words and spellings are those of the reader. A schema
//! cannot express that the directory has the hook's name.

use serde_json::{Value, json};

use super::claude_code::DIALECTS;
use super::limits::{BUDGET, MAX_DESCRIPTION_LENGTH, PRIORITY, TIMEOUT};
use crate::claude_code::EVENTS;
use crate::lifecycle::TABLE;
use crate::manifest::http_endpoint::MAX_URL_LENGTH;
use crate::manifest::static_action::ACTIONS;
use crate::resource_name;

/// The JSON Schema of the front matter.
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
                "description": "Lower-case letters and digits of any script, separated by single hyphens. The same as the name of the directory.",
                "type": "string",
                "minLength": 1,
                "maxLength": resource_name::MAX_LENGTH,
                "pattern": r"^[\p{Ll}\p{Lm}\p{Lo}\p{M}\p{N}]+(-[\p{Ll}\p{Lm}\p{Lo}\p{M}\p{N}]+)*$",
            },
            "description": {
                "description": "What the hook is for.",
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_DESCRIPTION_LENGTH,
            },
            "trigger": {
                "description": "The event that runs the hook.",
                "oneOf": triggers(),
            },
            "matcher": matcher(),
            "timeout": {
                "description": "The time limit of a run, in milliseconds.",
                "type": "integer",
                "minimum": TIMEOUT.min,
                "maximum": TIMEOUT.max,
                "default": TIMEOUT.default,
            },
            "async": {
                "description": "Whether the agent does not wait for the hook. An asynchronous hook cannot block.",
                "type": "boolean",
                "default": false,
            },
            "priority": {
                "description": "Hooks with a higher priority run earlier.",
                "type": "integer",
                "minimum": PRIORITY.min,
                "maximum": PRIORITY.max,
                "default": PRIORITY.default,
            },
            "metadata": metadata(),
        },
    })
}

/// One constant for each spelling, with its meaning.
fn triggers() -> Vec<Value> {
    let spellings = TABLE.iter().flat_map(|row| row.manifest.iter().map(move |word| (row, word)));
    spellings
        .map(|(row, word)| json!({"const": word, "description": format!("Fires {}.", row.fires)}))
        .collect()
}

fn matcher() -> Value {
    json!({
        "description": "The tool calls that the hook applies to; all of them without it. Both expressions must match.",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "tool": {
                "description": "A regular expression that matches anywhere in the tool's name. `^Shell$` matches only that tool.",
                "type": "string",
                "format": "regex",
            },
            "pattern": {
                "description": "A regular expression that matches anywhere in a value of the tool's input.",
                "type": "string",
                "format": "regex",
            },
        },
    })
}

/// The schema of `metadata.budget_ms`.
fn budget() -> Value {
    json!({
        "description": "How long a run may take, in milliseconds, before it is reported as too slow.",
        "type": "integer",
        "minimum": BUDGET.min,
        "maximum": BUDGET.max,
    })
}

fn metadata() -> Value {
    let mut schema = json!({
        "description": "Anything else. Tenter reads the keys below; others are your own.",
        "type": "object",
        "properties": {
            "fail": {
                "description": "What a failure of the hook means: `closed` denies what it could have blocked.",
                "enum": ["open", "closed"],
            },
            "protected": {
                "description": "Whether no hook of a higher layer can shadow this one.",
                "type": "boolean",
            },
            "workdir": {
                "description": "Where the hook starts: in the project, or in its own directory.",
                "enum": ["project", "hook"],
            },
            "env": {
                "description": "Environment variables that the hook gets although they look like model keys.",
                "type": "array",
                "items": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
            },
            "budget_ms": budget(),
            "payload": {
                "description": "Whether the payload contains the history (`full`) or not (`light`). The default is `full`, and `light` with `url`.",
                "enum": ["full", "light"],
            },
            "triggers": {
                "description": "Further events that run the hook.",
                "type": "array",
                "items": {"oneOf": triggers()},
            },
            "match": super::rules::schema(),
            "runtime": super::runtime::schema(),
            "services": super::runtime::services_schema(),
            "url": url(),
            "headers": headers(),
            "dialect": {
                "description": "Whose hook the script is written as: it reads Claude Code's payloads and answers in its way. Without it, those of Agent Hooks.",
                "enum": DIALECTS,
            },
            "event": {
                "description": "With `dialect`: the event of Claude Code's, where the trigger fires for several.",
                "enum": EVENTS.iter().map(|event| event.name).collect::<Vec<_>>(),
            },
            "matcher": {
                "description": "With `dialect`: a matcher as in Claude Code's settings, for the name of the tool, the source of a session and so on.",
                "type": "string",
            },
            "plugin_root": {
                "description": "With `dialect`: the directory of the plugin, which the script finds in CLAUDE_PLUGIN_ROOT.",
                "type": "string",
            },
            "origin": {
                "description": "With `dialect`: the settings file that the hook was imported from.",
                "type": "string",
            },
            "imported": {
                "description": "With `dialect`: what the hook is known by in that file, and a digest, by which a later import sees whether it was edited.",
                "type": "string",
            },
        },
        "allOf": needs(),
    });
    if let (Some(properties), Value::Object(of_action)) =
        (schema["properties"].as_object_mut(), action())
    {
        properties.extend(of_action);
    }
    schema
}

/// The keys of static hooks.
fn action() -> Value {
    json!({
        "action": {
            "description": "The action of a static hook, which has no script.",
            "enum": ACTIONS.map(|(word, _)| word),
        },
        "when": {
            "description": "The condition of the action, as after `if` in a template. Without it, the hook always acts.",
            "type": "string",
        },
        "reason": {
            "description": "With `deny`, `ask` and `allow`: a template of the reason.",
            "type": "string",
        },
        "text": {
            "description": "With `context`: a template of the text that is added for the model.",
            "type": "string",
        },
        "messages": {
            "description": "With `mutate`: the new history. Contents are templates; the last message is the user's.",
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
            "description": "With `callback`: a template of the name of the recipe.",
            "type": "string",
        },
        "args": {
            "description": "With `callback`: the arguments of the recipe, as templates.",
            "type": "object",
            "additionalProperties": {"type": ["string", "number", "boolean"]},
        },
    })
}

fn url() -> Value {
    json!({
        "description": "The URL of a hook behind HTTP, which has no script: payloads are posted there. `http://` is only possible on this machine.",
        "type": "string",
        "maxLength": MAX_URL_LENGTH,
        "pattern": "^https?://",
    })
}

fn headers() -> Value {
    json!({
        "description": "With `url`: headers of the requests, each with the environment variable that holds its value.",
        "type": "object",
        "additionalProperties": {"type": "string", "pattern": "^env:[A-Za-z_][A-Za-z0-9_]*$"},
    })
}

/// The key that each action needs.
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
