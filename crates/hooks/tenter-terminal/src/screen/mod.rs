//! The terminal while an agent works. What is printed stays, above a *live region* at the bottom: the text that is not complete
//! yet, what is running, and the end of its output. The region is redrawn in place, and nothing of it stays.
//!
//! There is one terminal, so there is one screen. Without a terminal that can move its cursor there is no region, and everything
//! is written as it comes.

mod activity;
mod held;
mod paint;
mod rows;
mod state;
mod tokens;
mod writer;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use state::ScreenState;
use tenter_base::lock;

pub use activity::{Activity, ActivityKey};
pub use state::{InputRows, InputView};
pub use writer::Stream;
pub(crate) use writer::{lost, write_data};

/// Minimum time between redraws.
const REDRAW: Duration = Duration::from_millis(33);
/// Maximum wait for the screen before the process exits: another thread may be blocked by the terminal.
const LAST_WAIT: Duration = Duration::from_millis(200);

/// The screen.
#[derive(Default)]
pub struct Screen {
    state: Mutex<ScreenState>,
    /// Something changed that is to be drawn.
    changes: Condvar,
    /// The question that is open, if any, has ended.
    resumed: Condvar,
}

/// Work that the screen shows. The region is removed when the last is dropped.
pub struct Working(());

/// Something that runs until it is dropped.
pub struct Waiting {
    key: ActivityKey,
    _working: Working,
}

/// A question, or another program that has the terminal.
struct Suspended;

static SCREEN: LazyLock<Screen> = LazyLock::new(Screen::default);

/// Returns the screen of this process.
pub fn screen() -> &'static Screen {
    &SCREEN
}

impl Screen {
    /// Lets the screen have a live region: stdout and stderr are a terminal that can move its cursor.
    pub fn enable(&'static self) {
        lock(&self.state).is_enabled = true;
        let earlier = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            self.leave();
            earlier(panic);
        }));
    }

    /// Begins work: until the end of it there is a live region.
    pub fn work(&'static self) -> Working {
        let mut state = lock(&self.state);
        state.begin_work(Instant::now());
        let starts = state.starts_redrawing();
        drop(state);
        if starts && thread::Builder::new().spawn(|| self.redraw_as_needed()).is_err() {
            self.leave(); // everything else works without a region
        }
        self.changes.notify_all();
        Working(())
    }

    /// Begins work that is one thing that runs.
    pub fn wait_for(&'static self, label: String) -> Waiting {
        let working = self.work();
        let key = ActivityKey(format!("wait {label}"));
        self.begin(key.clone(), Activity::new(label));
        Waiting { key, _working: working }
    }

    /// Returns a switch that is set when this process continues after it was stopped: others have used the terminal meanwhile.
    pub fn continued(&self) -> Arc<AtomicBool> {
        Arc::clone(&lock(&self.state).is_continued)
    }

    /// Writes a text to stdout or stderr: above the region while an agent works, after the end of a question while one is open.
    pub fn print(&self, stream: Stream, text: &str) -> std::io::Result<()> {
        let result = lock(&self.state).print(stream, text);
        self.changes.notify_all();
        result
    }

    /// Prints complete blocks of the model's text, and shows what `pending` returns for a number of columns in the region.
    pub fn show_text(&self, complete: &str, pending: impl Fn(usize) -> String + Send + 'static) {
        let mut state = lock(&self.state);
        state.set_pending(Box::new(pending));
        if !complete.is_empty() {
            // The reader may have gone.
            let _ = state.print(Stream::Stdout, complete);
        }
        drop(state);
        self.changes.notify_all();
    }

    /// Shows the user's input line at the end of the region; `None` if there is none.
    pub fn set_input(&self, view: Option<InputView>) {
        lock(&self.state).set_input(view);
        self.changes.notify_all();
    }

    /// Shows or hides the input line below a question that has the terminal.
    pub fn show_input_below_question(&self, is_shown: bool) {
        lock(&self.state).show_input_below_question(is_shown);
    }

    /// Shows that something begins to run.
    pub fn begin(&self, key: ActivityKey, activity: Activity) {
        lock(&self.state).activities.begin(key, activity, Instant::now());
        self.changes.notify_all();
    }

    /// Removes what has ended; ignored if it does not run.
    pub fn end(&self, key: &ActivityKey) {
        lock(&self.state).activities.end(key, Instant::now());
        self.changes.notify_all();
    }

    /// Counts a piece of a response that was received.
    pub fn count_streamed(&self, conversation: &str, bytes: usize) {
        lock(&self.state).activities.tokens.add_streamed(conversation, bytes);
    }

    /// Discards the received part of a response.
    pub fn forget_streamed(&self, conversation: &str) {
        lock(&self.state).activities.tokens.forget_streamed(conversation);
    }

    /// Counts a response that was received, which cost these tokens.
    pub fn count_response(&self, conversation: &str, tokens_sent: u64, tokens_received: u64) {
        lock(&self.state).activities.tokens.add_response(
            conversation,
            tokens_sent,
            tokens_received,
        );
    }

    /// Runs something that has the terminal for itself: a question, an editor. What other threads print meanwhile is printed
    /// after it, and another question waits for its end. May be nested.
    pub fn suspended<T>(&'static self, run: impl FnOnce() -> T) -> T {
        let mut state = lock(&self.state);
        while state.is_suspended_by_other() {
            state = self.resumed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.suspend();
        drop(state);
        let _resumes = Suspended;
        run()
    }

    /// Removes the region for good, before the process exits.
    pub fn leave(&self) {
        let until = Instant::now() + LAST_WAIT;
        loop {
            match self.state.try_lock() {
                Ok(mut state) => return state.leave(),
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner().leave(),
                Err(TryLockError::WouldBlock) if Instant::now() > until => return,
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    /// Redraws the region when something changes, and while time passes.
    fn redraw_as_needed(&self) {
        let mut state = lock(&self.state);
        loop {
            state.draw(Instant::now());
            drop(state);
            thread::sleep(REDRAW);
            state = lock(&self.state);
            if state.is_changed {
                continue;
            }
            state = match state.next_redraw(Instant::now()) {
                Some(pause) => {
                    let waited = self.changes.wait_timeout(state, pause);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changes.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        lock(&screen().state).end_work();
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        screen().end(&self.key);
    }
}

impl Drop for Suspended {
    fn drop(&mut self) {
        lock(&screen().state).resume(Instant::now());
        screen().resumed.notify_all();
        screen().changes.notify_all();
    }
}
