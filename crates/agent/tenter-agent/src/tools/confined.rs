//! Commands that run with fewer rights: the launcher starts them (F12).

use std::path::{Path, PathBuf};

use tenter_base::private_dir;
use tenter_proc::Invocation;
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
pub(super) fn launched(
    invocation: Invocation,
    note: Option<&Path>,
    context: &ToolContext<'_>,
) -> Result<Invocation, ToolError> {
    let Some(note) = note else { return Ok(invocation) };
    let refused = |why: &str| ToolError::new(format!("the command must be confined: {why}"));
    let launcher =
        context.workspace.launcher().ok_or_else(|| refused("this agent has no launcher"))?;
    let spec =
        serde_json::to_string(context.confinements).map_err(|error| refused(&error.to_string()))?;
    let project = context.workspace.project().to_owned();
    let mut args = vec!["confine".into(), "--spec".into(), spec.into(), "--project".into()];
    args.extend([project.into(), "--check-in".into(), note.into(), "--".into()]);
    args.push(invocation.program.into());
    args.extend(invocation.args);
    Ok(Invocation { program: launcher.to_owned(), args, ..invocation })
}
