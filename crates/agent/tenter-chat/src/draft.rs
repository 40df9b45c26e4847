//! A text that the model wrote and the user reviews: shown, then accepted, edited or rejected.

use std::{fs, io};

use tenter_base::{capitalize, sanitize};
use tenter_commands::git::{Git, how};
use tenter_proc::Cancel;
use tenter_terminal::question::{Choice, choose, read_at_terminal};
use tenter_terminal::signals::Interrupts;
use tenter_terminal::{Env, Failure, editor, ui};

/// A text that the user reviews.
pub(crate) struct Draft<'d> {
    /// The environment, for the editor.
    pub env: &'d Env,
    /// The repository that it is for.
    pub git: &'d Git<'d>,
    /// The Ctrl-C handling.
    pub interrupts: &'d Interrupts,
    /// The file in the repository's git directory in which it is edited.
    pub file_name: &'d str,
    /// The question, and the message if the answer is no.
    pub words: (&'d str, &'d str),
}

/// The user's decision about the text.
#[derive(Clone, Copy)]
enum Review {
    Accept,
    Edit,
    Reject,
}

const ACCEPT: Choice<Review> =
    Choice { letter: "y", label: "yes", words: &["yes"], value: Review::Accept };
const EDIT: Choice<Review> =
    Choice { letter: "e", label: "edit", words: &["edit"], value: Review::Edit };
const REJECT: Choice<Review> =
    Choice { letter: "n", label: "no", words: &["no", "q", "quit"], value: Review::Reject };

impl Draft<'_> {
    /// Prints the text and returns what the user accepts; `None` if they reject it. With `yes` there is no question.
    ///
    /// # Errors
    /// There is no terminal to ask on.
    pub(crate) fn decide(&self, text: &str, yes: bool) -> Result<Option<String>, Failure> {
        // What is accepted is what was shown.
        let text = sanitize(text).into_owned();
        ui::out(&text);
        let (_, otherwise) = self.words;
        if yes {
            return Ok(Some(text));
        }
        if !Env::can_ask() {
            return Err(Failure::new(format!("{otherwise}: there is no terminal to ask on"))
                .help("pass --no-confirm to skip the question; the text is printed above"));
        }
        let answer = self.ask(text)?;
        if answer.is_none() {
            ui::note(capitalize(otherwise) + ".");
        }
        Ok(answer)
    }

    fn ask(&self, mut text: String) -> Result<Option<String>, Failure> {
        // During a question, Ctrl-C exits the program at once.
        let cancelled = Cancel::new();
        cancelled.cancel();
        self.interrupts.aim(&cancelled);
        loop {
            match choose(self.words.0, &[ACCEPT, EDIT, REJECT], &mut read_at_terminal) {
                Some(Review::Accept) => return Ok(Some(text)),
                Some(Review::Reject) | None => return Ok(None),
                Some(Review::Edit) => {
                    if let Some(new_text) = self.edit(&text)? {
                        text = new_text;
                        ui::out(sanitize(&text));
                    }
                }
            }
        }
    }

    /// Opens the user's editor and returns the new text; `None`, with a note, if the text is unchanged.
    fn edit(&self, text: &str) -> Result<Option<String>, Failure> {
        let file = self.git.own_file(self.file_name)?;
        let failure =
            |error: io::Error| Failure::new(format!("cannot edit {}: {error}", file.display()));
        fs::write(&file, format!("{text}\n")).map_err(failure)?;
        let end = editor::open(self.env, self.interrupts, self.git.directory, self.git.vars, &file);
        if !end.is_success() {
            ui::note(format!("The editor {}, so the text is unchanged.", how(&end)));
            return Ok(None);
        }
        let new_text = fs::read_to_string(&file).map_err(failure)?.trim_end().to_owned();
        if new_text.trim().is_empty() {
            ui::note("The edited text is empty, so the text is unchanged.");
            return Ok(None);
        }
        Ok(Some(new_text))
    }
}
