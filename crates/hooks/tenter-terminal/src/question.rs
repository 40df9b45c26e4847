//! Questions to the user: one reader at the terminal, and one way to choose among a few answers.

use std::io::{self, BufRead as _, Stdin};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr,
};

use crate::env::Env;
use crate::screen::screen;
use crate::{notify, signals, ui};

/// The interval at which a question checks whether it was cancelled.
const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Shows a prompt and returns the line that the user types; `None` if the user cannot be asked or closed the input.
pub type ReadLine<'r> = dyn FnMut(&str) -> Option<String> + 'r;

/// [`ReadLine`] from several threads: how a chat asks while its line editor has the terminal.
pub type SharedReadLine = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Shows a prompt and returns the letter, one of the second argument, that the user chooses; `None` as for [`ReadLine`].
pub type ReadKey<'r> = dyn FnMut(&str, &'static str) -> Option<char> + 'r;

/// One answer to a question: `[t] trust`.
#[derive(Clone)]
pub struct Choice<'c, T> {
    /// The letter that chooses it.
    pub letter: &'c str,
    /// Its label in the prompt.
    pub label: &'c str,
    /// Words that choose it as well.
    pub words: &'c [&'c str],
    /// Its value.
    pub value: T,
}

impl<T> Choice<'_, T> {
    fn accepts(&self, answer: &str) -> bool {
        answer == self.letter || self.words.contains(&answer)
    }
}

/// Shows a prompt and returns the line that the user types; `None` if the user cannot be asked or closed the input.
pub fn read_at_terminal(prompt: &str) -> Option<String> {
    if !Env::can_ask() {
        return None;
    }
    let signal = signals::received();
    read_at_terminal_until(prompt, &|| signals::received() != signal)
}

/// As [`read_at_terminal`]; `None` also once `is_over`, such as after Ctrl-C.
pub fn read_at_terminal_until(prompt: &str, is_over: &dyn Fn() -> bool) -> Option<String> {
    screen().suspended(|| {
        notify::question(prompt);
        ui::note_piece(prompt);
        let stdin = io::stdin();
        // A read would continue after a signal.
        while !has_input(&stdin) {
            if is_over() {
                ui::note("");
                return None;
            }
        }
        let mut line = String::new();
        let length = stdin.lock().read_line(&mut line).unwrap_or(0);
        (length > 0).then_some(line)
    })
}

/// Shows a prompt and returns the key that the user presses, one of `letters`. Keys that were pressed before are discarded. `None` if
/// the user cannot be asked, closed the input or pressed Ctrl-C.
pub fn read_key_at_terminal(prompt: &str, letters: &'static str) -> Option<char> {
    if !Env::can_ask() {
        return None;
    }
    let signal = signals::received();
    screen().suspended(|| {
        let single_keys = SingleKeys::begin()?;
        notify::question(prompt);
        ui::note_piece(prompt);
        let letter = pressed_letter(letters, &|| signals::received() != signal);
        drop(single_keys);
        ui::note(letter.map(String::from).unwrap_or_default());
        letter
    })
}

/// Returns the letter that a line or key means: itself, or the first letter of `yes`, `no`, `always` and `project`.
pub fn letter_of(input: &str, letters: &str) -> Option<char> {
    let text = input.trim().to_lowercase();
    let letter = text.chars().next()?;
    let is_word = ["yes", "no", "always", "project"].contains(&text.as_str());
    ((text.chars().count() == 1 || is_word) && letters.contains(letter)).then_some(letter)
}

/// Waits for one of the letters; `None` after Ctrl-D, or once `is_over`.
fn pressed_letter(letters: &str, is_over: &dyn Fn() -> bool) -> Option<char> {
    let stdin = io::stdin();
    let mut byte = [0];
    while !is_over() {
        if !has_input(&stdin) {
            continue;
        }
        match rustix::io::read(&stdin, &mut byte) {
            Ok(0) => return None,
            Ok(_) if byte == [4] => return None,
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return None,
        }
        let letter = letter_of(std::str::from_utf8(&byte).unwrap_or_default(), letters);
        if letter.is_some() {
            return letter;
        }
    }
    None
}

/// A terminal that passes on each key at once, without echo, until this is dropped.
pub struct SingleKeys(Termios);

impl SingleKeys {
    /// Begins to pass on keys, but Ctrl-C is a signal. Keys that were pressed before are discarded. `None` without a terminal.
    pub fn begin() -> Option<Self> {
        Self::begin_without(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// As [`begin`](Self::begin); Ctrl-C is a key as well.
    pub fn begin_raw() -> Option<Self> {
        let line_modes = LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN;
        Self::begin_without(line_modes | LocalModes::ISIG)
    }

    fn begin_without(line_modes: LocalModes) -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        let mut modes = before.clone();
        modes.local_modes.remove(line_modes);
        tcsetattr(io::stdin(), OptionalActions::Flush, &modes).ok()?;
        Some(Self(before))
    }
}

impl Drop for SingleKeys {
    fn drop(&mut self) {
        // The other keys of a word such as `yes` are meant for the question.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Waits a moment for input. A terminal that cannot be polled counts as ready: the read fails then.
fn has_input(stdin: &Stdin) -> bool {
    let mut watched = [PollFd::new(stdin, PollFlags::IN)];
    match poll(&mut watched, Some(&POLL_INTERVAL)) {
        Ok(ready) => ready > 0,
        Err(error) => error != Errno::INTR,
    }
}

/// Asks until the user chooses; `None` if the user cannot be asked or closed the input.
pub fn choose<T: Clone>(question: &str, choices: &[Choice<T>], read: &mut ReadLine) -> Option<T> {
    let labels: Vec<String> =
        choices.iter().map(|choice| format!("[{}] {}", choice.letter, choice.label)).collect();
    let prompt = format!("{question} {}: ", labels.join("  "));
    loop {
        let line = read(&prompt)?;
        let answer = line.trim().to_lowercase();
        if let Some(choice) = choices.iter().find(|choice| choice.accepts(&answer)) {
            return Some(choice.value.clone());
        }
        ui::note(please_answer(choices));
    }
}

/// Asks until the user says yes or no; no if the user cannot be asked or closed the input.
pub fn confirm(question: &str, read: &mut ReadLine) -> bool {
    let yes = Choice { letter: "y", label: "yes", words: &["yes"], value: true };
    let no = Choice { letter: "n", label: "no", words: &["no", "q", "quit"], value: false };
    choose(question, &[yes, no], read).unwrap_or(false)
}

fn please_answer<T>(choices: &[Choice<T>]) -> String {
    let letters: Vec<&str> = choices.iter().map(|choice| choice.letter).collect();
    let Some((last, others)) = letters.split_last() else { return String::new() };
    format!("Please answer {} or {last}.", others.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confirm_with(lines: &[&str]) -> (bool, Vec<String>) {
        let (mut lines, mut prompts) = (lines.iter(), Vec::new());
        let answer = confirm("Go?", &mut |prompt| {
            prompts.push(prompt.to_owned());
            lines.next().map(|line| (*line).to_owned())
        });
        (answer, prompts)
    }

    #[test]
    fn asks_until_an_answer_is_one_of_the_choices() {
        let (answer, prompts) = confirm_with(&["maybe\n", "\n", " YES \n", "n\n"]);
        assert!(answer);
        assert_eq!(prompts, ["Go? [y] yes  [n] no: "; 3]);
    }

    #[test]
    fn only_a_letter_or_its_word_is_an_answer() {
        for (typed, letter) in [
            ("y", Some('y')),
            (" Yes \n", Some('y')),
            ("always", Some('a')),
            ("P", None),
            ("", None),
            ("now", None),
            ("yes please", None),
            ("!git diff", None),
        ] {
            assert_eq!(letter_of(typed, "yan"), letter, "{typed:?}");
        }
    }

    #[test]
    fn a_closed_input_means_no() {
        assert!(!confirm_with(&[]).0);
        assert!(!confirm_with(&["what?\n"]).0);
    }

    #[test]
    fn the_reminder_names_every_letter() {
        let choice = |letter| Choice { letter, label: "", words: &[], value: () };
        let choices = ["t", "v", "s", "q"].map(choice);
        assert_eq!(please_answer(&choices), "Please answer t, v, s or q.");
    }
}
