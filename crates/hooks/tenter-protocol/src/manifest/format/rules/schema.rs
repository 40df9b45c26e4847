//! The JSON Schema of `metadata.match`.

use serde_json::{Value, json};
use tenter_base::AgentState;

use super::conditions::{CLASSES, LANGUAGES, LOCATIONS, OPS, PLACES, ROLES};
use crate::manifest::rule::{RuleVerdict, UncertainPolicy};

/// The schema of the list of rules.
pub(in crate::manifest::format) fn schema() -> Value {
    let conditions = conditions();
    let mut rule = object(&conditions);
    let own = json!({
        "name": {"description": "The name of the rule, for messages and the journal.", "type": "string"},
        "except": {
            "description": "What the call must not fit.",
            "type": "array",
            "items": object(&conditions),
        },
        "decision": {
            "description": "What happens to a call that fits. Without it, the hook runs.",
            "enum": names(&RuleVerdict::WORDS),
        },
        "reason": {
            "description": "With `decision`: why, and what to do instead.",
            "type": "string",
        },
        "uncertain": {
            "description": "What happens to a call of which it is not known whether it fits. By default, a hook that can ask does so.",
            "enum": names(&UncertainPolicy::WORDS),
        },
        "examples": object(&json!({
            "stopped": texts("Commands that the rule stops."),
            "passed": texts("Commands that no rule of the hook stops."),
        })),
    });
    if let (Value::Object(properties), Value::Object(own)) = (&mut rule["properties"], own) {
        properties.extend(own);
    }
    json!({
        "description": "Rules about the commands and paths of a tool call. The hook applies to calls that fit one of them.",
        "type": "array",
        "minItems": 1,
        "items": rule,
    })
}

fn conditions() -> Value {
    json!({
        "program": texts("The base name of the program: patterns."),
        "subcommand": texts("The subcommand, such as `push`: patterns."),
        "operands": object(&json!({
            "any": texts("One of these patterns fits an operand."),
            "all": texts("Each of these patterns fits an operand."),
            "none": texts("None of these patterns fits an operand."),
            "count": {"description": "The number of operands."},
            "after_dashes": {"description": "Only operands after `--` count.", "type": "boolean"},
        })),
        "flags": object(&json!({
            "any": texts("The command has one of these options."),
            "all": texts("The command has each of these options."),
            "none": texts("The command has none of these options."),
        })),
        "env": texts("One of these variables is set for the command: `NAME` or `NAME=pattern`."),
        "path": object(&json!({
            "op": words("What happens to the path.", &names(&OPS)),
            "glob": texts("The path fits one of these patterns."),
            "not": texts("The path fits none of these patterns."),
            "covers": texts("The path is one of these directories or contains it."),
            "place": words("Where the path is.", &names(&PLACES)),
            "outside": words("Where the path is not.", &names(&PLACES)),
            "recursive": {"description": "Whether everything below the path is included.", "type": "boolean"},
        })),
        "flow": object(&json!({
            "from": words("Where data comes from.", &names(&CLASSES)),
            "into": words("What the command does that receives it.", &names(&CLASSES)),
            "as": words("What the command does with the data.", &names(&ROLES)),
        })),
        "code": object(&json!({
            "language": words("The language of a program that is given inline.", &names(&LANGUAGES)),
            "dynamic": {"description": "Whether it runs a command that cannot be read.", "type": "boolean"},
            "text": texts("Its text contains one of these."),
        })),
        "via": texts("What runs the command, such as `sudo`: patterns."),
        "where": words("Where the command runs.", &names(&LOCATIONS)),
        "forkbomb": {"description": "Whether the text is a fork bomb.", "type": "boolean"},
        "unparsed": {"description": "Whether a part of the text could not be read.", "type": "boolean"},
        "agent": words("What is special about the agent's process.", &names(&AgentState::WORDS)),
        "over_limit": {"description": "Whether the text is too long or too deeply nested to be read to its end.", "type": "boolean"},
    })
}

fn names<T>(table: &[(&'static str, T)]) -> Vec<&'static str> {
    table.iter().map(|(word, _)| *word).collect()
}

fn object(properties: &Value) -> Value {
    json!({"type": "object", "additionalProperties": false, "properties": properties})
}

/// One text or several.
fn texts(description: &str) -> Value {
    let text = json!({"type": ["string", "number", "boolean"]});
    json!({"description": description, "anyOf": [text, {"type": "array", "minItems": 1, "items": text}]})
}

/// One word or several.
fn words(description: &str, words: &[&str]) -> Value {
    let word = json!({"enum": words});
    json!({"description": description, "anyOf": [word, {"type": "array", "minItems": 1, "items": word}]})
}
