//! The files of a project that changed while a shell command ran (F16): what git calls changed, with a stamp after the start of the command.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use tenter_base::Clock;
use tenter_proc::{Cancel, Completion, Invocation, Limits, ProcessEnd};
use tenter_protocol::tool_metadata::{ChangeKind, ChangedFile, ChangedFiles};

use crate::checkpoints::GIT_SETTINGS;
use crate::environment::Environment;

/// Maximum number of files.
const MAX_FILES: usize = 2_000;
/// Maximum time for git.
const TIMEOUT: Duration = Duration::from_millis(50);
/// The inaccuracy of the stamps of files, in milliseconds.
const SLACK_MS: i64 = 10;

/// The arguments that print the settings of filters.
const FILTERS: [&str; 5] = ["config", "-z", "--name-only", "--get-regexp", "^filter\\."];
/// The arguments that print what changed. To look into submodules, git would run programs that these name.
const STATUS: [&str; 8] = *tenter_base::words!(
    "status --porcelain=v1 -z --untracked-files=all --no-renames --ignore-submodules=dirty -- ."
);

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
    let clock = Instant::now();
    let mut env = env.clone();
    // The command must not wait for another one, nor write the index, nor fetch.
    env.extend(
        [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_NO_LAZY_FETCH", "1")]
            .map(|(name, value)| (name.into(), value.into())),
    );
    let filters = git(&FILTERS, timeout, project, &env);
    match filters.end {
        // 1: there are none.
        ProcessEnd::Exited(0 | 1) => switch_off(&filters.stdout.text(), &mut env),
        ProcessEnd::TimedOut => return Some(ChangedFiles { files: Vec::new(), truncated: true }),
        _ => return None,
    }
    let completion = git(&STATUS, timeout.saturating_sub(clock.elapsed()), project, &env);
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
    let is_truncated = files.len() > MAX_FILES || completion.stdout.dropped() > 0;
    files.truncate(MAX_FILES);
    Some(ChangedFiles { files, truncated: is_truncated })
}

fn git(args: &[&str], timeout: Duration, project: &Path, env: &Environment) -> Completion {
    let invocation = Invocation {
        program: "git".into(),
        args: GIT_SETTINGS.iter().chain(args).map(OsString::from).collect(),
        cwd: project.to_owned(),
        env: env.clone(),
        limits: Limits { timeout, grace: Duration::ZERO, ..Limits::default() },
        ..Invocation::default()
    };
    tenter_proc::run(&invocation, &Cancel::new())
}

/// Switches the programs of filters off, which git would run to compare a file with the index. `keys` are the keys of these settings,
/// such as `filter.lfs.clean`, each with a NUL after it.
fn switch_off(keys: &str, env: &mut Environment) {
    let name = |key: &str| Some(key.strip_prefix("filter.")?.rsplit_once('.')?.0.to_owned());
    let names: BTreeSet<String> = keys.split('\0').filter_map(name).collect();
    if names.is_empty() {
        return;
    }
    let settings = names.iter().flat_map(|name| {
        [("clean", ""), ("process", ""), ("required", "false")]
            .map(|(field, value)| (format!("filter.{name}.{field}"), value))
    });
    let count = env.iter().find(|(name, _)| name == "GIT_CONFIG_COUNT");
    let present = count.and_then(|(_, count)| count.to_str()?.parse::<usize>().ok()).unwrap_or(0);
    let mut total = present;
    let settings: Vec<(String, &str)> = settings.collect();
    for (key, value) in settings {
        env.push((format!("GIT_CONFIG_KEY_{total}").into(), key.into()));
        env.push((format!("GIT_CONFIG_VALUE_{total}").into(), value.into()));
        total += 1;
    }
    env.retain(|(name, _)| name != "GIT_CONFIG_COUNT");
    env.push(("GIT_CONFIG_COUNT".into(), total.to_string().into()));
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
    fn set_up(project: &Path, args: &[&str]) {
        let status = Command::new("git").current_dir(project).args(args).output().unwrap().status;
        assert!(status.success(), "{args:?}");
    }

    #[test]
    fn only_files_that_changed_after_the_start_are_listed() {
        let directory = tempfile::tempdir().unwrap();
        let project = directory.path();
        set_up(project, &["init", "-q"]);
        for name in ["old", "kept", "gone"] {
            fs::write(project.join(name), "1").unwrap();
        }
        set_up(project, &["add", "."]);
        let identity = ["-c", "user.name=a", "-c", "user.email=b"];
        set_up(project, &[&identity[..], &["commit", "-q", "-m", "x"]].concat());
        fs::write(project.join("earlier"), "1").unwrap();
        let milliseconds = |name: &str| {
            let stamp = fs::metadata(project.join(name)).unwrap();
            stamp.ctime() * 1000 + stamp.ctime_nsec() / 1_000_000
        };
        let earlier = milliseconds("earlier");
        // Until the clock of the file system has advanced.
        while milliseconds("old") < earlier + 60 {
            fs::write(project.join("old"), "2").unwrap();
        }
        fs::write(project.join("new"), "1").unwrap();
        fs::remove_file(project.join("gone")).unwrap();
        let env: Environment = std::iter::once(("PATH".into(), "/usr/bin:/bin".into())).collect();
        let files = since_within(LONG, earlier + 30, project, &env).unwrap();
        assert!(!files.truncated);
        let file = |path: &str, change| ChangedFile { path: path.to_owned(), change };
        let expected = [
            file("gone", ChangeKind::Deleted),
            file("old", ChangeKind::Changed),
            file("new", ChangeKind::Created),
        ];
        assert_eq!(files.files, expected);
        assert_eq!(since_within(LONG, earlier, Path::new("/"), &env), None);
    }

    #[test]
    fn git_runs_no_program_that_the_repository_names() {
        let directory = tempfile::tempdir().unwrap();
        let project = directory.path();
        set_up(project, &["init", "-q"]);
        set_up(project, &["init", "-q", "module"]);
        let identity = ["-c", "user.name=a", "-c", "user.email=b"];
        let commit = [&identity[..], &["commit", "-q", "--allow-empty", "-m", "x"]].concat();
        set_up(&project.join("module"), &commit);
        fs::write(project.join("file"), "1").unwrap();
        fs::write(project.join(".gitattributes"), "file filter=a=b\n").unwrap();
        set_up(project, &["add", "."]);
        let marker = project.join("ran");
        let program = |arguments: &str| format!("touch '{}'{arguments}", marker.display());
        let module = project.join("module");
        let attempts: [(&Path, &str, String); 3] = [
            (project, "core.fsmonitor", program(" #")),
            (project, "filter.a=b.clean", program("; cat")),
            (&module, "core.fsmonitor", program(" #")),
        ];
        let env: Environment = [("PATH", "/usr/bin:/bin"), ("GIT_CONFIG_COUNT", "1")]
            .into_iter()
            .chain([("GIT_CONFIG_KEY_0", "color.ui"), ("GIT_CONFIG_VALUE_0", "never")])
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        for (repository, key, value) in attempts {
            set_up(repository, &["config", key, &value]);
            // As long as before: git has to compare the content.
            fs::write(project.join("file"), "2").unwrap();
            set_up(project, &["status"]);
            assert!(marker.exists(), "{key} does not make git run a program");
            fs::remove_file(&marker).unwrap();
            let files = since_within(LONG, 0, project, &env).unwrap();
            assert!(!marker.exists(), "{key}");
            assert!(files.files.iter().any(|file| file.path == "file"), "{files:?}");
            set_up(repository, &["config", "--unset", key]);
        }
    }
}
