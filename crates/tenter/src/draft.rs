//! A text that the model wrote and the person looks over: shown, taken, edited or left.

use std::fs;
use std::io;

use tenter_proc::{Cancel, Invocation, Limits, Streams};

use crate::env::Env;
use crate::failure::Failure;
use crate::git::{Git, how};
use crate::question::{Choice, choose, read_at_terminal};
use crate::sanitize::sanitize;
use crate::signals::Interrupts;
use crate::ui;

/// How a text is looked over.
pub(crate) struct Draft<'d> {
    /// The surroundings, for the editor.
    pub(crate) env: &'d Env,
    /// The repository that it is for.
    pub(crate) git: &'d Git<'d>,
    /// What Ctrl-C does.
    pub(crate) interrupts: &'d Interrupts,
    /// The file in which it is edited, one of the repository's own.
    pub(crate) file_name: &'d str,
    /// What is asked, and what is said where the answer is no.
    pub(crate) words: (&'d str, &'d str),
}

/// What to do with the text.
#[derive(Clone, Copy)]
enum DraftChoice {
    Take,
    Edit,
    Leave,
}

const TAKE: Choice<DraftChoice> =
    Choice { letter: "y", label: "yes", words: &["yes"], value: DraftChoice::Take };
const EDIT: Choice<DraftChoice> =
    Choice { letter: "e", label: "edit", words: &["edit"], value: DraftChoice::Edit };
const LEAVE: Choice<DraftChoice> =
    Choice { letter: "n", label: "no", words: &["no", "q", "quit"], value: DraftChoice::Leave };

/// A sentence of the words.
fn capitalised(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).chain(['.']).collect()
}

impl Draft<'_> {
    /// Prints the text, and gives it back as the user accepts it; none where they decline. With `yes` they are not asked.
    ///
    /// # Errors
    /// Without a terminal to ask at.
    pub(crate) fn decide(&self, text: &str, yes: bool) -> Result<Option<String>, Failure> {
        // What is taken is what was shown.
        let text = sanitize(text).into_owned();
        ui::out(&text);
        let (_, otherwise) = self.words;
        if yes {
            return Ok(Some(text));
        }
        if !Env::can_ask() {
            return Err(Failure::new(format!("{otherwise}: there is no terminal to ask at"))
                .help("--no-confirm does not ask; the text is printed above"));
        }
        let taken = self.ask(text)?;
        if taken.is_none() {
            ui::note(capitalised(otherwise));
        }
        Ok(taken)
    }

    fn ask(&self, mut text: String) -> Result<Option<String>, Failure> {
        // At a question, Ctrl-C ends the program at once.
        let thrown = Cancel::new();
        thrown.cancel();
        self.interrupts.aim(&thrown);
        loop {
            match choose(self.words.0, &[TAKE, EDIT, LEAVE], &mut read_at_terminal) {
                Some(DraftChoice::Take) => return Ok(Some(text)),
                Some(DraftChoice::Leave) | None => return Ok(None),
                Some(DraftChoice::Edit) => {
                    if let Some(edited) = self.edit(&text)? {
                        text = edited;
                        ui::out(sanitize(&text));
                    }
                }
            }
        }
    }

    /// The text as the person's editor leaves it; none where it is to stay as it is, which is told.
    fn edit(&self, text: &str) -> Result<Option<String>, Failure> {
        let file = self.git.own_file(self.file_name)?;
        let failed = |error: io::Error| {
            Failure::new(format!("{} cannot be edited: {error}", file.display()))
        };
        fs::write(&file, format!("{text}\n")).map_err(failed)?;
        // The variable may hold arguments: `code --wait`.
        let line = format!("{} \"$@\"", self.env.editor());
        let invocation = Invocation {
            program: "sh".into(),
            args: vec!["-c".into(), line.into(), "editor".into(), file.clone().into()],
            cwd: self.git.folder.to_owned(),
            env: self.git.vars.clone(),
            stdin: Vec::new(),
            streams: Streams::Separate,
            limits: Limits::default(),
        };
        let end = self.interrupts.while_away(|| tenter_proc::interactive(&invocation));
        if !end.is_success() {
            ui::note(format!("The editor {}, so the text stays as it was.", how(&end)));
            return Ok(None);
        }
        let edited = fs::read_to_string(&file).map_err(failed)?.trim_end().to_owned();
        if edited.trim().is_empty() {
            ui::note("Nothing is left of the text, so it stays as it was.");
            return Ok(None);
        }
        Ok(Some(edited))
    }
}
