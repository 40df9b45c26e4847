//! Commands that run with fewer rights: the launcher starts them (F12).

use std::path::{Path, PathBuf};

use tenter_base::private_dir;
use tenter_proc::Invocation;
use tenter_protocol::confinement::Confinement;
use uuid::Uuid;

use super::ToolContext;
use super::error::ToolError;

/// Returns the path of the note that the launcher leaves for this call; `None` for a call that is not confined.
///
/// # Errors
/// The directory of notes cannot be created.
pub(super) fn note(context: &ToolContext<'_>) -> Result<Option<PathBuf>, ToolError> {
    if context.confinements.is_empty() {
        return Ok(None);
    }
    let directory = context.workspace.note_directory();
    private_dir::create(&directory).map_err(|error| ToolError::at(&directory, &error))?;
    Ok(Some(directory.join(format!("{}.json", Uuid::now_v7()))))
}

/// Returns the invocation of the launcher for a confined command, and the same invocation for any other.
///
/// # Errors
/// There is no launcher: the command must not run.
pub(super) fn confine(
    invocation: Invocation,
    note: Option<&Path>,
    context: &ToolContext<'_>,
) -> Result<Invocation, ToolError> {
    if note.is_none() {
        return Ok(invocation);
    }
    let launch = Launch {
        launcher: context.workspace.launcher(),
        project: context.workspace.project(),
        confinements: context.confinements,
    };
    let launched = launch.invocation(invocation, note);
    launched.map_err(|why| ToolError::new(format!("the command must be confined: {why}")))
}

/// The start of a program with fewer rights.
pub(crate) struct Launch<'l> {
    /// The launcher.
    pub(crate) launcher: Option<&'l Path>,
    /// The project's root.
    pub(crate) project: &'l Path,
    /// The confinements, of which all apply.
    pub(crate) confinements: &'l [Confinement],
}

impl Launch<'_> {
    /// Returns the invocation of the launcher for this program. It leaves a note in the file `note`.
    ///
    /// # Errors
    /// There is no launcher: the program must not run.
    pub(crate) fn invocation(
        &self,
        program: Invocation,
        note: Option<&Path>,
    ) -> Result<Invocation, String> {
        let launcher = self.launcher.ok_or("this agent has no launcher")?;
        let spec = serde_json::to_string(self.confinements).map_err(|error| error.to_string())?;
        let mut args = vec!["confine".into(), "--spec".into(), spec.into(), "--project".into()];
        args.push(self.project.into());
        args.extend(note.into_iter().flat_map(|note| ["--check-in".into(), note.into()]));
        args.extend(["--".into(), program.program.into()]);
        args.extend(program.args);
        Ok(Invocation { program: launcher.to_owned(), args, ..program })
    }
}
