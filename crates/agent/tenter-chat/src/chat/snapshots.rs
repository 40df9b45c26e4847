//! The snapshots of a chat: begins and ends turns, and tells the model what the user undid.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenter_agent::snapshot::{Direction, Recorder, RecorderSettings};
use tenter_agent::tools::Workspace;
use tenter_commands::project::Project;
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::{Failure, now, ui};

use crate::agent::AgentArgs;

/// Maximum number of files named to the model.
const NAMED: usize = 50;

/// The snapshots of a chat, unless they are off.
pub(super) struct Snapshots {
    recorder: Option<Arc<Recorder>>,
    /// The directory that shown paths are relative to.
    cwd: PathBuf,
}

impl Snapshots {
    /// Opens the snapshots of the files that the agent may change; none with `--no-save`, or if the configuration turns them off.
    pub(super) fn open(project: &Project, args: &AgentArgs, workspace: &Workspace) -> Self {
        let is_on = !args.no_save && project.settings.snapshots;
        let settings = || RecorderSettings {
            directory: project.env.snapshot_dir(),
            roots: workspace.writable_roots(),
            clock: now,
        };
        let recorder = is_on.then(|| Arc::new(Recorder::new(settings())));
        Self { recorder, cwd: workspace.cwd().to_owned() }
    }

    /// Returns the recorder, for the agent.
    pub(super) fn recorder(&self) -> Option<Arc<Recorder>> {
        self.recorder.clone()
    }

    /// Returns the recorder, for a command.
    ///
    /// # Errors
    /// Snapshots are off.
    pub(super) fn required(&self) -> Result<&Recorder, Failure> {
        self.recorder.as_deref().ok_or_else(|| {
            Failure::usage("this chat keeps no snapshots of files")
                .help("start it without --no-save and without `snapshots = false` in config.toml")
        })
    }

    /// Returns a path as it is shown: relative to the working directory where it is inside.
    pub(super) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.cwd).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// Begins a turn. Returns what the model should know about files that the user restored.
    pub(super) fn begin(&self, conversation: &str, message: &str) -> Vec<String> {
        let Some(recorder) = &self.recorder else { return Vec::new() };
        let news = recorder.news(conversation).unwrap_or_else(|error| {
            warn("what was undone cannot be read", &error);
            Vec::new()
        });
        recorder.begin(conversation, message);
        news.iter().map(|(direction, paths)| self.note(*direction, paths)).collect()
    }

    /// Ends a turn. `was_sent` says whether the model received the message.
    pub(super) fn end(&self, conversation: &str, was_sent: bool) {
        let Some(recorder) = &self.recorder else { return };
        if was_sent && let Err(error) = recorder.mark_news_as_read(conversation) {
            warn("what the model knows cannot be recorded", &error);
        }
        if let Err(error) = recorder.end() {
            warn("not every change of files can be undone", &error);
        }
    }

    /// Returns a note for the model.
    fn note(&self, direction: Direction, paths: &BTreeSet<PathBuf>) -> String {
        let names: Vec<String> = paths.iter().take(NAMED).map(|path| self.shown(path)).collect();
        let more = paths.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let what = match direction {
            Direction::Undo => "The user undid your changes of these files; they are as before",
            Direction::Redo => "The user restored your changes of these files",
        };
        format!(
            "{what}: {}{more}. Read a file again before you rely on its content.",
            names.join(", ")
        )
    }
}

fn warn(what: &str, error: &dyn Display) {
    let message = format!("{what}: {error}");
    ui::diagnostics([&Diagnostic::new("snapshots", Severity::Warning, message)]);
}

/// Returns the failure of a command that cannot read or write snapshots.
pub(super) fn failed(error: &io::Error) -> Failure {
    Failure::new(format!("cannot use the snapshots: {error}"))
}
