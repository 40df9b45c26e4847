//! The files of a project that changed while a shell command ran (F16): what git calls changed, with a stamp after the start of the command.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use tenter_base::Clock;
use tenter_proc::{Cancel, Invocation, Limits, ProcessEnd, Streams};
use tenter_protocol::tool_metadata::{ChangeKind, ChangedFile, ChangedFiles};

use crate::checkpoints::GIT_SETTINGS;
use crate::environment::Environment;

/// Maximum number of files.
const MAX_FILES: usize = 2_000;
/// Maximum time for git.
const TIMEOUT: Duration = Duration::from_millis(50);
/// The inaccuracy of the stamps of files, in milliseconds.
const SLACK_MS: i64 = 10;

/// Returns the files below `project` that changed since `start`, in milliseconds since 1970; a truncated list without any where git does
/// not say it in time, and `None` where it does not say it at all.
pub(crate) fn since(start: i64, project: &Path, env: &Environment) -> Option<ChangedFiles> {
    since_within(TIMEOUT, start, project, env)
}

fn since_within(
    timeout: Duration,
    start: i64,
    project: &Path,
    env: &Environment,
) -> Option<ChangedFiles> {
    let args =
        ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--", "."];
    let mut env = env.clone();
    // The command must not wait for another one, nor write the index.
    env.push(("GIT_OPTIONAL_LOCKS".into(), "0".into()));
    let invocation = Invocation {
        program: "git".into(),
        args: GIT_SETTINGS.into_iter().chain(args).map(OsString::from).collect(),
        cwd: project.to_owned(),
        env,
        stdin: Vec::new(),
        streams: Streams::Separate,
        limits: Limits { timeout, grace: Duration::ZERO, ..Limits::default() },
    };
    let completion = tenter_proc::run(&invocation, &Cancel::new());
    match completion.end {
        ProcessEnd::Exited(0) => {}
        ProcessEnd::TimedOut => return Some(ChangedFiles { files: Vec::new(), truncated: true }),
        _ => return None,
    }
    let text = completion.stdout.text();
    let mut files: Vec<ChangedFile> = text
        .split('\0')
        .filter_map(|entry| changed_file(entry, start - SLACK_MS, project))
        .take(MAX_FILES + 1)
        .collect();
    let truncated = files.len() > MAX_FILES || completion.stdout.dropped() > 0;
    files.truncate(MAX_FILES);
    Some(ChangedFiles { files, truncated })
}

/// Returns the present time in milliseconds since 1970.
pub(crate) fn now(clock: Clock) -> i64 {
    clock().as_millisecond()
}

/// Reads an entry of `git status`: two letters, a blank and a path.
fn changed_file(entry: &str, start: i64, project: &Path) -> Option<ChangedFile> {
    let (letters, path) = (entry.get(..2)?, entry.get(3..)?);
    let file = project.join(path);
    let (change, stamped) = match fs::symlink_metadata(&file) {
        Ok(metadata) if letters == "??" || letters.starts_with('A') => {
            (ChangeKind::Created, Some(metadata))
        }
        Ok(metadata) => (ChangeKind::Changed, Some(metadata)),
        Err(_) => {
            let above = file.ancestors().skip(1).find_map(|above| fs::metadata(above).ok());
            (ChangeKind::Deleted, above)
        }
    };
    let stamp = stamped?;
    let changed_at = stamp.ctime().saturating_mul(1000) + stamp.ctime_nsec() / 1_000_000;
    (changed_at >= start).then(|| ChangedFile { path: path.to_owned(), change })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Longer than git takes on a slow machine.
    const LONG: Duration = Duration::from_mins(1);

    #[expect(clippy::disallowed_methods, reason = "a test")]
    fn git(project: &Path, args: &[&str]) {
        let status = Command::new("git").current_dir(project).args(args).output().unwrap().status;
        assert!(status.success(), "{args:?}");
    }

    #[test]
    fn only_files_that_changed_after_the_start_are_listed() {
        let directory = tempfile::tempdir().unwrap();
        let project = directory.path();
        git(project, &["init", "-q"]);
        for name in ["old", "kept", "gone"] {
            fs::write(project.join(name), "1").unwrap();
        }
        git(project, &["add", "."]);
        let identity = ["-c", "user.name=a", "-c", "user.email=b"];
        git(project, &[&identity[..], &["commit", "-q", "-m", "x"]].concat());
        fs::write(project.join("earlier"), "1").unwrap();
        let stamp = fs::metadata(project.join("earlier")).unwrap();
        let earlier = stamp.ctime() * 1000 + stamp.ctime_nsec() / 1_000_000;
        std::thread::sleep(Duration::from_millis(60));
        fs::write(project.join("old"), "2").unwrap();
        fs::write(project.join("new"), "1").unwrap();
        fs::remove_file(project.join("gone")).unwrap();
        let env: Environment = std::iter::once(("PATH".into(), "/usr/bin:/bin".into())).collect();
        let changed = since_within(LONG, earlier + 30, project, &env).unwrap();
        assert!(!changed.truncated);
        let file = |path: &str, change| ChangedFile { path: path.to_owned(), change };
        let expected = [
            file("gone", ChangeKind::Deleted),
            file("old", ChangeKind::Changed),
            file("new", ChangeKind::Created),
        ];
        assert_eq!(changed.files, expected);
        assert_eq!(since_within(LONG, earlier, Path::new("/"), &env), None);
    }

    #[test]
    fn git_runs_no_program_that_the_repository_names() {
        let directory = tempfile::tempdir().unwrap();
        let project = directory.path();
        git(project, &["init", "-q"]);
        git(project, &["config", "core.fsmonitor", "touch ran #"]);
        let env: Environment = std::iter::once(("PATH".into(), "/usr/bin:/bin".into())).collect();
        assert!(since_within(LONG, 0, project, &env).is_some());
        assert!(!project.join("ran").exists());
    }
}
