//! Commands that the name of a tool means, with fields as its arguments.

use serde_json::Value;

use super::vocabulary::{COUNTS, DELETIONS, GENERIC, KINDS, PREPOSITIONS, SCALES, STOPS};
use super::{plain, words};
use crate::Object;

/// Maximum number of fields that become options.
const MOST_FIELDS: usize = 32;

/// Maximum length of the value of such a field, in bytes.
const LONGEST_VALUE: usize = 4096;

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

/// Returns the commands that a tool named after a program may run. The other words of its name may be the operation, or say nothing:
/// `git_push` with `--force` is `git --force` and `git push --force`.
pub(super) fn commands(program: &str, words: &[String], args: &[String]) -> Vec<String> {
    if args.is_empty() {
        return Vec::new();
    }
    let is_operation = |word: &&str| *word != program && !CALLS.contains(word);
    let operation = words.iter().map(String::as_str).filter(is_operation);
    let args = || args.iter().map(String::as_str);
    let join = |words: Vec<&str>| words.join(" ");
    let mut commands = vec![
        join([program].into_iter().chain(args()).collect()),
        join([program].into_iter().chain(operation).chain(args()).collect()),
    ];
    commands.dedup();
    commands
}

/// Returns the command that a tool's words mean, with its fields as options: `delete repository`, `stop instances`. If the name does not say
/// what is deleted, a field such as `kind` does. With no other word, it deletes what the server is for: `delete terraform`.
pub(super) fn meaning(words: &[String], program: Option<&str>, input: &Object) -> Option<String> {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let (command, verbs) = match () {
        () if has(&DELETIONS) => ("delete", DELETIONS.as_slice()),
        () if has(&STOPS) => ("stop", STOPS.as_slice()),
        () if has(&SCALES) && leaves_nothing(input) => ("stop", SCALES.as_slice()),
        () => return None,
    };
    let is_verb = |word: &&String| verbs.contains(&word.as_str());
    let is_in = |list: &[&str], word: &str| list.contains(&word);
    let others = words.iter().filter(|word| !is_verb(word)).map(String::as_str);
    let mut objects: Vec<String> =
        others.take_while(|word| !is_in(&PREPOSITIONS, word)).map(str::to_owned).collect();
    let is_generic = objects.iter().all(|word| is_in(&GENERIC, word));
    if is_generic {
        let kinds = input.iter().filter(|(field, _)| is_in(&KINDS, &plain(field)));
        let kinds: Vec<String> = kinds
            .filter_map(|(_, value)| value.as_str().filter(|text| !text.contains(' ')))
            .flat_map(self::words)
            .collect();
        let is_all = kinds.is_empty() && objects.iter().any(|word| word == "all");
        objects.extend(kinds);
        objects.extend(is_all.then(|| "everything".to_owned()));
    }
    if words.iter().any(|word| word == "revoke") {
        objects.push("access".to_owned());
    }
    let server = program.filter(|_| words.iter().all(|word| is_verb(&word)));
    let objects = objects.into_iter().chain(server.map(str::to_owned));
    let objects = objects.map(|word| format!(" {word}"));
    let fields = input.iter().filter_map(|(field, value)| {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => return None,
        };
        let field: String = field.chars().filter(|c| c.is_alphanumeric() || *c == '_').collect();
        (value.len() <= LONGEST_VALUE).then(|| format!(" --{field}={}", quote(&value)))
    });
    Some(format!("{command}{}", objects.chain(fields.take(MOST_FIELDS)).collect::<String>()))
}

/// Checks whether a field sets the number of something to zero.
fn leaves_nothing(input: &Object) -> bool {
    let is_zero = |value: &Value| value.as_u64() == Some(0) || value.as_str() == Some("0");
    input.iter().any(|(field, value)| COUNTS.contains(&plain(field).as_str()) && is_zero(value))
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
