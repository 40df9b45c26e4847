//! The files of sessions: found by a hash of the ids, changed under a lock, removed after a week.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, io, thread};

use tenter_base::{FileLock, private_dir, replace_file, untrusted_file};

use super::GuardRecord;
use super::limits::Record;
use crate::digest::digest;

/// Maximum time to wait for another process that changes the same session.
const MAX_LOCK_WAIT: Duration = Duration::from_millis(50);
/// The pause before the lock is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(1);
/// The time without an event after which a session is deleted.
const LIFETIME: Duration = Duration::from_hours(7 * 24);
/// Minimum time between two removals of old files.
const SWEEP_INTERVAL: Duration = Duration::from_hours(24);

/// The directory that holds the files of all sessions.
#[derive(Debug, Clone)]
pub(crate) struct StateDir(PathBuf);

/// The files of one session.
#[derive(Debug)]
pub(crate) struct SessionState {
    files: Files,
    /// The state as it was last read or written.
    state: GuardRecord,
    /// The reason why the guards' record cannot be read.
    unreadable: Option<String>,
    /// The reason why the guards' record cannot be read or written.
    guards_error: Option<String>,
    /// The reason why the work record cannot be read or written.
    work_error: Option<String>,
}

/// The files of a session's records.
#[derive(Debug)]
struct Files {
    /// The guards' record.
    guards: PathBuf,
    /// The work record.
    work: PathBuf,
}

impl StateDir {
    /// Returns the directory of sessions in the user's state directory.
    pub(crate) fn new(state: &Path) -> Self {
        Self(state.join("bridge/sessions"))
    }

    /// Reads the state of a session. A session without files is new.
    pub(crate) fn session(&self, host: &str, session: &str) -> SessionState {
        let files = Files::new(&self.0, host, session);
        let mut session = SessionState {
            files,
            state: GuardRecord::default(),
            unreadable: None,
            guards_error: None,
            work_error: None,
        };
        session.read();
        session
    }

    /// Removes the files of sessions that had no event for a week, at most once a day. `now` is the present time.
    pub(crate) fn sweep(&self, now: SystemTime) {
        let last_sweep = self.0.with_file_name("last-sweep");
        let time = fs::metadata(&last_sweep).and_then(|metadata| metadata.modified());
        if time.is_ok_and(|time| now.duration_since(time).is_ok_and(|age| age < SWEEP_INTERVAL)) {
            return;
        }
        // If it cannot be written, the next session sweeps again.
        let _ = fs::File::create(&last_sweep).and_then(|file| file.set_modified(now));
        // Next to the sessions: texts that were too long for the host, conversations, remainders of killed processes, and summaries
        // of hooks.
        let directories = ["sessions", "contexts", "conversations", "pending", "concerns"]
            .map(|name| self.0.with_file_name(name));
        let entries = directories.iter().filter_map(|directory| fs::read_dir(directory).ok());
        for entry in entries.flatten().flatten() {
            let age = entry.metadata().and_then(|metadata| metadata.modified());
            let is_old =
                age.is_ok_and(|time| now.duration_since(time).is_ok_and(|age| age > LIFETIME));
            if is_old {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

impl SessionState {
    /// Returns the state as it was last read or written.
    pub(crate) fn get(&self) -> &GuardRecord {
        &self.state
    }

    /// Returns why the state cannot be read or written. Changes are only visible in this process then.
    pub(crate) fn error(&self) -> Option<&str> {
        self.guards_error.as_deref().or(self.work_error.as_deref())
    }

    /// Returns why the guards of the session are unknown.
    pub(crate) fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// Changes the session. `change` sees the changes of all other processes. Only changed records are written. They are cut to their
    /// limits, also for this process.
    pub(crate) fn update<T>(&mut self, change: impl FnOnce(&mut GuardRecord) -> T) -> T {
        let lock = match self.guards_error {
            Some(_) => None,
            None => self.lock_and_read(),
        };
        let before = self.state.clone();
        let result = change(&mut self.state);
        if self.state != before {
            self.state.cut();
            self.state.work.cut();
        }
        if let Some(_lock) = lock {
            self.write_unless(&before);
        }
        result
    }

    fn lock_and_read(&mut self) -> Option<FileLock> {
        let lock = self.lock();
        match lock {
            Ok(lock) => {
                self.read();
                Some(lock)
            }
            Err(error) => {
                self.guards_error = Some(file_error(&self.files.guards, &error));
                None
            }
        }
    }

    fn lock(&self) -> io::Result<FileLock> {
        let (path, start) = (self.files.guards.with_extension("lock"), Instant::now());
        private_dir::enforce(path.parent().unwrap_or(&path))?;
        loop {
            if let Some(lock) = FileLock::try_acquire(&path)? {
                return Ok(lock);
            }
            if start.elapsed() > MAX_LOCK_WAIT {
                return Err(io::Error::other("another process holds its lock"));
            }
            thread::sleep(LOCK_PAUSE);
        }
    }

    /// Reads both records. A record that cannot be read or written keeps its last value.
    fn read(&mut self) {
        if self.guards_error.is_none() {
            match read::<GuardRecord>(&self.files.guards) {
                Ok(guards) => {
                    let work = std::mem::take(&mut self.state.work);
                    self.state = GuardRecord { work, ..guards };
                }
                Err(error) => {
                    let why = file_error(&self.files.guards, &error);
                    self.guards_error = Some(why.clone());
                    self.unreadable = Some(why);
                }
            }
        }
        if self.work_error.is_none() {
            match read(&self.files.work) {
                Ok(work) => self.state.work = work,
                Err(error) => self.work_error = Some(file_error(&self.files.work, &error)),
            }
        }
    }

    /// Writes the records that changed. An error in one does not affect the other.
    fn write_unless(&mut self, before: &GuardRecord) {
        let Self { state, files, .. } = self;
        if self.guards_error.is_none() {
            let result = write_unless(&files.guards, state, before);
            self.guards_error = result.err().map(|error| file_error(&files.guards, &error));
        }
        if self.work_error.is_none() {
            let result = write_unless(&files.work, &state.work, &before.work);
            self.work_error = result.err().map(|error| file_error(&files.work, &error));
        }
    }
}

fn file_error(file: &Path, error: &io::Error) -> String {
    format!("{}: {error}", file.display())
}

impl Files {
    /// Returns the files of a session. The ids come from a host, so they are not part of a path.
    fn new(directory: &Path, host: &str, session: &str) -> Self {
        let name = digest(&[host, session]);
        Self {
            guards: directory.join(format!("{name}.json")),
            work: directory.join(format!("{name}.work.json")),
        }
    }
}

fn read<R: Record>(file: &Path) -> io::Result<R> {
    match untrusted_file::read_no_follow(file, R::MAX_BYTES as u64) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::other),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(R::default()),
        Err(error) => Err(error),
    }
}

fn write_unless<R: Record>(file: &Path, record: &R, before: &R) -> io::Result<()> {
    if record == before {
        return Ok(());
    }
    let bytes = serde_json::to_vec(record).map_err(io::Error::other)?;
    if serde_json::to_vec(before).is_ok_and(|before| before == bytes) {
        return Ok(());
    }
    if bytes.len() > R::MAX_BYTES {
        return Err(io::Error::other("it would be too large to be read again"));
    }
    replace_file::replace_with_mode(file, &bytes, Some(0o600)).map(drop)
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
        assert!(!session.files.work.exists(), "nothing of it changed");
    }

    #[test]
    fn changes_of_several_processes_are_all_kept() {
        let scratch = tempfile::tempdir().unwrap();
        let states = StateDir::new(scratch.path());
        let mut first = states.session("claude-code", "s");
        let mut second = states.session("claude-code", "s");
        first.update(|state| state.notice_once("a"));
        second.update(|state| state.notice_once("b"));
        let session = states.session("claude-code", "s");
        assert!(session.get().has_noticed("a") && session.get().has_noticed("b"));
    }

    #[test]
    fn a_broken_file_is_reported_and_left_alone() {
        let scratch = tempfile::tempdir().unwrap();
        let states = StateDir::new(scratch.path());
        let files = Files::new(&states.0, "claude-code", "s");
        private_dir::create_parent(&files.work).unwrap();
        fs::write(&files.work, "{").unwrap();
        let mut session = states.session("claude-code", "s");
        session.update(|state| state.opened = true);
        assert!(session.error().is_some() && session.unreadable().is_none());
        assert!(states.session("claude-code", "s").get().opened, "what may grow breaks no guard");
        fs::write(&files.guards, "{").unwrap();
        let mut session = states.session("claude-code", "s");
        session.update(|state| state.opened = true);
        assert!(session.error().is_some() && session.unreadable().is_some());
        for file in [files.guards, files.work] {
            assert_eq!(fs::read_to_string(&file).unwrap(), "{");
        }
    }

    #[test]
    fn old_sessions_are_removed() {
        let scratch = tempfile::tempdir().unwrap();
        let states = StateDir::new(scratch.path());
        let mut session = states.session("claude-code", "s");
        session.update(|state| state.opened = true);
        let mtime = fs::metadata(&session.files.guards).unwrap().modified().unwrap();
        let text = scratch.path().join("bridge/contexts/x.txt");
        private_dir::create_parent(&text).unwrap();
        fs::write(&text, "x").unwrap();
        states.sweep(mtime + LIFETIME / 2);
        assert!(session.files.guards.exists() && text.exists());
        states.sweep(mtime + LIFETIME * 2);
        assert!(!session.files.guards.exists() && !text.exists());
    }

    #[test]
    fn old_sessions_are_looked_for_once_a_day() {
        let scratch = tempfile::tempdir().unwrap();
        let states = StateDir::new(scratch.path());
        let text = scratch.path().join("bridge/contexts/x.txt");
        private_dir::create_parent(&text).unwrap();
        let write = || {
            fs::write(&text, "x").unwrap();
            fs::metadata(&text).unwrap().modified().unwrap()
        };
        let now = write() + LIFETIME * 2;
        states.sweep(now);
        assert!(!text.exists());
        write();
        states.sweep(now + SWEEP_INTERVAL / 2);
        assert!(text.exists());
        states.sweep(now + SWEEP_INTERVAL);
        assert!(!text.exists());
    }
}
