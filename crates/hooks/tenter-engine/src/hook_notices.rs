//! Notices of hooks to the user, by the `notify` service (S7): one line, without control sequences, and not too often.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tenter_base::one_line;

use crate::hook_values::{ValueError, ValueFile};

/// Maximum number of characters of a line.
const MAX_CHARACTERS: usize = 500;
/// Maximum number of lines of one hook in [`PERIOD`].
const MAX_NOTICES: usize = 10;
const PERIOD: SignedDuration = SignedDuration::from_mins(1);
/// The key of the times of the last lines. Hooks cannot use it: their keys have no control characters.
const KEY: &str = "\0notices";

/// Returns `text` as it is shown to the user: one line without control sequences.
pub(crate) fn line(text: &str) -> String {
    one_line(text, MAX_CHARACTERS)
}

/// Returns whether a hook may notify the user now; then it counts. The times are kept in the hook's state of the project, because a session
/// can have many processes.
///
/// # Errors
/// The file cannot be used.
pub(crate) fn admits(project: &ValueFile, now: Timestamp) -> Result<bool, ValueError> {
    project.change(|entries| {
        let entry = entries.get(KEY).and_then(|entry| entry.value.as_array());
        let times = entry.into_iter().flatten().filter_map(Value::as_i64);
        let since = now.saturating_sub(PERIOD).unwrap_or(Timestamp::MIN).as_millisecond();
        // A time that is still to come was written before the clock was set back.
        let mut recent: Vec<i64> =
            times.filter(|time| *time > since && *time <= now.as_millisecond()).collect();
        let admits = recent.len() < MAX_NOTICES;
        if admits {
            recent.push(now.as_millisecond());
            entries.set(KEY, json!(recent));
        }
        Ok(admits)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::hook_state::HookOwner;
    use crate::hook_values::{HookValues, ValueScope};
    use crate::layer::Layer;

    #[test]
    fn a_line_has_no_control_sequences_and_at_most_500_characters() {
        assert_eq!(line("\x1b[31mred\x1b[0m\r\n  and\x07 more"), "red and\u{fffd} more");
        let long = line(&"é".repeat(2000));
        assert_eq!(long.chars().count(), MAX_CHARACTERS);
    }

    #[test]
    fn a_hook_notifies_at_most_ten_times_in_a_minute() {
        let scratch = tempfile::tempdir().unwrap();
        let owner = HookOwner { project: Path::new("/p"), layer: Layer::User, name: "noisy" };
        let values = HookValues::new(scratch.path().to_owned());
        let file = values.file(owner, ValueScope::Project, Timestamp::UNIX_EPOCH);
        let second = |count| Timestamp::from_second(count).unwrap();
        let admits = |count| admits(&file, second(count)).unwrap();
        for count in 0..10 {
            assert!(admits(1000 + count));
        }
        assert!(!admits(1059));
        assert!(admits(1060), "the first is a minute ago");
        assert!(!admits(1060));
        assert!(admits(1061));
        assert!(admits(10), "the clock was set back");
    }
}
