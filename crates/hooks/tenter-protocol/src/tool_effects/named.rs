//! Commands that the name of a tool means, with fields as its arguments.

use serde_json::Value;

use super::vocabulary::{DELETIONS, LONGEST_PATH};
use crate::Object;

/// Maximum number of fields that become options.
const MOST_FIELDS: usize = 32;

/// Words in the names of tools that run a program with any arguments.
const CALLS: [&str; 10] =
    ["call", "cli", "cmd", "command", "exec", "execute", "invoke", "run", "shell", "tool"];

/// Returns the words of a field `args`, quoted.
pub(super) fn arguments(input: &Object) -> Vec<String> {
    match input.get("args").or_else(|| input.get("arguments")) {
        Some(Value::String(text)) => vec![text.clone()],
        Some(list) => texts(list).map(quote).collect(),
        None => Vec::new(),
    }
}

/// Returns the fields that are true as options: `force: true` is `--force`.
pub(super) fn flags(input: &Object) -> Vec<String> {
    let fields = input.iter().filter(|(_, value)| **value == Value::Bool(true));
    let name = |field: &str| -> String {
        let name = field.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_');
        name.map(|c| if c == '_' { '-' } else { c }).collect()
    };
    fields.take(MOST_FIELDS).map(|(field, _)| format!("--{}", name(field))).collect()
}

/// Returns the command of a tool that is named after a program: `git_push` with `--force` is `git push --force`.
pub(super) fn command(program: &str, words: &[String], args: &[String]) -> Option<String> {
    let first = args.first()?;
    let is_operation = |word: &&String| {
        let word = word.as_str();
        word != program && !CALLS.contains(&word) && *first != quote(word)
    };
    let words = words.iter().filter(is_operation).chain(args).map(|word| format!(" {word}"));
    Some(format!("{program}{}", words.collect::<String>()))
}

/// Returns the deletion that a tool's words mean, with its fields as options. With no other word, it deletes what the server is for:
/// `delete terraform`.
pub(super) fn deletion(words: &[String], program: Option<&str>, input: &Object) -> Option<String> {
    let is_deletion = |word: &&String| DELETIONS.contains(&word.as_str());
    words.iter().find(is_deletion)?;
    let objects = words.iter().filter(|word| !is_deletion(word)).map(String::as_str);
    let server = program.filter(|_| words.iter().all(|word| is_deletion(&word)));
    let objects = objects.chain(server).map(|word| format!(" {word}"));
    let fields = input.iter().filter_map(|(field, value)| {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => return None,
        };
        let field: String = field.chars().filter(|c| c.is_alphanumeric() || *c == '_').collect();
        (value.len() <= LONGEST_PATH).then(|| format!(" --{field}={}", quote(&value)))
    });
    Some(format!("delete{}", objects.chain(fields.take(MOST_FIELDS)).collect::<String>()))
}

/// Returns a text, or the texts of a list.
pub(super) fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let list = value.as_array().into_iter().flatten();
    value.as_str().into_iter().chain(list.filter_map(Value::as_str))
}

/// Returns a text as one word for a shell.
pub(super) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
