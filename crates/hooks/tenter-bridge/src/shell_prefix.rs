//! Confined commands of Claude Code, whose own rules compare a command as hooks rewrote it: the command stays as it is, and the program that
//! `CLAUDE_CODE_SHELL_PREFIX` names confines it. The hook leaves what it decided for the program (F12).

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenter_base::{private_dir, untrusted_file};
use tenter_protocol::confinement::Confinement;

use crate::digest::digest;

/// The variable with the program that Claude Code runs commands with.
pub const VARIABLE: &str = "CLAUDE_CODE_SHELL_PREFIX";
/// The variable with the session's id.
pub const SESSION: &str = "CLAUDE_CODE_SESSION_ID";
/// The argument with which our program is that prefix.
pub const ARGUMENT: &str = "--shell-prefix";

/// Returns true if the value of the variable starts our program.
pub(crate) fn is_ours(value: &str) -> bool {
    value.ends_with(ARGUMENT) && value.contains("tenter-hook")
}

/// Maximum size of what a hook leaves, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// A command that is to run confined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingCommand {
    /// The command, as the model wrote it.
    pub command: String,
    /// The confinements.
    pub confinements: Vec<Confinement>,
    /// The project root.
    pub project: PathBuf,
    /// The note that the launcher leaves.
    pub note: Option<PathBuf>,
}

impl PendingCommand {
    /// Leaves the command for the program.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn leave(&self, state: &Path, session: &str, id: &str) -> io::Result<()> {
        let directory = directory(state, session);
        private_dir::create(&directory)?;
        fs::write(directory.join(digest(&[id, &self.command])), serde_json::to_vec(self)?)
    }

    /// Takes the pending command that `text`, what Claude Code hands to a shell, contains as one word. Each is taken once.
    pub fn take(state: &Path, session: &str, text: &str) -> Option<Self> {
        let words = shlex::split(text)?;
        let entries = fs::read_dir(directory(state, session)).ok()?;
        for path in entries.flatten().map(|entry| entry.path()) {
            let bytes = untrusted_file::read(&path, MAX_BYTES).unwrap_or_default();
            let Ok(pending) = serde_json::from_slice::<Self>(&bytes) else { continue };
            if words.contains(&pending.command) && fs::remove_file(&path).is_ok() {
                return Some(pending);
            }
        }
        None
    }

    /// Lets the confined command write the file in which Claude Code's own last step notes the working directory.
    #[must_use]
    pub fn with_directory_file(mut self, text: &str) -> Self {
        let Some((_, rest)) = text.rsplit_once(">|") else { return self };
        let file = shlex::split(rest).and_then(|words| words.into_iter().next());
        let Some(file) = file.filter(|file| Path::new(file).is_absolute()) else { return self };
        // Only an existing file can be allowed. A new one is created here, never through a symlink.
        let _ = File::create_new(&file);
        for places in self.confinements.iter_mut().filter_map(|one| one.write.as_mut()) {
            places.push(file.clone());
        }
        self
    }
}

fn directory(state: &Path, session: &str) -> PathBuf {
    state.join("confined/pending").join(digest(&[session]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(command: &str) -> PendingCommand {
        PendingCommand {
            command: command.to_owned(),
            confinements: vec![Confinement::built_in("pure").unwrap()],
            project: "/p".into(),
            note: None,
        }
    }

    #[test]
    fn only_the_session_and_the_whole_command_match_and_each_once() {
        let state = tempfile::tempdir().unwrap();
        let command = "make 'a b' && echo done";
        pending(command).leave(state.path(), "s", "1").unwrap();
        let text = |command: &str| {
            let word = shlex::try_quote(command).unwrap();
            format!("source /s.sh && eval {word} \\< /dev/null && pwd -P >| /tmp/claude-1-cwd")
        };
        let take = |session: &str, command: &str| {
            PendingCommand::take(state.path(), session, &text(command))
        };
        assert_eq!(take("other", command), None);
        assert_eq!(take("s", "make"), None);
        assert_eq!(take("s", command), Some(pending(command)));
        assert_eq!(take("s", command), None);
    }

    #[test]
    fn the_last_step_of_claude_code_may_write_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("cwd");
        let text = format!("eval ls && pwd -P >| {}", file.display());
        let pending = pending("ls").with_directory_file(&text);
        let places = pending.confinements[0].write.as_ref().unwrap();
        assert_eq!(*places, [file.display().to_string()]);
        assert!(file.exists());
    }
}
