//! The keyboard of a chat while no line editor reads from it: what the user types appears in the input line, and keys answer
//! questions.
//!
//! A key that was pressed before a question never answers it, nor does a key while the input line contains text.

use std::io::{self, Write as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use tenter_terminal::question::letter_of;
use tenter_terminal::screen::screen;
use tenter_terminal::signals::Interrupts;
use tenter_terminal::{notify, ui};

use super::composer::{Composer, TypedText};
use crate::keys::{KeyPress, KeyReader};

/// Turns bracketed paste on and off.
const MARK_PASTES: &str = "\x1b[?2004h";
const MARK_NO_PASTES: &str = "\x1b[?2004l";
/// Maximum wait for the rest of a paste.
const PASTE: Duration = Duration::from_secs(1);
/// Maximum number of bytes per read.
const CHUNK: usize = 4096;
/// The pause after which a user who was typing when a question was put has seen it.
const TYPING_PAUSE: Duration = Duration::from_millis(700);
/// The interval at which a question checks whether it is over.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The terminal's keyboard. Clones share it; when the last is dropped, the terminal is restored.
#[derive(Clone)]
pub(super) struct Keyboard(Arc<SavedTerminal>);

struct SavedTerminal {
    /// The terminal's modes before.
    before: Termios,
    keyboard: Arc<SharedKeyboard>,
}

#[derive(Default)]
struct SharedKeyboard {
    state: Mutex<KeyboardState>,
    /// The line editor has ended, or a question was answered.
    changes: Condvar,
}

#[derive(Default)]
struct KeyboardState {
    composer: Composer,
    keys: KeyReader,
    /// True if a line editor or another program reads the keys.
    lent: bool,
    /// The time of the last key.
    typed_at: Option<Instant>,
    question: Option<KeyQuestion>,
    /// The rest of the word whose first letter answered a question.
    word: Option<AnswerWord>,
    /// Shows folded output.
    expand: Option<Arc<dyn Fn() + Send + Sync>>,
    /// True if Ctrl-O was pressed.
    is_expanding: bool,
}

/// A question that a key answers.
struct KeyQuestion {
    /// The letters that are answers.
    letters: &'static str,
    answer: Option<KeyAnswer>,
    /// The text that was typed before the question, for after it.
    aside: String,
    /// The user was typing when the question was put: until then, keys are a part of that text.
    typing_until: Option<Instant>,
}

/// The rest of a word such as `yes`, of which a letter was the answer: a user who types the whole word does not begin a message.
struct AnswerWord {
    rest: &'static str,
    text_so_far: String,
}

impl AnswerWord {
    /// Returns the word that begins with this letter.
    fn beginning_with(letter: char) -> Option<Self> {
        let words = ["yes", "no", "always", "project"];
        let rest = words.iter().find_map(|word| word.strip_prefix(letter))?;
        Some(Self { rest, text_so_far: String::new() })
    }

    /// Takes the key if it belongs to the word.
    fn takes(&mut self, key: &KeyPress) -> bool {
        match key {
            KeyPress::Enter => true,
            KeyPress::Text(text) => self.rest.strip_prefix(text.as_str()).is_some_and(|rest| {
                self.text_so_far.push_str(text);
                self.rest = rest;
                true
            }),
            _ => false,
        }
    }
}

/// A line was sent ahead before the line editor began.
pub(super) struct SentAhead;

/// The answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyAnswer {
    /// A letter of the question.
    Letter(char),
    /// Ctrl-D.
    Closed,
    /// Ctrl-C, or the question is over.
    Interrupted,
}

impl Keyboard {
    /// Reads what is typed until it is dropped. The terminal is also restored if a signal ends the process.
    ///
    /// # Errors
    /// The terminal's modes cannot be read.
    pub(super) fn hold(interrupts: &Interrupts) -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let shared: Arc<SharedKeyboard> = Arc::default();
        let watched = Arc::downgrade(&shared);
        thread::Builder::new().spawn(move || watch(&watched))?;
        let keyboard = Self(Arc::new(SavedTerminal { before: before.clone(), keyboard: shared }));
        interrupts.on_exit(move || restore(&before));
        keyboard.hold_again(true);
        keyboard.0.keyboard.show();
        Ok(keyboard)
    }

    /// Shows folded output by `expand` when Ctrl-O is pressed.
    pub(super) fn on_expand(&self, expand: impl Fn() + Send + Sync + 'static) {
        self.state().expand = Some(Arc::new(expand));
    }

    /// Sets the terminal's modes. With `signals`, Ctrl-C is a signal, otherwise a key.
    fn hold_again(&self, signals: bool) {
        let mut modes = self.0.before.clone();
        let line_modes =
            LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL | LocalModes::IEXTEN;
        modes.local_modes.remove(line_modes);
        if !signals {
            modes.local_modes.remove(LocalModes::ISIG);
        }
        // Ctrl-C stops the answer and keeps the message that is being typed.
        modes.local_modes.insert(LocalModes::NOFLSH);
        modes.input_modes.remove(InputModes::ICRNL);
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        change(&modes, MARK_PASTES);
    }

    /// Runs a line editor, which reads unread and new keys.
    pub(super) fn lend<T>(&self, read: impl FnOnce() -> T) -> T {
        self.state().lent = true;
        let line = read();
        self.hold_again(true);
        self.state().lent = false;
        self.0.keyboard.changes.notify_all();
        line
    }

    /// Runs another program, which gets the terminal as it was before the chat, with the unread keys.
    pub(super) fn release<T>(&self, run: impl FnOnce() -> T) -> T {
        self.lend(|| {
            restore(&self.0.before);
            run()
        })
    }

    /// Reads what was typed so far, so that it is not a part of what a line editor reads next.
    pub(super) fn set_aside(&self) {
        self.state().take_waiting();
        self.0.keyboard.show();
    }

    /// Makes the lines that were sent ahead a part of the text, which the user sees before sending it.
    pub(super) fn unsend(&self) {
        let mut state = self.state();
        state.take_waiting();
        state.composer.unsend(|_| true);
    }

    /// Returns the next line that was sent ahead.
    pub(super) fn next_line(&self) -> Option<String> {
        let mut state = self.state();
        state.take_waiting();
        let line = state.composer.next_line();
        drop(state);
        self.0.keyboard.show();
        line
    }

    /// Runs a line editor, which begins with `draft` and the text of the input line, before and after the cursor.
    ///
    /// # Errors
    /// A line was sent ahead, which is then the next line.
    pub(super) fn edit<T>(
        &self,
        draft: &TypedText,
        read: impl FnOnce(&str, &str) -> T,
    ) -> Result<T, SentAhead> {
        let mut state = self.state();
        if state.composer.has_sent() {
            state.composer.prepend(&draft.join_text());
            return Err(SentAhead);
        }
        // In one step with the look above: a line that is typed from now on is for the line editor.
        state.lent = true;
        let (before, right) = state.composer.take_text();
        drop(state);
        self.0.keyboard.show();
        let (left_text, right) = (draft.head.clone() + &before, right + &draft.tail);
        Ok(self.lend(|| read(&left_text, &right)))
    }

    /// Asks a question that one of `letters` answers. Returns when a key answers it, or `is_over`.
    pub(super) fn ask(
        &self,
        prompt: &str,
        letters: &'static str,
        is_over: &dyn Fn() -> bool,
    ) -> KeyAnswer {
        self.state().begin_question(letters);
        self.hold_again(false);
        notify::question(prompt);
        ui::note_piece(prompt);
        self.0.keyboard.show();
        let answer = self.wait_for_answer(is_over);
        self.hold_again(true);
        screen().show_input_below_question(false);
        self.state().end_question();
        self.0.keyboard.show();
        ui::note(match answer {
            KeyAnswer::Letter(letter) => letter.to_string(),
            KeyAnswer::Closed | KeyAnswer::Interrupted => String::new(),
        });
        answer
    }

    fn wait_for_answer(&self, is_over: &dyn Fn() -> bool) -> KeyAnswer {
        let mut state = self.state();
        loop {
            if let Some(answer) = state.question.as_ref().and_then(|question| question.answer) {
                return answer;
            }
            if is_over() {
                return KeyAnswer::Interrupted;
            }
            if state.ends_typing(Instant::now()) {
                drop(state);
                self.0.keyboard.show();
                state = self.state();
            }
            let waited = self.0.keyboard.changes.wait_timeout(state, POLL_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn state(&self) -> MutexGuard<'_, KeyboardState> {
        self.0.keyboard.state()
    }
}

impl Drop for SavedTerminal {
    fn drop(&mut self) {
        screen().set_input(None);
        restore(&self.before);
    }
}

impl SharedKeyboard {
    fn state(&self) -> MutexGuard<'_, KeyboardState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the input line as it is now; below a question only if it has content.
    fn show(&self) {
        // The keys stay locked until the screen has the line: of two threads, the one that shows last must show the newest keys.
        let state = self.state();
        let composer = state.composer.clone();
        let is_below_question = state.question.is_some() && composer.has_content();
        screen().set_input(Some(Box::new(move |columns| composer.rows(columns))));
        screen().show_input_below_question(is_below_question);
        drop(state);
    }
}

impl KeyboardState {
    /// Reads the unread keys, and a paste to its end.
    fn take_waiting(&mut self) {
        let mut chunk = [0; CHUNK];
        while is_waiting(Some(if self.keys.is_in_paste() { PASTE } else { Duration::ZERO })) {
            match rustix::io::read(io::stdin(), &mut chunk) {
                Ok(count) if count > 0 => self.press(&chunk[..count]),
                _ => break,
            }
        }
    }

    fn press(&mut self, bytes: &[u8]) {
        for key in self.keys.read(bytes) {
            let now = Instant::now();
            let pause = self.typed_at.replace(now).map(|at| now.saturating_duration_since(at));
            self.is_expanding |= key == KeyPress::Expand;
            if self.ends_word(&key, pause.unwrap_or_default()) {
                continue;
            }
            if !self.answers(&key, now) {
                self.composer.press(key);
            }
        }
    }

    /// Returns whether a key belongs to the word whose first letter was an answer. What was typed of another word is a part of the text.
    fn ends_word(&mut self, key: &KeyPress, pause: Duration) -> bool {
        let Some(word) = &mut self.word else { return false };
        if pause < TYPING_PAUSE && word.takes(key) {
            if *key == KeyPress::Enter {
                self.word = None;
            }
            return true;
        }
        let letters = std::mem::take(&mut word.text_so_far);
        self.word = None;
        if pause < TYPING_PAUSE && !letters.is_empty() {
            self.composer.press(KeyPress::Text(letters));
        }
        false
    }

    /// Answers the question by a key; false if the key is a part of the text.
    fn answers(&mut self, key: &KeyPress, now: Instant) -> bool {
        self.ends_typing(now);
        let is_empty = self.composer.is_empty();
        let Some(question) = self.question.as_mut().filter(|one| one.answer.is_none()) else {
            return false;
        };
        if let Some(until) = &mut question.typing_until {
            *until = now + TYPING_PAUSE;
        }
        question.answer = match key {
            KeyPress::Interrupt => Some(KeyAnswer::Interrupted),
            KeyPress::Close if is_empty => Some(KeyAnswer::Closed),
            KeyPress::Text(text) if is_empty => {
                letter_of(text, question.letters).map(KeyAnswer::Letter)
            }
            _ => None,
        };
        if let Some(KeyAnswer::Letter(letter)) = question.answer {
            self.word = AnswerWord::beginning_with(letter);
        }
        question.answer.is_some()
    }

    fn begin_question(&mut self, letters: &'static str) {
        self.take_waiting();
        let now = Instant::now();
        let typed_at = self.typed_at.filter(|_| !self.composer.is_empty());
        let typing_until = typed_at.map(|at| at + TYPING_PAUSE).filter(|until| *until > now);
        let aside = String::new();
        self.question = Some(KeyQuestion { letters, answer: None, aside, typing_until });
        if typing_until.is_none() {
            self.put_aside();
        }
    }

    /// Checks whether the user has stopped to type the text that they typed when the question was put. It is put aside then.
    fn ends_typing(&mut self, now: Instant) -> bool {
        let Some(question) = &mut self.question else { return false };
        let ends = question.typing_until.is_some_and(|until| now >= until);
        if ends {
            question.typing_until = None;
            self.put_aside();
        }
        ends
    }

    /// Puts the text aside, so that the next key answers the question, and with it lines that would have been answers.
    fn put_aside(&mut self) {
        let Some(question) = &mut self.question else { return };
        self.composer.unsend(|line| letter_of(line, question.letters).is_some());
        let (before, right) = self.composer.take_text();
        question.aside = before + &right;
    }

    fn end_question(&mut self) {
        if let Some(question) = self.question.take() {
            self.composer.prepend(&question.aside);
        }
    }
}

/// Reads keys as long as the keyboard exists.
fn watch(watched: &Weak<SharedKeyboard>) {
    while is_waiting(None) {
        let Some(shared) = watched.upgrade() else { return };
        let mut state = shared.state();
        while state.lent {
            state = shared.changes.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.take_waiting();
        let is_expanding = std::mem::take(&mut state.is_expanding);
        let expand = state.expand.clone().filter(|_| is_expanding);
        drop(state);
        shared.show();
        shared.changes.notify_all();
        if let Some(expand) = expand {
            expand();
        }
    }
}

fn restore(before: &Termios) {
    change(before, MARK_NO_PASTES);
}

/// Sets the terminal's modes. Errors are ignored: the terminal may be gone.
fn change(modes: &Termios, pastes: &str) {
    let _ = tcsetattr(io::stdin(), OptionalActions::Now, modes);
    let mut stdout = io::stdout();
    let _ = stdout.write_all(pastes.as_bytes());
    let _ = stdout.flush();
}

/// Checks whether there is an unread key, or one comes within `time`; without a time, waits for one.
fn is_waiting(time: Option<Duration>) -> bool {
    let stdin = io::stdin();
    let mut keys = [PollFd::new(&stdin, PollFlags::IN)];
    let time = time.and_then(|time| Timespec::try_from(time).ok());
    loop {
        match poll(&mut keys, time.as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            polled => return matches!(polled, Ok(1)) && keys[0].revents() == PollFlags::IN,
        }
    }
}
