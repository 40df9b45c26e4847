//! The files of sessions: found by a hash of the ids, changed under a lock, removed after a week.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use sha2::{Digest as _, Sha256};
use tenter_base::{FileLock, hex, private_dir, replace_file, untrusted_file};

use super::State;

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// How long a process waits for another that changes the same session.
const LOCK_PATIENCE: Duration = Duration::from_millis(50);
/// How long to wait before the lock is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(1);
/// Sessions without an event for this long are forgotten.
const LIFETIME: Duration = Duration::from_hours(7 * 24);

/// The directory that holds the files of all sessions.
#[derive(Debug, Clone)]
pub(crate) struct StateDir(PathBuf);

/// The file of one session.
#[derive(Debug)]
pub(crate) struct SessionState {
    file: PathBuf,
    /// The state as it was last read or written.
    state: State,
    trouble: Option<String>,
}

impl StateDir {
    /// The directory of sessions in the user's state directory.
    pub(crate) fn new(state: &Path) -> Self {
        Self(state.join("bridge/sessions"))
    }

    /// Reads the state of a session; nothing is known of a session without a file.
    pub(crate) fn session(&self, host: &str, session: &str) -> SessionState {
        let file = self.0.join(name(host, session));
        let (state, trouble) = match read(&file) {
            Ok(state) => (state, None),
            Err(error) => (State::default(), Some(format!("{}: {error}", file.display()))),
        };
        SessionState { file, state, trouble }
    }

    /// Removes the files of sessions that had no event for a week. `now` is the present time.
    pub(crate) fn sweep(&self, now: SystemTime) {
        // Beside the sessions: texts that were too long for the host, what killed processes left to do, and what hooks are about.
        let directories =
            ["sessions", "contexts", "pending", "concerns"].map(|name| self.0.with_file_name(name));
        let entries = directories.iter().filter_map(|directory| fs::read_dir(directory).ok());
        for entry in entries.flatten().flatten() {
            let age = entry.metadata().and_then(|found| found.modified());
            let is_old =
                age.is_ok_and(|time| now.duration_since(time).is_ok_and(|age| age > LIFETIME));
            if is_old {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

impl SessionState {
    /// The state as it was last read or written.
    pub(crate) fn get(&self) -> &State {
        &self.state
    }

    /// Why the state cannot be read or written, if it cannot: what is changed is then only known to this process.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Changes the session. `change` sees the changes of all other processes. Nothing is written where nothing changes.
    pub(crate) fn update<T>(&mut self, change: impl FnOnce(&mut State) -> T) -> T {
        if self.trouble.is_some() {
            return change(&mut self.state);
        }
        let lock = self.lock_and_read();
        let before = self.state.clone();
        let result = change(&mut self.state);
        let written = lock.and_then(|_lock| self.write_unless(&before));
        if let Err(error) = written {
            self.trouble = Some(format!("{}: {error}", self.file.display()));
        }
        result
    }

    fn lock_and_read(&mut self) -> io::Result<FileLock> {
        if let Some(directory) = self.file.parent() {
            private_dir::enforce(directory)?;
        }
        let lock = self.lock()?;
        self.state = read(&self.file)?;
        Ok(lock)
    }

    fn lock(&self) -> io::Result<FileLock> {
        let (path, start) = (self.file.with_extension("lock"), Instant::now());
        loop {
            if let Some(lock) = FileLock::try_acquire(&path)? {
                return Ok(lock);
            }
            if start.elapsed() > LOCK_PATIENCE {
                return Err(io::Error::other("another process holds its lock"));
            }
            thread::sleep(LOCK_PAUSE);
        }
    }

    fn write_unless(&self, before: &State) -> io::Result<()> {
        if self.state == *before {
            return Ok(());
        }
        let bytes = serde_json::to_vec(&self.state).map_err(io::Error::other)?;
        replace_file::replace_with_mode(&self.file, &bytes, Some(0o600)).map(drop)
    }
}

/// The file's name. The ids come from a host, so they are not part of a path.
fn name(host: &str, session: &str) -> String {
    format!("{}.json", digest(&[host, session]))
}

/// A name for these texts, of letters and digits.
pub(crate) fn digest(texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    hex(&hasher.finalize())
}

fn read(file: &Path) -> io::Result<State> {
    match untrusted_file::read_no_follow(file, MAX_BYTES) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::other),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(State::default()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_read_by_the_next_process_and_by_no_other_session() {
        let scratch = tempfile::tempdir().unwrap();
        let states = StateDir::new(scratch.path());
        let mut session = states.session("claude-code", "../../x");
        session.update(|state| state.opened = true);
        assert!(states.session("claude-code", "../../x").get().opened);
        assert!(!states.session("codex", "../../x").get().opened);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1, "an id is no path");
    }

    #[test]
    fn changes_of_several_processes_are_all_kept() {
        let scratch = tempfile::tempdir().unwrap();
        let states = StateDir::new(scratch.path());
        let mut first = states.session("claude-code", "s");
        let mut second = states.session("claude-code", "s");
        first.update(|state| state.noticed.insert("a".to_owned()));
        second.update(|state| state.noticed.insert("b".to_owned()));
        assert_eq!(states.session("claude-code", "s").get().noticed.len(), 2);
    }

    #[test]
    fn a_broken_file_is_reported_and_left_alone() {
        let scratch = tempfile::tempdir().unwrap();
        let states = StateDir::new(scratch.path());
        let file = states.0.join(name("claude-code", "s"));
        private_dir::create_parent(&file).unwrap();
        fs::write(&file, "{").unwrap();
        let mut session = states.session("claude-code", "s");
        session.update(|state| state.opened = true);
        assert!(session.trouble().is_some());
        assert_eq!(fs::read_to_string(&file).unwrap(), "{");
    }

    #[test]
    fn old_sessions_are_removed() {
        let scratch = tempfile::tempdir().unwrap();
        let states = StateDir::new(scratch.path());
        let mut session = states.session("claude-code", "s");
        session.update(|state| state.opened = true);
        let written = fs::metadata(&session.file).unwrap().modified().unwrap();
        let text = scratch.path().join("bridge/contexts/x.txt");
        private_dir::create_parent(&text).unwrap();
        fs::write(&text, "x").unwrap();
        states.sweep(written + LIFETIME / 2);
        assert!(session.file.exists() && text.exists());
        states.sweep(written + LIFETIME * 2);
        assert!(!session.file.exists() && !text.exists());
    }
}
