//! `tenter config edit`: the user edits a copy, which replaces the file once it is valid.

use std::fs;
use std::io::Write as _;

use tempfile::TempPath;
use tenter_base::visible;
use tenter_engine::inspect::HookEnvironment;
use tenter_proc::Cancel;
use tenter_terminal::question::{Choice, choose, read_at_terminal};
use tenter_terminal::signals::Interrupts;
use tenter_terminal::{CommandResult, Env, Exit, Failure, editor, ui};

use super::file::{ConfigFile, FileChoice};
use crate::git::how;

/// The content of a new file.
const NEW: &str = "# Settings of Tenter. `tenter help configuration` lists the keys.\n";

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub(super) file: FileChoice,
}

/// The next step after an invalid text.
#[derive(Clone, Copy)]
enum Next {
    Edit,
    Discard,
}

const EDIT: Choice<Next> =
    Choice { letter: "e", label: "edit again", words: &["edit", "y", "yes"], value: Next::Edit };
const DISCARD: Choice<Next> =
    Choice { letter: "d", label: "discard the changes", words: &["discard"], value: Next::Discard };

/// A private copy of the file that the user edits. It is removed when it is dropped.
struct Copy {
    path: TempPath,
}

impl Copy {
    fn create(text: &str) -> Result<Self, Failure> {
        // Editors recognise the format by the name.
        let copy = tempfile::Builder::new().prefix("tenter-config-").suffix(".toml").tempfile();
        let copy = copy.and_then(|mut copy| copy.write_all(text.as_bytes()).map(|()| copy));
        let path = copy.map_err(|error| Failure::new(format!("cannot copy the file: {error}")))?;
        Ok(Self { path: path.into_temp_path() })
    }

    fn read(&self) -> std::io::Result<String> {
        fs::read_to_string(&self.path)
    }

    /// Keeps the copy, and reports why the file is unchanged.
    fn keep(self, why: &str) -> Failure {
        let failure = Failure::new(format!("{why}; the file is unchanged"));
        match self.path.keep() {
            Ok(path) => failure.help(format!("your text is in {}", path.display())),
            Err(error) => failure.help(format!("your text is lost: {error}")),
        }
    }
}

pub(super) fn run(env: &Env, file: &ConfigFile) -> CommandResult {
    let old = file.read()?;
    let initial = if old.is_empty() { NEW } else { &old };
    let copy = Copy::create(initial)?;
    let interrupts = Interrupts::catch(&Cancel::new())?;
    // An invalid file does not say which variables hold keys.
    let vars = HookEnvironment::new(&env.vars, &[]).base().clone();
    loop {
        let end = editor::open(env, &interrupts, &env.cwd, &vars, &copy.path);
        let text = match copy.read() {
            Ok(text) => text,
            Err(error) => return Err(copy.keep(&format!("cannot read the text: {error}"))),
        };
        let failure = Failure::new(format!("the editor {}", how(&end)))
            .help("set VISUAL or EDITOR to your editor");
        let problem = match file.check(&text) {
            _ if text == initial && !end.is_success() => return Err(failure),
            _ if text == initial => {
                ui::note("Nothing changed.");
                return Ok(Exit::Done);
            }
            Ok(findings) if end.is_success() => {
                let _lock = ConfigFile::lock(env)?;
                if file.read()? != old {
                    return Err(copy.keep("another program changed the file in the meantime"));
                }
                if let Err(failure) = file.replace(&text) {
                    return Err(copy.keep(&failure.message));
                }
                ui::diagnostics(&findings);
                ui::note(format!("Saved {}.", visible(&file.path.to_string_lossy())));
                return Ok(Exit::Done);
            }
            Ok(_) => failure,
            Err(failure) => failure,
        };
        ui::failure(&problem);
        match choose("What now?", &[EDIT, DISCARD], &mut read_at_terminal) {
            Some(Next::Edit) => {}
            Some(Next::Discard) => {
                ui::note("The changes were discarded.");
                return Ok(Exit::Failed);
            }
            None => return Err(copy.keep("the text is not valid")),
        }
    }
}
