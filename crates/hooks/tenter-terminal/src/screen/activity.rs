//! Running work, and its text in the status line.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::rows;
use super::tokens::Tokens;
use crate::style::{FAINT, NAME, styled};

/// The delay before running work is shown, so that short work does not flicker.
pub(super) const DELAY: Duration = Duration::from_millis(150);
/// The frames of the sign of life, and how long each is shown.
const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
pub(super) const FRAME: Duration = Duration::from_millis(100);
/// Minimum number of columns for what is running.
const LABEL: usize = 12;
/// Maximum number of output lines shown of a command.
const OUTPUT_LINES: usize = 5;
/// The label of long work if it is not known what runs.
const UNKNOWN: &str = "working";

/// Identifies something that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityKey(pub String);

/// Returns the last lines of the output of something that runs, sanitised.
pub(super) type LastLines = Arc<dyn Fn() -> Vec<String> + Send + Sync>;

/// Something that runs.
#[derive(Clone)]
pub struct Activity {
    /// Its description, sanitised and on one line.
    pub label: String,
    /// A shorter description beside other activities, if there is one.
    pub short: Option<String>,
    /// Its output so far; `None` if it has none.
    pub output: Option<LastLines>,
    /// True if it is only shown while nothing else runs: it contains others, or is not waited for.
    pub is_behind: bool,
}

impl Activity {
    /// Creates an activity without output.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), short: None, output: None, is_behind: false }
    }
}

impl Activity {
    /// Uses `short` while it is not alone.
    #[must_use]
    pub fn or_short(self, short: String) -> Self {
        Self { short: Some(short), ..self }
    }

    /// Returns its name beside other activities.
    fn name(&self) -> &str {
        self.short.as_ref().unwrap_or(&self.label)
    }
}

struct Running {
    key: ActivityKey,
    activity: Activity,
    since: Instant,
}

/// Everything that runs.
#[derive(Default)]
pub(super) struct Activities {
    running: Vec<Running>,
    pub(super) tokens: Tokens,
    /// When work began that still continues.
    pub(super) busy_since: Option<Instant>,
    /// The work that ended last, and when: it stays in the status until something else begins, or it is clear that nothing does.
    last: Option<(Running, Instant)>,
}

impl Activities {
    pub(super) fn begin(&mut self, key: ActivityKey, activity: Activity, now: Instant) {
        self.running.push(Running { key, activity, since: now });
    }

    pub(super) fn end(&mut self, key: &ActivityKey, now: Instant) {
        if let Some(index) = self.running.iter().position(|running| running.key == *key) {
            self.last = Some((self.running.remove(index), now));
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the rows of the status and of the output below it; none if nothing runs long enough.
    pub(super) fn rows(&self, now: Instant, columns: usize, count: usize) -> Vec<String> {
        let Some(busy) = self.busy_since.map(|since| now.saturating_duration_since(since)) else {
            return Vec::new();
        };
        if busy < DELAY || count == 0 {
            return Vec::new();
        }
        let running = self.shown(now);
        let since = running.iter().map(|running| running.since).min().or(self.busy_since);
        let time = since.map_or(busy, |since| now.saturating_duration_since(since));
        let status = Status {
            frame: FRAMES[(busy.as_millis() / FRAME.as_millis()) as usize % FRAMES.len()],
            label: label(&running),
            seconds: time.as_secs(),
            tokens: self.tokens.words(),
        };
        let output = output(&running, count - 1);
        let output =
            output.iter().map(|line| styled(FAINT, rows::cut(&format!("  {line}"), columns)));
        std::iter::once(status.row(columns)).chain(output).collect()
    }

    fn shown(&self, now: Instant) -> Vec<&Running> {
        let front: Vec<&Running> =
            self.running.iter().filter(|running| !running.activity.is_behind).collect();
        if !front.is_empty() {
            return front;
        }
        let is_recent = |end: Instant| now.saturating_duration_since(end) < DELAY;
        match &self.last {
            Some((last, ended)) if is_recent(*ended) => vec![last],
            _ => self.running.iter().collect(),
        }
    }
}

/// Describes the running work.
fn label(works: &[&Running]) -> String {
    match works {
        [] => UNKNOWN.to_owned(),
        [one] => one.activity.label.clone(),
        several => {
            let names: Vec<&str> = several.iter().map(|running| running.activity.name()).collect();
            format!("{} at once: {}", several.len(), names.join(", "))
        }
    }
}

/// Returns the last lines of output: of one command all that fit, of several the last line of each.
fn output<'r>(works: &[&'r Running], count: usize) -> Vec<String> {
    let count = count.min(OUTPUT_LINES);
    let last_lines = |running: &&'r Running| {
        let lines = running.activity.output.as_ref()?();
        Some((running.activity.name(), lines)).filter(|(_, lines)| !lines.is_empty())
    };
    let mut outputs: Vec<(&str, Vec<String>)> = works.iter().filter_map(last_lines).collect();
    let lines = match outputs.as_mut_slice() {
        [(_, lines)] => std::mem::take(lines),
        several => several
            .iter_mut()
            .map(|(name, lines)| format!("{name}: {}", lines.pop().unwrap_or_default()))
            .collect(),
    };
    lines[lines.len().saturating_sub(count)..].to_vec()
}

/// The parts of the status.
struct Status {
    frame: char,
    label: String,
    seconds: u64,
    tokens: Option<String>,
}

impl Status {
    /// Returns the status on one row. What does not fit is left out: first the end of the label, then the tokens, then how to
    /// stop.
    fn row(&self, columns: usize) -> String {
        let time = format!(" · {}", duration(self.seconds));
        let tokens = self.tokens.as_ref().map_or_else(String::new, |words| format!(" · {words}"));
        let rests =
            [format!("{time}{tokens} · Ctrl-C stops"), format!("{time} · Ctrl-C stops"), time];
        let width = rows::width(&self.label).min(LABEL);
        let fitting = rests.iter().find(|rest| rows::width(rest) + width + 2 <= columns);
        let rest = fitting.map_or("", String::as_str);
        let room = columns.saturating_sub(rows::width(rest) + 2);
        let label = rows::cut(&self.label, room);
        let (frame, rest) = (styled(NAME, self.frame), styled(FAINT, rest));
        rows::cut(&format!("{frame} {label}{rest}"), columns)
    }
}

/// Returns a time as `12 s` or `3 min 5 s`.
fn duration(seconds: u64) -> String {
    match seconds / 60 {
        0 => format!("{seconds} s"),
        minutes => format!("{minutes} min {} s", seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    fn activities(labels: &[&str]) -> (Activities, Instant) {
        let start = Instant::now();
        let mut activities = Activities { busy_since: Some(start), ..Activities::default() };
        for label in labels {
            activities.begin(ActivityKey((*label).to_owned()), Activity::new(*label), start);
        }
        (activities, start)
    }

    fn shown(activities: &Activities, now: Instant, columns: usize) -> Vec<String> {
        let rows = activities.rows(now, columns, 9);
        rows.iter().map(|row| strip_str(row).to_string()).collect()
    }

    #[test]
    fn short_work_is_not_shown() {
        let (activities, start) = activities(&["model x"]);
        assert!(shown(&activities, start + DELAY / 2, 80).is_empty());
        assert_eq!(shown(&activities, start + DELAY, 80), ["⠙ model x · 0 s · Ctrl-C stops"]);
    }

    #[test]
    fn the_status_shows_time_and_tokens() {
        let (mut activities, start) = activities(&["model x"]);
        activities.tokens.add_response("c", 12_345, 999);
        let now = start + Duration::from_secs(65);
        assert_eq!(
            shown(&activities, now, 80),
            ["⠋ model x · 1 min 5 s · 12.3k tokens in, 999 out · Ctrl-C stops"]
        );
    }

    #[test]
    fn a_narrow_terminal_shows_less() {
        let (mut activities, start) = activities(&["bash cargo test --workspace"]);
        activities.tokens.add_streamed("c", 20);
        let now = start + Duration::from_secs(7);
        for (columns, row) in [
            (60, "⠋ bash cargo test --wor… · 7 s · 5 tokens out · Ctrl-C stops"),
            (40, "⠋ bash cargo test … · 7 s · Ctrl-C stops"),
            (20, "⠋ bash cargo … · 7 s"),
            (8, "⠋ bash …"),
            (1, "…"),
        ] {
            let rows = shown(&activities, now, columns);
            assert!(rows::width(&rows[0]) <= columns, "{columns}: {rows:?}");
            assert_eq!(rows, [row], "{columns}");
        }
    }

    #[test]
    fn several_things_are_counted_and_those_behind_are_hidden() {
        let (mut activities, start) = activities(&["bash a", "grep b"]);
        let behind = Activity { is_behind: true, ..Activity::new("subagent") };
        activities.begin(ActivityKey("s".to_owned()), behind, start);
        let now = start + Duration::from_secs(2);
        assert_eq!(
            shown(&activities, now, 80),
            ["⠋ 2 at once: bash a, grep b · 2 s · Ctrl-C stops"]
        );
        activities.end(&ActivityKey("bash a".to_owned()), now);
        activities.end(&ActivityKey("grep b".to_owned()), now);
        assert_eq!(shown(&activities, now, 80), ["⠋ grep b · 2 s · Ctrl-C stops"]);
        let now = now + Duration::from_secs(1);
        assert_eq!(shown(&activities, now, 80), ["⠋ subagent · 3 s · Ctrl-C stops"]);
        activities.end(&ActivityKey("s".to_owned()), start);
        assert_eq!(shown(&activities, now, 80), ["⠋ working · 3 s · Ctrl-C stops"]);
    }

    #[test]
    fn output_is_shown_below_the_status() {
        let (mut activities, start) = activities(&[]);
        let with_output = |label: &str, text: &'static str| Activity {
            output: Some(Arc::new(move || text.lines().map(str::to_owned).collect())),
            ..Activity::new(label)
        };
        activities.begin(
            ActivityKey("a".to_owned()),
            with_output("bash a", "1\n2\n3\n4\n5\n6\n"),
            start,
        );
        let now = start + Duration::from_secs(1);
        assert_eq!(shown(&activities, now, 9)[1..], ["  2", "  3", "  4", "  5", "  6"]);
        assert_eq!(activities.rows(now, 9, 2).len(), 2);
        activities.begin(ActivityKey("b".to_owned()), with_output("bash b", "one\ntwo\n"), start);
        assert_eq!(shown(&activities, now, 40)[1..], ["  bash a: 6", "  bash b: two"]);
    }
}
