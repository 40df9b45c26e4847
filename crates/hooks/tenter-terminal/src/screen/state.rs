//! The state of the screen: what the region shows, and who has the terminal.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use super::activity::{Activities, DELAY, FRAME};
use super::held::Held;
use super::paint::{self, Region};
use super::rows;
use super::writer::{Stream, for_terminal, size, write_raw};

/// Renders incomplete text for a number of columns.
type PendingOutput = Box<dyn Fn(usize) -> String + Send>;

/// Renders the user's input line for a number of columns.
pub type InputView = Box<dyn Fn(usize) -> InputRows + Send>;

/// The rows of the user's input line. The cursor is in the last one.
#[derive(Debug, Default)]
pub struct InputRows {
    /// The rows.
    pub rows: Vec<String>,
    /// Number of columns between the cursor and the end of the last row.
    pub cursor_left: usize,
}

/// Number of rows that stay visible above the incomplete text.
const ROWS_ABOVE: usize = 4;

/// The user's input line on the screen.
#[derive(Default)]
struct ScreenInput {
    view: Option<InputView>,
    /// True if it is shown although a question has the terminal.
    is_below_question: bool,
}

impl ScreenInput {
    fn rows(&self, columns: usize) -> InputRows {
        self.view.as_ref().map(|view| view(columns)).unwrap_or_default()
    }
}

#[derive(Default)]
pub(super) struct ScreenState {
    /// True if the terminal can have a region.
    pub(super) is_enabled: bool,
    /// True if a thread redraws the region.
    is_redrawn: bool,
    /// Number of works in progress.
    works: usize,
    /// The thread that has the terminal for itself, and how often it asked for it.
    suspended: Option<(ThreadId, usize)>,
    backlog: Held,
    /// The running work.
    pub(super) activities: Activities,
    /// The incomplete last line that was printed, and its stream.
    line: Option<(Stream, String)>,
    pending: Option<PendingOutput>,
    /// The rows of `pending`, and the number of columns that they are for.
    pending_rows: Option<(usize, Vec<String>)>,
    input: ScreenInput,
    /// The region on the terminal.
    region: Region,
    /// True if others have used the terminal since the region was drawn.
    pub(super) is_continued: Arc<AtomicBool>,
    /// True if something changed since the last redraw.
    pub(super) is_changed: bool,
}

impl ScreenState {
    pub(super) fn is_live(&self) -> bool {
        self.is_enabled && self.works > 0
    }

    pub(super) fn begin_work(&mut self, now: Instant) {
        self.works += 1;
        self.is_changed = true;
        self.activities.busy_since.get_or_insert(now);
    }

    pub(super) fn end_work(&mut self) {
        self.works = self.works.saturating_sub(1);
        if self.works == 0 {
            self.erase();
            self.activities.clear();
            self.pending = None;
            self.pending_rows = None;
        }
    }

    pub(super) fn set_pending(&mut self, pending: PendingOutput) {
        self.pending = Some(pending).filter(|_| self.is_live());
        self.pending_rows = None;
        self.is_changed = true;
    }

    pub(super) fn set_input(&mut self, view: Option<InputView>) {
        self.input.view = view;
        self.is_changed = true;
        if self.input.is_below_question {
            self.draw_input();
        }
    }

    pub(super) fn show_input_below_question(&mut self, is_shown: bool) {
        if is_shown == self.input.is_below_question || !self.is_live() {
            return;
        }
        self.input.is_below_question = is_shown;
        if is_shown {
            write_raw("\n");
            self.draw_input();
        } else {
            self.erase();
        }
    }

    /// Draws a region that is only the input line.
    fn draw_input(&mut self) {
        let columns = size().0;
        let input = self.input.rows(columns);
        let rows = input.rows.iter().map(|row| for_terminal(row).into_owned()).collect();
        self.replace("", Region { rows, columns, cursor_left: input.cursor_left });
    }

    pub(super) fn is_suspended_by_other(&self) -> bool {
        self.suspended.is_some_and(|(thread, _)| thread != thread::current().id())
    }

    pub(super) fn suspend(&mut self) {
        let depth = self.suspended.map_or(0, |(_, depth)| depth);
        if depth == 0 {
            self.erase();
        }
        self.suspended = Some((thread::current().id(), depth + 1));
    }

    pub(super) fn resume(&mut self, now: Instant) {
        let Some((thread, depth)) = self.suspended else { return };
        self.suspended = Some((thread, depth - 1)).filter(|(_, depth)| *depth > 0);
        if self.suspended.is_none() {
            for (stream, text) in self.backlog.take() {
                let _ = self.print(stream, &text);
            }
            // What runs now is shown after the usual delay.
            self.activities.busy_since = self.activities.busy_since.map(|_| now);
            self.is_changed = true;
        }
    }

    pub(super) fn print(&mut self, stream: Stream, text: &str) -> io::Result<()> {
        if self.is_suspended_by_other() {
            self.backlog.push(stream, text);
            return Ok(());
        }
        if !self.is_live() || self.suspended.is_some() {
            return stream.write(text);
        }
        let (before, mut line) = self.line.take().unwrap_or((stream, String::new()));
        line.push_str(text);
        match line.rfind('\n') {
            None => {
                self.line = Some((before, line));
                self.is_changed = true;
            }
            Some(end) => {
                let rest = line.split_off(end + 1);
                self.line = Some((stream, rest)).filter(|(_, rest)| !rest.is_empty());
                self.draw_below(&line, Instant::now());
            }
        }
        Ok(())
    }

    /// Draws the region.
    pub(super) fn draw(&mut self, now: Instant) {
        self.is_changed = false;
        if self.is_live() && self.suspended.is_none() {
            self.draw_below("", now);
        }
    }

    /// Returns the time until the region must be redrawn if nothing changes; `None` for never.
    pub(super) fn next_redraw(&self, now: Instant) -> Option<Duration> {
        let since = self.activities.busy_since.filter(|_| self.is_live())?;
        let until_shown = DELAY.saturating_sub(now.saturating_duration_since(since));
        let pause = if until_shown.is_zero() { FRAME } else { until_shown };
        self.suspended.is_none().then_some(pause)
    }

    /// Checks whether there is something to redraw, and no thread that does.
    pub(super) fn starts_redrawing(&mut self) -> bool {
        self.is_live() && !std::mem::replace(&mut self.is_redrawn, true)
    }

    /// Removes the region for good.
    pub(super) fn leave(&mut self) {
        self.erase();
        self.is_enabled = false;
    }

    /// Prints lines and draws the region below them.
    fn draw_below(&mut self, lines: &str, now: Instant) {
        let (columns, height) = size();
        let input = self.input.rows(columns);
        let mut rows = self.rows(columns, height.saturating_sub(input.rows.len()), now);
        rows.extend(input.rows);
        let rows = rows.iter().map(|row| for_terminal(row).into_owned()).collect();
        self.replace(lines, Region { rows, columns, cursor_left: input.cursor_left });
        self.is_changed = false;
    }

    fn replace(&mut self, lines: &str, region: Region) {
        if self.is_continued.swap(false, Ordering::Relaxed) {
            self.region = Region::default(); // what is left of it belongs to the lines above
        }
        write_raw(&paint::replace(&self.region, &for_terminal(lines), &region));
        self.region = region;
    }

    /// Returns the rows of the region.
    fn rows(&mut self, columns: usize, height: usize, now: Instant) -> Vec<String> {
        let below = self.activities.rows(now, columns, height.saturating_sub(2).max(1));
        let room = height.saturating_sub(ROWS_ABOVE.max(below.len() + 1)).max(1);
        let mut rows = match &self.line {
            Some((_, line)) => rows::wrap(line, columns),
            None => self.pending_rows(columns).to_vec(),
        };
        rows.drain(..rows.len().saturating_sub(room));
        rows.extend(below);
        rows
    }

    fn pending_rows(&mut self, columns: usize) -> &[String] {
        let Some(pending) = &self.pending else { return &[] };
        let is_current = self.pending_rows.as_ref().is_some_and(|(of, _)| *of == columns);
        if !is_current {
            self.pending_rows = Some((columns, rows::wrap(&pending(columns), columns)));
        }
        self.pending_rows.as_ref().map_or(&[], |(_, rows)| rows)
    }

    /// Removes the region. An incomplete line stays.
    fn erase(&mut self) {
        if !self.is_enabled {
            return;
        }
        let region = Region { columns: size().0, ..Region::default() };
        self.replace("", region);
        if let Some((stream, line)) = self.line.take() {
            let _ = stream.write(&line);
        }
    }
}
