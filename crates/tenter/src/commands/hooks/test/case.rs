//! One test of a hook: an event in, what is expected out. A test is a file `tests/*.json` in the hook's directory:
//!
//! ```json
//! {
//!   "description": "Deleting everything is blocked.",
//!   "event": {"tool_name": "Shell", "tool_input": {"command": "rm -rf /"}},
//!   "expect": {"decision": "deny", "exit": 2, "reason": "delete everything"}
//! }
//! ```
//!
//! `event` is the payload as the hook reads it. What it leaves out is taken from a sample of the event, field by field: a
//! field that it has replaces the sample's whole. `expect` names what matters, and nothing else is compared:
//!
//! | key | what is expected |
//! | --- | --- |
//! | `decision` | `deny`, `ask`, `allow`, `rewrite`, `context`, `continue`, `mutate`, `callback`, `none`, `failed`; or `unmatched`, where the matcher keeps the hook from running |
//! | `exit` | the exit code |
//! | `reason`, `context`, `stdout`, `stderr` | a part of that text; an empty text stands for none at all |
//! | `modified_input`, `modified_output`, `modified_prompt` | what the hook wants in its place, exactly |

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use tenter_engine::hook::{Hook, Protocol};
use tenter_engine::{RunEnd, TestRun};
use tenter_protocol::{Object, Rewrite};

use crate::failure::Failure;

/// Keys of `expect` that ask for a part of a text.
const PARTS: [&str; 4] = ["reason", "context", "stdout", "stderr"];
/// All keys of `expect`.
const KEYS: [&str; 9] = [
    "decision",
    "exit",
    "reason",
    "context",
    "stdout",
    "stderr",
    "modified_input",
    "modified_output",
    "modified_prompt",
];

/// A test as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TestCase {
    /// What it shows.
    #[serde(default)]
    pub(super) description: Option<String>,
    /// Fields of the payload.
    #[serde(default)]
    pub(super) event: Object,
    /// What is expected.
    pub(super) expect: Object,
}

/// The tests of a hook, by name; none where it has no such directory.
pub(super) fn files(hook: &Hook) -> Result<Vec<PathBuf>, Failure> {
    if matches!(hook.protocol, Protocol::Executable) {
        return Ok(Vec::new());
    }
    let directory = hook.path.join("tests");
    let failed = |error| Failure::new(format!("{} cannot be read: {error}", directory.display()));
    let entries = match fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

impl TestCase {
    /// Reads a test.
    ///
    /// # Errors
    /// Why it is none.
    pub(super) fn read(file: &Path) -> Result<Self, String> {
        let bytes = fs::read(file).map_err(|error| format!("it cannot be read: {error}"))?;
        let case: Self =
            serde_json::from_slice(&bytes).map_err(|error| format!("it is not a test: {error}"))?;
        if case.expect.is_empty() {
            return Err("it expects nothing; add at least a \"decision\"".to_owned());
        }
        match case.expect.keys().find(|key| !KEYS.contains(&key.as_str())) {
            Some(key) => Err(format!(
                "nothing is called {key:?} in \"expect\"; known are {}",
                KEYS.join(", ")
            )),
            None => Ok(case),
        }
    }

    /// What came out, as far as it was asked for, in the form of `expect`: where a part of a text was found, that part.
    pub(super) fn compared(&self, came: &Object) -> Object {
        let of = |(key, expected): (&String, &Value)| {
            let got = came.get(key).cloned().unwrap_or_default();
            let met = PARTS.contains(&key.as_str()) && has_part(&got, expected);
            (key.clone(), if met { expected.clone() } else { got })
        };
        self.expect.iter().map(of).collect()
    }
}

fn has_part(got: &Value, expected: &Value) -> bool {
    let text = got.as_str().unwrap_or_default();
    match expected.as_str() {
        Some("") => text.is_empty(),
        Some(part) => text.contains(part),
        None => false,
    }
}

/// What a run gave, under the keys of `expect`.
pub(super) fn actual(test: &TestRun) -> Object {
    let mut actual = Object::new();
    let mut set = |key: &str, value: Value| actual.insert(key.to_owned(), value);
    set("exit", exit(&test.run.end));
    set("stdout", json!(test.stdout.text()));
    set("stderr", json!(test.stderr.text()));
    set("decision", json!(test.run.decision.as_str()));
    set("reason", json!(test.run.reason));
    if let Some(reply) = &test.reply {
        set("context", json!(reply.context));
        match &reply.rewrite {
            Some(Rewrite::Input(input)) => set("modified_input", json!(input)),
            Some(Rewrite::Output(output)) => set("modified_output", json!(output)),
            Some(Rewrite::Message(message)) => set("modified_prompt", json!(message)),
            None => None,
        };
    }
    actual
}

/// An exit code as a number, another end in words.
fn exit(end: &RunEnd) -> Value {
    match end {
        RunEnd::Exited(code) => json!(code),
        other => json!(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(expect: &Value, came: &Value) -> Value {
        let object = |value: &Value| value.as_object().unwrap().clone();
        let case = TestCase { description: None, event: Object::new(), expect: object(expect) };
        Value::Object(case.compared(&object(came)))
    }

    #[test]
    fn only_what_is_asked_for_is_compared() {
        let came = json!({"decision": "deny", "exit": 2, "reason": "no, never", "stdout": ""});
        for met in [
            json!({"decision": "deny"}),
            json!({"exit": 2, "reason": "never"}),
            json!({"stdout": "", "context": ""}),
        ] {
            assert_eq!(compared(&met, &came), met);
        }
    }

    #[test]
    fn what_differs_shows_what_came() {
        let came = json!({"decision": "none", "exit": "timed out", "stdout": "x"});
        assert_eq!(
            compared(&json!({"decision": "deny", "exit": 2, "stdout": "", "reason": "r"}), &came),
            json!({"decision": "none", "exit": "timed out", "stdout": "x", "reason": null})
        );
    }
}
