//! The end of a hook run, and the words for it in journals.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The end of a hook run.
///
/// Journals and listings hold it as text: `exit 0`, `signal 9`, `timed out` … Every text is a valid end, so that a journal of
/// another version can be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum RunEnd {
    /// The process exited with this code.
    Exited(i32),
    /// This signal killed the process.
    Signal(i32),
    /// The process was killed because it reached its timeout.
    TimedOut,
    /// The process was killed because the run was cancelled.
    Cancelled,
    /// No process was started; the run's reason says why.
    NotStarted,
    /// The process of a runtime hook answered, and keeps running.
    Answered,
    /// The hook needs no process: it is static or built in.
    NoProcess,
    /// The run was aborted before its end was known.
    Unknown,
    /// An end that another version recorded.
    Other(String),
}

impl fmt::Display for RunEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exited(code) => return write!(f, "exit {code}"),
            Self::Signal(signal) => return write!(f, "signal {signal}"),
            Self::TimedOut => "timed out",
            Self::Cancelled => "cancelled",
            Self::NotStarted => "not started",
            Self::Answered => "answered",
            Self::NoProcess => "no process",
            Self::Unknown => "unknown",
            Self::Other(text) => text,
        })
    }
}

impl From<RunEnd> for String {
    fn from(end: RunEnd) -> Self {
        end.to_string()
    }
}

impl From<String> for RunEnd {
    fn from(text: String) -> Self {
        let fixed = [
            Self::TimedOut,
            Self::Cancelled,
            Self::NotStarted,
            Self::Answered,
            Self::NoProcess,
            Self::Unknown,
        ];
        let number = |before: &str| text.strip_prefix(before)?.parse().ok();
        let exited = number("exit ").map(Self::Exited);
        let numbered = exited.or_else(|| number("signal ").map(Self::Signal));
        let mut ends = fixed.into_iter().chain(numbered);
        // `exit +1` is not how an exit code is written.
        ends.find(|end| end.to_string() == text).unwrap_or(Self::Other(text))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parses_the_run_ends_of_journals() {
        for (text, end) in [
            ("exit 0", RunEnd::Exited(0)),
            ("exit -1", RunEnd::Exited(-1)),
            ("signal 9", RunEnd::Signal(9)),
            ("timed out", RunEnd::TimedOut),
            ("cancelled", RunEnd::Cancelled),
            ("not started", RunEnd::NotStarted),
            ("answered", RunEnd::Answered),
            ("no process", RunEnd::NoProcess),
            ("unknown", RunEnd::Unknown),
            ("exit +1", RunEnd::Other("exit +1".to_owned())),
            ("exit", RunEnd::Other("exit".to_owned())),
        ] {
            assert_eq!(RunEnd::from(text.to_owned()), end);
            assert_eq!(serde_json::to_value(&end).unwrap(), text);
        }
    }

    proptest! {
        #[test]
        fn keeps_every_text_as_it_is(text in "(exit |signal |)(-?[0-9]{0,12}|[a-z ]*)") {
            prop_assert_eq!(RunEnd::from(text.clone()).to_string(), text);
        }
    }
}
