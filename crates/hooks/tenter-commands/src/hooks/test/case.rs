//! One test of a hook: an event and the expected result. A test is a file `tests/*.json` in the hook's directory:
//!
//! ```json
//! {
//!   "description": "Deleting everything is blocked.",
//!   "event": {"tool_name": "Shell", "tool_input": {"command": "rm -rf /"}},
//!   "expect": {"decision": "deny", "exit": 2, "reason": "delete everything"}
//! }
//! ```
//!
//! `event` is the payload as the hook reads it. Missing top-level fields are taken from a sample of the event. Only the keys in
//! `expect` are compared:
//!
//! | key | expected value |
//! | --- | --- |
//! | `decision` | `deny`, `ask`, `allow`, `rewrite`, `context`, `continue`, `mutate`, `callback`, `none`, `failed`; or `unmatched` if the matcher does not match and the hook does not run |
//! | `exit` | the exit code; for a runtime hook, `exit`, `stdout` and `stderr` belong to its one-shot form |
//! | `reason`, `context`, `stdout`, `stderr` | a part of that text; an empty string means that there is no text |
//! | `modified_input`, `modified_output`, `modified_prompt` | the exact replacement |

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use tenter_engine::inspect::{Hook, TestRun};
use tenter_engine::{RunEnd, Transport};
use tenter_protocol::{Object, Rewrite};
use tenter_terminal::Failure;

/// Keys of `expect` whose value is a part of a text.
const PARTS: [&str; 4] = ["reason", "context", "stdout", "stderr"];
/// All keys of `expect`.
const KEYS: [&str; 9] = *tenter_base::words!(
    "decision exit reason context stdout stderr modified_input modified_output modified_prompt"
);

/// Keys whose value applies to a process that runs for one event.
const OF_PROCESS: [&str; 3] = ["exit", "stdout", "stderr"];
/// The key of the results of a runtime hook whose process was called.
const CALLED: &str = "called";

/// The content of a test file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TestCase {
    /// The behaviour that is tested.
    #[serde(default)]
    pub(super) description: Option<String>,
    /// The given fields of the payload.
    #[serde(default)]
    pub(super) event: Object,
    /// The expected results.
    pub(super) expect: Object,
}

/// Returns the test files of a hook, sorted by name; none if there is no `tests` directory.
pub(super) fn files(hook: &Hook) -> Result<Vec<PathBuf>, Failure> {
    let Some(directory) = hook.path().filter(|_| !hook.is_executable()) else {
        return Ok(Vec::new());
    };
    let directory = directory.join("tests");
    let failure = |error| Failure::new(format!("cannot read {}: {error}", directory.display()));
    let entries = match fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failure(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failure)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

impl TestCase {
    /// Reads a test file.
    ///
    /// # Errors
    /// The reason why the file is not a valid test.
    pub(super) fn read(file: &Path) -> Result<Self, String> {
        let bytes = fs::read(file).map_err(|error| format!("cannot read it: {error}"))?;
        let case: Self =
            serde_json::from_slice(&bytes).map_err(|error| format!("not a valid test: {error}"))?;
        if case.expect.is_empty() {
            return Err("\"expect\" is empty; add at least a \"decision\"".to_owned());
        }
        match case.expect.keys().find(|key| !KEYS.contains(&key.as_str())) {
            Some(key) => {
                Err(format!("unknown key {key:?} in \"expect\"; the keys are {}", KEYS.join(", ")))
            }
            None => Ok(case),
        }
    }

    /// Checks whether the results of a run are the expected ones.
    pub(super) fn is_met(&self, actual: &Object) -> bool {
        self.select_actual(actual) == self.select_expected(actual)
    }

    /// Returns the expectations of a run. The process of a runtime hook has no exit code and no stdout of its own.
    pub(super) fn select_expected(&self, actual: &Object) -> Object {
        let is_called = actual.contains_key(CALLED);
        let applies = |key: &str| !is_called || !OF_PROCESS.contains(&key);
        let expected = self.expect.iter().filter(|(key, _)| applies(key));
        expected.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Returns the actual results under the keys of `expect`. If an expected part of a text was found, the result is that part.
    pub(super) fn select_actual(&self, actual: &Object) -> Object {
        let of = |(key, expected): (&String, &Value)| {
            let got = actual.get(key).cloned().unwrap_or_default();
            let met = PARTS.contains(&key.as_str()) && has_part(&got, expected);
            (key.clone(), if met { expected.clone() } else { got })
        };
        self.select_expected(actual).iter().map(of).collect()
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

/// Returns the results of a run under the keys of `expect`.
pub(super) fn actual(test: &TestRun) -> Object {
    let mut actual = Object::new();
    let mut set = |key: &str, value: Value| actual.insert(key.to_owned(), value);
    if test.run.transport == Some(Transport::Runtime) {
        set(CALLED, json!(true));
    } else {
        set("exit", exit(&test.run.end));
        set("stdout", json!(test.stdout.text()));
        set("stderr", json!(test.stderr.text()));
    }
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

/// Returns an exit code as a number, and any other end in words.
fn exit(end: &RunEnd) -> Value {
    match end {
        RunEnd::Exited(code) => json!(code),
        other => json!(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select_actual(expect: &Value, actual: &Value) -> Value {
        let object = |value: &Value| value.as_object().unwrap().clone();
        let case = TestCase { description: None, event: Object::new(), expect: object(expect) };
        Value::Object(case.select_actual(&object(actual)))
    }

    #[test]
    fn only_expected_keys_are_compared() {
        let actual = json!({"decision": "deny", "exit": 2, "reason": "no, never", "stdout": ""});
        for met in [
            json!({"decision": "deny"}),
            json!({"exit": 2, "reason": "never"}),
            json!({"stdout": "", "context": ""}),
        ] {
            assert_eq!(select_actual(&met, &actual), met);
        }
    }

    #[test]
    fn different_results_are_returned_as_they_are() {
        let actual = json!({"decision": "none", "exit": "timed out", "stdout": "x"});
        assert_eq!(
            select_actual(
                &json!({"decision": "deny", "exit": 2, "stdout": "", "reason": "r"}),
                &actual
            ),
            json!({"decision": "none", "exit": "timed out", "stdout": "x", "reason": null})
        );
    }
}
