//! Ctrl-C and termination: the first signal cancels the work, the second kills all children and exits. Hooks and tools run in
//! process groups of their own, so the terminal's Ctrl-C reaches only Tenter, which ends them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{io, thread};

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::raise;
use tenter_base::lock;
use tenter_proc::Cancel;

use crate::failure::Failure;
use crate::screen::screen;

/// Maximum number of times that a line editor waiting for a key is woken, and the pause after each.
const WAKINGS: u32 = 250;
const WAKING: Duration = Duration::from_millis(20);

/// Number of signals that this process received.
static RECEIVED: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of signals that this process received so far. A question ends when it grows.
pub fn received() -> usize {
    RECEIVED.load(Ordering::SeqCst)
}

/// Returns a cancel that the first signal sets.
pub fn cancel() -> Result<Cancel, Failure> {
    let cancel = Cancel::new();
    Interrupts::catch(&cancel)?;
    Ok(cancel)
}

/// The receiver of this process's signals. Clones share their state.
#[derive(Clone)]
pub struct Interrupts {
    state: Arc<Mutex<SignalState>>,
}

#[derive(Default)]
struct SignalState {
    /// The work that the next signal cancels.
    target: Cancel,
    /// True if the process should end, not only the work.
    terminated: bool,
    /// True if a line editor waits for a key. It handles SIGINT meanwhile.
    reading: bool,
    /// True if another program has the terminal: Ctrl-C is meant for it.
    away: bool,
    /// Cleanup before the process exits.
    clean_up: Option<Box<dyn Fn() + Send>>,
}

impl SignalState {
    /// Cleans up and exits the process.
    fn exit(&self) {
        screen().leave();
        if let Some(clean_up) = &self.clean_up {
            clean_up();
        }
        exit();
    }
}

impl Interrupts {
    /// Catches the signals of this process from now on; the first cancels `target`.
    pub fn catch(target: &Cancel) -> Result<Self, Failure> {
        let mut signals =
            Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(|error| not_handled(&error))?;
        let state = SignalState { target: target.clone(), ..SignalState::default() };
        let caught = Self { state: Arc::new(Mutex::new(state)) };
        let receiver = caught.clone();
        let receive = move || {
            loop {
                let numbers: Vec<i32> = signals.wait().collect();
                for signal in numbers {
                    receiver.receive(signal, &mut signals);
                }
            }
        };
        thread::Builder::new().spawn(receive).map_err(|error| not_handled(&error))?;
        Ok(caught)
    }

    /// Makes the next signal cancel `target`.
    pub fn aim(&self, target: &Cancel) {
        lock(&self.state).target = target.clone();
    }

    /// Does what SIGINT would do, for a line editor that handled Ctrl-C itself.
    pub fn interrupt(&self) {
        lock(&self.state).target.cancel();
    }

    /// Checks whether the process received SIGTERM or SIGHUP.
    pub fn terminated(&self) -> bool {
        lock(&self.state).terminated
    }

    /// Runs `clean_up` if a signal ends the process at once.
    pub fn on_exit(&self, clean_up: impl Fn() + Send + 'static) {
        lock(&self.state).clean_up = Some(Box::new(clean_up));
    }

    /// Runs a line editor, and interrupts it if the process should end. Returns `None`, without calling `read`, if it already
    /// should.
    pub fn while_reading<T>(&self, read: impl FnOnce() -> T) -> Option<T> {
        {
            let mut state = lock(&self.state);
            if state.terminated {
                return None;
            }
            state.reading = true;
        }
        let line = read();
        lock(&self.state).reading = false;
        Some(line)
    }

    /// Runs `run`, which hands the terminal to another program. Nothing else is printed meanwhile.
    pub fn while_away<T>(&self, run: impl FnOnce() -> T) -> T {
        lock(&self.state).away = true;
        let result = screen().suspended(run);
        lock(&self.state).away = false;
        result
    }

    fn receive(&self, signal: i32, signals: &mut Signals) {
        let wake = {
            let mut state = lock(&self.state);
            if state.away && signal == SIGINT {
                return;
            }
            if state.target.is_cancelled() {
                state.exit();
            }
            state.terminated |= signal != SIGINT;
            state.target.cancel();
            // A question that ends because of the signal finds the work cancelled.
            RECEIVED.fetch_add(1, Ordering::SeqCst);
            state.terminated && state.reading
        };
        if wake {
            self.wake_reader(signals);
        }
    }

    /// Wakes a line editor, which waits for keys and for SIGINT. It may be about to install its handler, so one SIGINT may not
    /// be enough; those that arrive here because the editor has no handler are ignored.
    fn wake_reader(&self, signals: &mut Signals) {
        for _ in 0..WAKINGS {
            if !lock(&self.state).reading {
                break;
            }
            let _ = raise(SIGINT);
            thread::sleep(WAKING);
        }
        signals
            .pending()
            .filter(|signal| *signal != SIGINT)
            .for_each(|_second| lock(&self.state).exit());
    }
}

fn not_handled(error: &io::Error) -> Failure {
    Failure::new(format!("cannot handle signals: {error}"))
}

/// Sets `flag` whenever this process continues after it was stopped.
pub fn watch_continuing(flag: Arc<AtomicBool>) {
    // Where it cannot be noticed, everything else works.
    let _ = signal_hook::flag::register(SIGCONT, flag);
}

#[expect(clippy::exit, reason = "the user asked twice: exit without waiting")]
fn exit() {
    tenter_proc::kill_all();
    std::process::exit(130);
}
