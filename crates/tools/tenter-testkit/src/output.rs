//! The output of a command, as one block of text.

use std::path::Path;
use std::sync::LazyLock;
use std::{fmt, process};

use regex::Regex;
use serde_json::Value;

/// Patterns of text that differs between runs, and their placeholders.
static VARIABLE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "[ID]"),
        (r"\b[0-9a-f]{64}\b", "[HASH]"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z", "[TIME]"),
        (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b", "[TIME]"),
        // The default depends on the day of the run.
        (r"\bexpires \d{4}-\d\d-\d\d\b", "expires [DAY]"),
        (r#"("duration_ms": |"executionTime": )\d+"#, "${1}[N]"),
        (r"\b\d+(?:\.\d+)? ms\b", "[N] ms"),
        // The estimate depends on the length of the prompt, which contains the directory.
        (r"\babout \d+ tokens in,", "about [N] tokens in,"),
    ]
    .into_iter()
    .filter_map(|(pattern, placeholder)| Some((Regex::new(pattern).ok()?, placeholder)))
    .collect()
});

/// The output and exit code of a command. Its `Display` replaces everything that differs between runs.
#[must_use]
#[derive(Debug, Clone)]
pub struct Output {
    /// stdout, unchanged.
    pub stdout: String,
    /// stderr, unchanged.
    pub stderr: String,
    /// The exit code; `None` if a signal ended the command.
    pub code: Option<i32>,
    root: String,
}

impl Output {
    pub(crate) fn new(output: &process::Output, root: &Path) -> Self {
        Self {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
            root: root.to_string_lossy().into_owned(),
        }
    }

    pub(crate) fn from_terminal(code: Option<i32>, screen: String, root: &Path) -> Self {
        let root = root.to_string_lossy().into_owned();
        Self { stdout: screen, stderr: String::new(), code, root }
    }

    /// Returns the lines of stdout as JSON.
    ///
    /// # Panics
    /// A line is not JSON.
    pub fn json_lines(&self) -> Vec<Value> {
        let read = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}\n{self}"))
        };
        self.stdout.lines().map(read).collect()
    }

    /// Returns stdout as one JSON value.
    ///
    /// # Panics
    /// stdout is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self}"))
    }

    /// Checks the exit code and returns the output.
    ///
    /// # Panics
    /// The exit code differs.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Checks that the command succeeded and wrote `text` to stdout.
    #[track_caller]
    pub fn prints(self, text: &str) {
        let output = self.expect_code(0);
        assert!(output.stdout.contains(text), "{text:?} is missing in\n{output}");
    }

    /// Checks that the command succeeded and wrote `text` to stderr.
    #[track_caller]
    pub fn warns(self, text: &str) {
        self.fails(0, text);
    }

    /// Checks that the command ended with `code` and wrote `text` to stderr.
    #[track_caller]
    pub fn fails(self, code: i32, text: &str) {
        let output = self.expect_code(code);
        assert!(output.stderr.contains(text), "{text:?} is missing in\n{output}");
    }

    /// Replaces the sandbox's directory, ids, times and durations in `text` by placeholders.
    pub fn normal(&self, text: &str) -> String {
        let text = text.replace(&self.root, "[ROOT]");
        VARIABLE.iter().fold(text, |text, (pattern, placeholder)| {
            pattern.replace_all(&text, *placeholder).into_owned()
        })
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.code.map_or_else(|| "a signal".to_owned(), |code| code.to_string());
        writeln!(f, "exit: {end}")?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(f, "--- {name}")?;
                write!(f, "{}", self.normal(text))?;
                if !text.ends_with('\n') {
                    writeln!(f)?;
                }
            }
        }
        Ok(())
    }
}

/// Checks that a text contains each of these parts.
#[track_caller]
pub fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}

/// Checks that a JSON object has these fields. Objects in it may have more fields.
#[track_caller]
pub fn assert_fields(object: &Value, expected: &Value) {
    assert!(has_fields(object, expected), "{expected:#}\nis not in\n{object:#}");
}

fn has_fields(value: &Value, expected: &Value) -> bool {
    match expected {
        Value::Object(fields) => fields
            .iter()
            .all(|(name, field)| value.get(name).is_some_and(|it| has_fields(it, field))),
        _ => value == expected,
    }
}
