//! What a command printed, as one block.

use std::fmt;
use std::path::Path;
use std::process;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// What differs from run to run, and what stands for it in a block.
static VARIABLE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "[ID]"),
        (r"\b[0-9a-f]{64}\b", "[HASH]"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z", "[TIME]"),
        (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b", "[TIME]"),
        (r#"("duration_ms": |"executionTime": )\d+"#, "${1}[N]"),
        (r"\b\d+(?:\.\d+)? ms\b", "[N] ms"),
        // An estimate goes by the length of the prompt, which names the folder.
        (r"\babout \d+ tokens in,", "about [N] tokens in,"),
    ]
    .into_iter()
    .filter_map(|(pattern, stand_in)| Some((Regex::new(pattern).ok()?, stand_in)))
    .collect()
});

/// What a command printed and how it ended. Shown, it is one block with what varies replaced.
#[must_use]
#[derive(Debug, Clone)]
pub struct Output {
    /// stdout, as it was.
    pub stdout: String,
    /// stderr, as it was.
    pub stderr: String,
    /// The exit code; `None` when a signal ended it.
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

    pub(crate) fn of_terminal(code: Option<i32>, shown: String, root: &Path) -> Self {
        let root = root.to_string_lossy().into_owned();
        Self { stdout: shown, stderr: String::new(), code, root }
    }

    /// The lines of stdout as JSON.
    ///
    /// # Panics
    /// When a line is not JSON.
    pub fn json_lines(&self) -> Vec<Value> {
        let read = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}\n{self}"))
        };
        self.stdout.lines().map(read).collect()
    }

    /// stdout as one JSON value.
    ///
    /// # Panics
    /// When it is not.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self}"))
    }

    /// The same, after checking how the command ended.
    ///
    /// # Panics
    /// When it ended otherwise.
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// `text` as this output is shown: the sandbox's folder, ids, times and durations replaced by what stands for them.
    pub fn normal(&self, text: &str) -> String {
        let text = text.replace(&self.root, "[ROOT]");
        VARIABLE.iter().fold(text, |text, (pattern, stand_in)| {
            pattern.replace_all(&text, *stand_in).into_owned()
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
