//! Checkpoints: the files of a worktree as commits below a private ref. The user's branches, index and stash stay as they are, and
//! nothing pushes the refs.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use tenter_base::excerpt;
use tenter_proc::{Cancel, Completion, Invocation, Limits, ProcessEnd, Streams};

use crate::environment::Environment;

/// The refs. git keeps those below `refs/worktree` for each worktree of a repository.
const REFS: &str = "refs/worktree/tenter/checkpoints";
/// Maximum size of a file that git does not track yet, in bytes.
const MAX_UNTRACKED: u64 = 10 << 20;
/// Maximum number of bytes of a label.
const MAX_LABEL: usize = 200;
/// Settings that keep git from running programs that the repository names.
pub(crate) const GIT_SETTINGS: [&str; 6] =
    ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0"];

/// The number of the next private index: a process can make several checkpoints at the same time.
static NEXT_INDEX: AtomicU64 = AtomicU64::new(0);

/// The checkpoints of a worktree.
pub struct Checkpoints<'c> {
    /// A directory of the worktree.
    pub directory: &'c Path,
    /// The environment of git.
    pub environment: &'c Environment,
    /// The time limit of one call of git.
    pub timeout: Duration,
    /// Ends git.
    pub cancel: &'c Cancel,
}

/// A checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The id, such as `20261124-095308-412`.
    pub id: String,
    /// The time, in seconds since 1970.
    pub time: i64,
    /// The first line of the message.
    pub label: String,
}

/// The index of a checkpoint, a copy of the user's. It is removed in the end.
struct PrivateIndex(PathBuf);

impl Drop for PrivateIndex {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Checkpoints<'_> {
    /// Makes a checkpoint at this time, in milliseconds since 1970, and removes the oldest ones over `keep`. Returns its id, or `None` if
    /// no file changed since the last one.
    ///
    /// # Errors
    /// git failed; the text says why.
    pub fn create(&self, label: &str, now: i64, keep: usize) -> Result<Option<String>, String> {
        let index = self.index()?;
        let tree = self.tree(&index)?;
        let all = self.list()?;
        if let Some(last) = all.first()
            && self.git(&["rev-parse", &format!("{}^{{tree}}", reference(&last.id))])? == tree
        {
            return Ok(None);
        }
        let label = excerpt::one_line(label, MAX_LABEL);
        let head = self.git(&["rev-parse", "--verify", "--quiet", "HEAD"]).ok();
        let mut args = vec!["commit-tree", &tree, "-m", &label];
        args.extend(head.iter().flat_map(|head| ["-p", head.as_str()]));
        let commit = self.git(&args)?;
        let id = id(now);
        self.git(&["update-ref", &reference(&id), &commit])?;
        for old in all.iter().skip(keep.saturating_sub(1)) {
            self.git(&["update-ref", "-d", &reference(&old.id)])?;
        }
        Ok(Some(id))
    }

    /// Returns all checkpoints, the newest first.
    ///
    /// # Errors
    /// git failed.
    pub fn list(&self) -> Result<Vec<Checkpoint>, String> {
        let format = "--format=%(refname:lstrip=4)%00%(committerdate:unix)%00%(contents:subject)";
        let output = self.git(&["for-each-ref", "--sort=-refname", format, REFS])?;
        let checkpoint = |line: &str| {
            let mut parts = line.splitn(3, '\0');
            let (id, time) = (parts.next()?.to_owned(), parts.next()?.parse().ok()?);
            Some(Checkpoint { id, time, label: parts.next()?.to_owned() })
        };
        Ok(output.lines().filter_map(checkpoint).collect())
    }

    /// Returns the difference between a checkpoint and the present files: what a restore would undo, as git prints it.
    ///
    /// # Errors
    /// git failed.
    pub fn changes(&self, id: &str, args: &[&str]) -> Result<String, String> {
        let index = self.index()?;
        let tree = self.tree(&index)?;
        let reference = reference(id);
        let all: Vec<&str> = ["diff-tree", "-r", "--no-ext-diff", "--no-textconv"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        self.git(&[&all[..], &[&reference, &tree]].concat())
    }

    /// Makes the files as they were at a checkpoint. The present files become a checkpoint before, whose id is returned. Files that git
    /// ignores stay.
    ///
    /// # Errors
    /// git failed; no file or only some files changed.
    pub fn restore(&self, id: &str, now: i64, keep: usize) -> Result<Option<String>, String> {
        let reference = reference(id);
        self.git(&["rev-parse", "--verify", "--quiet", &reference])
            .map_err(|_| format!("there is no checkpoint {id}"))?;
        let target = self.git(&["rev-parse", &format!("{reference}^{{tree}}")])?;
        let before = self.create(&format!("Before the restore of {id}"), now, keep)?;
        let index = self.index()?;
        let present = self.tree(&index)?;
        self.git_with(Some(&index), &["read-tree", "-m", "-u", &present, &target], &[])?;
        Ok(before)
    }

    /// Returns a copy of the user's index, so that git knows which files did not change.
    fn index(&self) -> Result<PrivateIndex, String> {
        let path =
            |name: &str| self.git(&["rev-parse", "--path-format=absolute", "--git-path", name]);
        let number = NEXT_INDEX.fetch_add(1, Ordering::Relaxed);
        let name = format!("tenter-checkpoint-{}-{number}", std::process::id());
        let index = PrivateIndex(PathBuf::from(path(&name)?));
        match copy_with_time(Path::new(&path("index")?), &index.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(format!("cannot copy git's index: {error}"))
            }
            _ => Ok(index),
        }
    }

    /// Writes the present files as a tree, and returns its name.
    fn tree(&self, index: &PrivateIndex) -> Result<String, String> {
        let root = PathBuf::from(self.git(&["rev-parse", "--show-toplevel"])?);
        let top = Checkpoints { directory: &root, ..*self };
        top.git_with(Some(index), &["add", "--update"], &[])?;
        let untracked = ["ls-files", "--others", "--exclude-standard", "-z"];
        let untracked = top.git_with(Some(index), &untracked, &[])?;
        let is_small = |name: &&str| {
            let metadata = root.join(name).symlink_metadata();
            metadata.is_ok_and(|metadata| {
                metadata.is_symlink() || metadata.is_file() && metadata.len() <= MAX_UNTRACKED
            })
        };
        let names: Vec<&str> =
            untracked.split('\0').filter(is_small).filter(|name| !name.is_empty()).collect();
        if !names.is_empty() {
            top.git_with(
                Some(index),
                &["update-index", "--add", "-z", "--stdin"],
                names.join("\0").as_bytes(),
            )?;
        }
        top.git_with(Some(index), &["write-tree"], &[])
    }

    fn git(&self, args: &[&str]) -> Result<String, String> {
        self.git_with(None, args, &[])
    }

    fn git_with(
        &self,
        index: Option<&PrivateIndex>,
        args: &[&str],
        stdin: &[u8],
    ) -> Result<String, String> {
        let mut env = self.environment.clone();
        let identity =
            ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
        env.retain(|(name, _)| identity.iter().all(|variable| name != variable));
        env.extend(identity.map(|name| (name.into(), "tenter".into())));
        env.extend(index.map(|index| ("GIT_INDEX_FILE".into(), index.0.clone().into())));
        let completion = tenter_proc::run(
            &Invocation {
                program: "git".into(),
                args: GIT_SETTINGS.iter().chain(args).map(OsString::from).collect(),
                cwd: self.directory.to_owned(),
                env,
                stdin: stdin.to_vec(),
                streams: Streams::Separate,
                limits: Limits { timeout: self.timeout, keep: 16 << 20, ..Limits::default() },
            },
            self.cancel,
        );
        if completion.end.is_success() {
            return Ok(completion.stdout.text().trim_end_matches('\n').to_owned());
        }
        Err(format!("git {}: {}", args[0], why(&completion)))
    }
}

/// Copies an index with its time of modification. By that time git knows which files may have changed after it looked at them, and so
/// reads them again.
fn copy_with_time(from: &Path, to: &Path) -> io::Result<()> {
    let modified = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    File::options().write(true).open(to)?.set_modified(modified)
}

fn why(completion: &Completion) -> String {
    let words = completion.stderr.text();
    match &completion.end {
        ProcessEnd::Exited(_) if !words.trim().is_empty() => words.trim().to_owned(),
        ProcessEnd::Exited(code) => format!("it exited with code {code}"),
        ProcessEnd::Signalled(signal) => format!("it was ended by signal {signal}"),
        ProcessEnd::TimedOut => "it took too long".to_owned(),
        ProcessEnd::Cancelled => "it was interrupted".to_owned(),
        ProcessEnd::NotStarted(error) => format!("it cannot be started: {error}"),
    }
}

fn reference(id: &str) -> String {
    format!("{REFS}/{id}")
}

/// Returns the id of a checkpoint at this time.
fn id(now: i64) -> String {
    let time = Timestamp::from_millisecond(now).unwrap_or_default();
    time.strftime("%Y%m%d-%H%M%S-%3f").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with one commit, and the environment of its git.
    struct Repository {
        scratch: tempfile::TempDir,
        environment: Environment,
        cancel: Cancel,
    }

    impl Repository {
        #[expect(clippy::disallowed_methods, reason = "git is where the user has it")]
        fn new() -> Self {
            let scratch = tempfile::tempdir().unwrap();
            let path = std::env::var_os("PATH").unwrap_or_default();
            let home = scratch.path().join("home");
            fs::create_dir_all(&home).unwrap();
            let environment = vec![("PATH".into(), path), ("HOME".into(), home.into())];
            let repository = Self { scratch, environment, cancel: Cancel::new() };
            repository.git(&["init", "-q", "."]);
            repository.write("tracked", "one");
            repository.write(".gitignore", "ignored\n");
            repository.git(&["add", "."]);
            repository.git(&["commit", "-q", "-m", "first"]);
            repository
        }

        fn checkpoints(&self) -> Checkpoints<'_> {
            Checkpoints {
                directory: self.scratch.path(),
                environment: &self.environment,
                timeout: Duration::from_secs(30),
                cancel: &self.cancel,
            }
        }

        fn git(&self, args: &[&str]) -> String {
            self.checkpoints().git(args).unwrap()
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.scratch.path().join(name), text).unwrap();
        }

        fn read(&self, name: &str) -> Option<String> {
            fs::read_to_string(self.scratch.path().join(name)).ok()
        }
    }

    #[test]
    fn a_restore_brings_back_the_files_and_leaves_branch_and_index_alone() {
        let repository = Repository::new();
        let checkpoints = repository.checkpoints();
        repository.write("new", "kept");
        repository.write("staged", "staged");
        repository.git(&["add", "staged"]);
        let status = repository.git(&["status", "--porcelain"]);
        let first = checkpoints.create("Before: do it", 1_000, 10).unwrap().unwrap();
        assert_eq!(checkpoints.create("again", 2_000, 10), Ok(None), "nothing changed");
        let head = repository.git(&["rev-parse", "HEAD"]);

        repository.write("tracked", "broken");
        repository.write("added-later", "x");
        repository.write("ignored", "stays");
        fs::remove_file(repository.scratch.path().join("new")).unwrap();
        let changes = checkpoints.changes(&first, &["--name-status"]).unwrap();
        assert_eq!(changes, "A\tadded-later\nD\tnew\nM\ttracked");
        let undo = checkpoints.restore(&first, 3_000, 10).unwrap().unwrap();
        assert_eq!(repository.read("tracked").as_deref(), Some("one"));
        assert_eq!(repository.read("new").as_deref(), Some("kept"));
        assert_eq!(repository.read("added-later"), None);
        assert_eq!(repository.read("ignored").as_deref(), Some("stays"));
        assert_eq!(repository.git(&["rev-parse", "HEAD"]), head);
        assert_eq!(repository.git(&["status", "--porcelain"]), status);

        checkpoints.restore(&undo, 4_000, 10).unwrap();
        assert_eq!(repository.read("tracked").as_deref(), Some("broken"));
        assert_eq!(repository.read("added-later").as_deref(), Some("x"));
        let labels: Vec<String> =
            checkpoints.list().unwrap().into_iter().map(|checkpoint| checkpoint.label).collect();
        assert_eq!(labels[2], "Before: do it");
        assert!(
            repository.git(&["for-each-ref", "--format=%(refname)", "refs/heads"]).lines().count()
                == 1
        );
    }

    /// git compares times by the second: it reads a file again that changed in the second of its index.
    #[test]
    fn a_change_in_the_second_of_the_index_is_kept() {
        let repository = Repository::new();
        let mtime = fs::metadata(repository.scratch.path().join("tracked")).unwrap().modified();
        let past = mtime.unwrap() - Duration::from_secs(10);
        let set_time = |name: &str| {
            let path = repository.scratch.path().join(name);
            File::options().write(true).open(path).and_then(|file| file.set_modified(past))
        };
        set_time("tracked").unwrap();
        repository.git(&["add", "tracked"]);
        repository.write("tracked", "two");
        set_time("tracked").unwrap();
        set_time(".git/index").unwrap();
        let id = repository.checkpoints().create("c", 0, 3).unwrap().unwrap();
        repository.write("tracked", "six");
        let _ = repository.checkpoints().restore(&id, 1_000, 3).unwrap();
        assert_eq!(repository.read("tracked").as_deref(), Some("two"));
    }

    #[test]
    fn the_oldest_checkpoints_are_removed() {
        let repository = Repository::new();
        for round in 0..5 {
            repository.write("tracked", &round.to_string());
            let _ = repository.checkpoints().create("c", 1_000 * round, 3).unwrap().unwrap();
        }
        let all = repository.checkpoints().list().unwrap();
        assert_eq!(all.len(), 3);
        assert_eq!(all[0].id, "19700101-000004-000");
    }

    #[test]
    fn a_repository_without_a_commit_has_checkpoints_too() {
        let scratch = tempfile::tempdir().unwrap();
        let mut repository = Repository::new();
        repository.scratch = scratch;
        repository.git(&["init", "-q", "."]);
        repository.write("a", "1");
        let id = repository.checkpoints().create("c", 0, 3).unwrap().unwrap();
        repository.write("a", "2");
        repository.checkpoints().restore(&id, 1_000, 3).unwrap();
        assert_eq!(repository.read("a").as_deref(), Some("1"));
        assert!(repository.checkpoints().restore("none", 2_000, 3).is_err());
    }
}
