//! Notifications: a bell, or a notification of the desktop, when an agent asks something or ends long work.
//!
//! A desktop notification is an escape sequence, so no program is started: what the terminal does with it is its own. There is
//! one terminal, so there is one notifier; without one, or before it is set up, nothing is written.

use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use serde::Deserialize;
use tenter_base::{lock, one_line};

use crate::env::Env;
use crate::ui;

/// Maximum number of characters of a notification.
const LENGTH: usize = 120;
const BELL: &str = "\x07";
const TITLE: &str = "Tenter";
/// Values of `TERM_PROGRAM` of terminals that show OSC 9; others show OSC 777, if any.
const SHOW_OSC_9: [&str; 3] = ["iTerm.app", "WezTerm", "ghostty"];

/// The kind of notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Not at all.
    Off,
    /// The terminal's bell.
    Bell,
    /// A notification of the desktop, which the terminal shows.
    Desktop,
}

/// The settings of notifications.
#[derive(Debug, Clone, Copy)]
pub struct NotifySettings {
    /// The kind of notification.
    pub method: Method,
    /// Minimum duration of work whose end is notified.
    pub after: Duration,
}

static NOTIFIER: OnceLock<Notifier> = OnceLock::new();

struct Notifier {
    /// `None` rings the bell.
    desktop: Option<Desktop>,
    /// Minimum duration of work whose end is notified.
    after: Duration,
    /// When the present work began.
    working: Mutex<Option<Instant>>,
}

/// The escape sequence that the terminal shows as a notification.
#[derive(Debug, Clone, Copy)]
struct Desktop {
    shows_osc_9: bool,
    is_in_tmux: bool,
}

/// Sets notifications up for this process, if stderr is a terminal that can show them.
pub fn set_up(env: &Env, settings: NotifySettings) {
    if env.is_dumb() || settings.method == Method::Off || !Env::has_stderr_terminal() {
        return;
    }
    let program = env.text("TERM_PROGRAM").unwrap_or_default();
    let is_kitty = env.text("TERM").is_some_and(|term| term.contains("kitty"));
    let desktop = Desktop {
        shows_osc_9: is_kitty || SHOW_OSC_9.contains(&program),
        is_in_tmux: env.var("TMUX").is_some(),
    };
    let desktop = (settings.method == Method::Desktop).then_some(desktop);
    // A process sets it up once.
    let _ = NOTIFIER.set(Notifier { desktop, after: settings.after, working: Mutex::default() });
}

/// Notes that an agent begins to work.
pub fn work_begins() {
    if let Some(notifier) = NOTIFIER.get() {
        *lock(&notifier.working) = Some(Instant::now());
    }
}

/// Notifies the user that the agent asks something; `prompt` is what the user reads last. Without an agent at work the user is
/// there anyway.
pub fn question(prompt: &str) {
    if let Some(notifier) = NOTIFIER.get()
        && lock(&notifier.working).is_some()
    {
        let prompt = prompt.trim().trim_end_matches(':');
        notifier.notify(&format!("needs an answer: {prompt}"));
    }
}

/// Notifies the user that the agent ends its work; `words` say how.
pub fn work_ends(words: &str) {
    if let Some(notifier) = NOTIFIER.get() {
        let began = lock(&notifier.working).take();
        if began.is_some_and(|began| began.elapsed() >= notifier.after) {
            notifier.notify(words);
        }
    }
}

impl Notifier {
    fn notify(&self, words: &str) {
        match self.desktop {
            None => ui::note_raw(BELL),
            Some(desktop) => ui::note_raw(&desktop.sequence(words)),
        }
    }
}

impl Desktop {
    /// Returns the escape sequence of a notification.
    fn sequence(self, words: &str) -> String {
        // No character ends the sequence early, or begins another.
        let words = one_line(words, LENGTH).replace([';', '\x07', '\x1b'], ",");
        let sequence = if self.shows_osc_9 {
            format!("\x1b]9;{TITLE} {words}{BELL}")
        } else {
            format!("\x1b]777;notify;{TITLE};{words}{BELL}")
        };
        if self.is_in_tmux {
            // tmux passes it on if allow-passthrough is on; it marks the window for the bell in any case.
            return format!("\x1bPtmux;{}\x1b\\{BELL}", sequence.replace('\x1b', "\x1b\x1b"));
        }
        sequence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_desktop_notification_is_one_escape_sequence() {
        let of = |shows_osc_9, is_in_tmux| Desktop { shows_osc_9, is_in_tmux };
        assert_eq!(of(true, false).sequence("is done"), "\x1b]9;Tenter is done\x07");
        assert_eq!(of(false, false).sequence("is done"), "\x1b]777;notify;Tenter;is done\x07");
        let in_tmux = of(true, true).sequence("is done");
        assert_eq!(in_tmux, "\x1bPtmux;\x1b\x1b]9;Tenter is done\x07\x1b\\\x07");
    }

    #[test]
    fn nothing_in_the_words_ends_the_sequence() {
        let desktop = Desktop { shows_osc_9: false, is_in_tmux: false };
        let sequence = desktop.sequence("a;b\x07c\x1b]52;c;x\x1b\\\nd\u{9c}e");
        let inner = sequence.strip_prefix("\x1b]777;notify;Tenter;").unwrap();
        let inner = inner.strip_suffix('\x07').unwrap();
        assert!(!inner.chars().any(|c| c.is_control() || c == ';'), "{inner:?}");
        assert!(desktop.sequence(&"x".repeat(1000)).len() < 200);
    }
}
