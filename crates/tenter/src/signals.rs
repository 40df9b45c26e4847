//! Ctrl-C and termination: the first signal ends the work in good order, the second kills what runs and ends the process. Hooks and tools run
//! in process groups of their own, so the terminal's Ctrl-C reaches Tenter alone, and Tenter ends them.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::raise;
use tenter_proc::Cancel;

use crate::failure::Failure;

/// How often a line editor that waits for a key is woken at most, and how long it gets each time.
const WAKINGS: u32 = 250;
const WAKING: Duration = Duration::from_millis(20);

/// Throws `cancel` at the first signal.
pub(crate) fn forward(cancel: &Cancel) -> Result<(), Failure> {
    Interrupts::catch(cancel).map(drop)
}

/// Where the signals of this process go. A copy is the same.
#[derive(Clone)]
pub(crate) struct Interrupts {
    state: Arc<Mutex<State>>,
}

struct State {
    /// What the next signal throws.
    target: Cancel,
    /// Whether the process was asked to end, not only the work.
    terminated: bool,
    /// Whether a line editor waits for a key. It takes SIGINT over while it does.
    reading: bool,
    /// Whether another program has the terminal: a Ctrl-C there is meant for it.
    away: bool,
    /// What is to be put right before the process is left.
    leaving: Option<Box<dyn Fn() + Send>>,
}

impl State {
    /// Leaves the process.
    fn leave(&self) {
        if let Some(put_right) = &self.leaving {
            put_right();
        }
        leave();
    }
}

impl Interrupts {
    /// Catches the signals of this process from now on; the first throws `target`.
    pub(crate) fn catch(target: &Cancel) -> Result<Self, Failure> {
        let mut signals =
            Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(|error| not_handled(&error))?;
        let state = State {
            target: target.clone(),
            terminated: false,
            reading: false,
            away: false,
            leaving: None,
        };
        let caught = Self { state: Arc::new(Mutex::new(state)) };
        let receiver = caught.clone();
        let receive = move || {
            loop {
                let received: Vec<i32> = signals.wait().collect();
                for signal in received {
                    receiver.receive(signal, &mut signals);
                }
            }
        };
        thread::Builder::new().spawn(receive).map_err(|error| not_handled(&error))?;
        Ok(caught)
    }

    /// The next signal throws `target`, whatever was thrown before.
    pub(crate) fn aim(&self, target: &Cancel) {
        self.state().target = target.clone();
    }

    /// Throws what a signal would throw: a line editor took Ctrl-C for itself.
    pub(crate) fn interrupt(&self) {
        self.state().target.cancel();
    }

    /// Whether the process was asked to end.
    pub(crate) fn terminated(&self) -> bool {
        self.state().terminated
    }

    /// Has `put_right` run when the process is left at once.
    pub(crate) fn when_leaving(&self, put_right: impl Fn() + Send + 'static) {
        self.state().leaving = Some(Box::new(put_right));
    }

    /// Runs a line editor. When the process is asked to end, the editor is interrupted; if it was asked before, `read` is
    /// not run.
    pub(crate) fn while_reading<T>(&self, read: impl FnOnce() -> T) -> Option<T> {
        {
            let mut state = self.state();
            if state.terminated {
                return None;
            }
            state.reading = true;
        }
        let line = read();
        self.state().reading = false;
        Some(line)
    }

    /// Runs something that leaves the terminal to another program.
    pub(crate) fn while_away<T>(&self, run: impl FnOnce() -> T) -> T {
        self.state().away = true;
        let result = run();
        self.state().away = false;
        result
    }

    fn receive(&self, signal: i32, signals: &mut Signals) {
        let wake = {
            let mut state = self.state();
            if state.away && signal == SIGINT {
                return;
            }
            if state.target.is_cancelled() {
                state.leave();
            }
            state.terminated |= signal != SIGINT;
            state.target.cancel();
            state.terminated && state.reading
        };
        if wake {
            self.wake_reader(signals);
        }
    }

    /// A line editor waits for keys and for SIGINT. It may be about to install its handler, so one SIGINT may not be enough;
    /// those that come back here because it has no handler, or none any more, were nobody's wish.
    fn wake_reader(&self, signals: &mut Signals) {
        for _ in 0..WAKINGS {
            if !self.state().reading {
                break;
            }
            let _ = raise(SIGINT);
            thread::sleep(WAKING);
        }
        signals
            .pending()
            .filter(|signal| *signal != SIGINT)
            .for_each(|_asked_again| self.state().leave());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_handled(error: &io::Error) -> Failure {
    Failure::new(format!("signals cannot be handled: {error}"))
}

/// A file that has grown to the limit of a file's size (`ulimit -f`) is an error for the one who writes it, as a full disk is,
/// and not the end of the process. What is started from here has the signal as every program has it.
pub(crate) fn outlive_file_size_limit() {
    // Where it cannot be caught, everything else works.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

#[expect(clippy::exit, reason = "the person asked twice: nothing is waited for any more")]
fn leave() {
    tenter_proc::kill_all();
    std::process::exit(130);
}
