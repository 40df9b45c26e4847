//! A project with a recorder of its turns.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;
use tenter_proc::Cancel;

use super::super::*;

pub(super) const ID: &str = "01a20060-e872-73af-9a25-ba7a128ce65f";

pub(super) struct Bench {
    pub(super) scratch: TempDir,
    pub(super) recorder: Recorder,
}

#[expect(clippy::disallowed_methods, reason = "files have the times of the system's clock")]
pub(super) fn now() -> Timestamp {
    Timestamp::now()
}

pub(super) fn recorder(scratch: &Path) -> Recorder {
    let settings = RecorderSettings {
        directory: scratch.join("snapshots"),
        roots: vec![scratch.canonicalize().unwrap().join("project")],
        clock: now,
    };
    Recorder::new(settings)
}

impl Bench {
    pub(super) fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir(scratch.path().join("project")).unwrap();
        let recorder = recorder(scratch.path());
        Self { scratch, recorder }
    }

    /// Returns the same after the process died.
    pub(super) fn restarted(self) -> Self {
        let recorder = recorder(self.scratch.path());
        Self { recorder, ..self }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.recorder.settings.roots[0].join(name)
    }

    pub(super) fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Waits until a recorder takes the times of the files as final.
    pub(super) fn age_files() {
        let last = now().as_nanosecond();
        let is_over = || now().as_nanosecond() - last > 2 * survey::YOUNG_NS;
        tenter_testkit::wait_until("the files are old", is_over);
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Takes a turn in which a command does something.
    pub(super) fn command(&self, work: impl FnOnce()) {
        self.recorder.begin(ID, "go");
        self.recorder.before_anything(&Cancel::new());
        work();
        self.recorder.end().unwrap();
    }

    /// Takes a turn in which a file tool writes.
    pub(super) fn tool(&self, name: &str, content: &str) {
        self.recorder.begin(ID, "write");
        self.recorder.before_file(&self.path(name));
        self.write(name, content);
        self.recorder.end().unwrap();
    }

    pub(super) fn undo(&self) -> Option<RestoreResult> {
        let plan = self.recorder.plan_undo(ID).unwrap()?;
        Some(self.recorder.restore(ID, plan, false).unwrap())
    }

    pub(super) fn redo(&self) -> Option<RestoreResult> {
        let plan = self.recorder.plan_redo(ID).unwrap()?;
        Some(self.recorder.restore(ID, plan, false).unwrap())
    }

    pub(super) fn statuses(&self) -> BTreeMap<String, StepStatus> {
        let plan = self.recorder.plan_undo(ID).unwrap().unwrap();
        let name = |path: &Path| {
            path.strip_prefix(&self.recorder.settings.roots[0]).unwrap().display().to_string()
        };
        plan.steps.iter().map(|step| (name(&step.path), step.status.clone())).collect()
    }

    fn database(&self) -> Connection {
        Connection::open(self.scratch.path().join("snapshots/snapshots.db")).unwrap()
    }

    /// Executes SQL on the database.
    pub(super) fn sql(&self, sql: &str) {
        self.database().execute_batch(sql).unwrap();
    }

    /// Returns the values of a query with one column.
    pub(super) fn column(&self, sql: &str) -> Vec<String> {
        let database = self.database();
        let mut statement = database.prepare(sql).unwrap();
        let text = |value: Value| match value {
            Value::Integer(number) => number.to_string(),
            Value::Text(text) => text,
            other => panic!("{other:?}"),
        };
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(|value| text(value.unwrap())).collect()
    }

    /// Returns everything in the project: content or target, and permission bits.
    pub(super) fn tree(&self) -> BTreeMap<String, (String, u32)> {
        fn collect(directory: &Path, tree: &mut BTreeMap<String, (String, u32)>) {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let metadata = path.symlink_metadata().unwrap();
                let mode = metadata.permissions().mode() & 0o7777;
                let what = if metadata.is_dir() {
                    collect(&path, tree);
                    "a directory".to_owned()
                } else if metadata.is_symlink() {
                    format!("-> {}", fs::read_link(&path).unwrap().display())
                } else {
                    String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()
                };
                tree.insert(path.display().to_string(), (what, mode));
            }
        }
        let mut tree = BTreeMap::new();
        collect(&self.recorder.settings.roots[0], &mut tree);
        tree
    }
}
