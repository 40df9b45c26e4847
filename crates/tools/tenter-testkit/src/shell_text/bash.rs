//! Runs a text with real bash, where it can do no harm: no network, a read-only root, an empty directory, and a `PATH` with
//! nothing but programs that record their arguments and a few that run others.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::needs;

/// A program and its arguments.
pub type Argv = Vec<String>;

/// Programs of the machine that run others, or only repeat text. The texts can use these.
const HELPERS: [&str; 10] =
    ["bash", "env", "timeout", "nice", "nohup", "stdbuf", "setsid", "xargs", "find", "cat"];

/// Maximum number of texts for one bash: its arguments have a limit.
const AT_ONCE: usize = 200;

/// Makes everything read-only but an empty directory `$1` in memory, and goes there.
const ENTER: &str = r#"
while read -r _ directory _; do
    mount -o remount,bind,ro "$directory" 2>/dev/null
done </proc/self/mounts
mount -t tmpfs none "$1" || exit 9
cp -R "$2" "$1/bin" && mkdir "$1/empty" && cd "$1/empty" || exit 9
mount -o remount,ro "$1" || exit 9
PATH=$1/bin
shift 2
exec bash --norc --noprofile -c "$@"
"#;

/// Records what a text runs. bash is restricted, so that no text can name a program by its path or write a file.
const DRIVER: &str = r#"
set -r
for text in "$@"; do
    printf '\003' >&2
    ( set --; eval "$text"; wait )
done
"#;

/// A program that records its name and arguments. `fail` fails.
const STUB: &str = r#"#!/bin/bash --posix
printf -v all '\001%s' "${0##*/}" "$@"
printf '%s\002' "$all" >&2
[ "${0##*/}" != fail ]
"#;

/// Returns the commands of these programs that bash runs for each text. `None` if that cannot be tried on this machine; the test is
/// then reported as skipped.
///
/// # Panics
/// A directory cannot be made, or bash ends early.
pub fn commands_run(texts: &[String], programs: &[&str]) -> Option<Vec<Vec<Argv>>> {
    if !["bash", "unshare", "mount"].into_iter().all(needs::has) {
        return None;
    }
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let stubs = scratch.path().join("stubs");
    install(&stubs, programs);
    let empty = scratch.path().join("empty");
    fs::create_dir(&empty).expect("an empty directory");
    let mut all = Vec::with_capacity(texts.len());
    for texts in texts.chunks(AT_ONCE) {
        let Some(mut ran) = ran(texts, &stubs, &empty, programs) else {
            needs::skipped("namespaces", "unshare cannot make namespaces with a read-only root");
            return None;
        };
        assert_eq!(ran.len(), texts.len(), "bash ended early");
        all.append(&mut ran);
    }
    Some(all)
}

/// Writes the recording programs, and links to the others.
fn install(directory: &Path, programs: &[&str]) {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    fs::create_dir(directory).expect("a directory of programs");
    for program in programs {
        let file = directory.join(program);
        fs::write(&file, STUB).expect("a program");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a program");
    }
    let path = needs::search_path();
    let find = |name: &str| env::split_paths(&path).map(|it| it.join(name)).find(|it| it.is_file());
    // Not every `sh` knows what bash does.
    let _ = find("bash").map(|bash| symlink(bash, directory.join("sh")));
    for (name, file) in HELPERS.iter().filter_map(|name| Some((name, find(name)?))) {
        // A program that is recorded is not run.
        let _ = symlink(file, directory.join(name));
    }
}

#[expect(clippy::disallowed_methods, reason = "tests start the programs of the machine")]
fn ran(texts: &[String], stubs: &Path, empty: &Path, programs: &[&str]) -> Option<Vec<Vec<Argv>>> {
    let mut bash = Command::new("unshare");
    bash.args(["--user", "--map-root-user", "--mount", "--net", "--", "bash", "-c", ENTER]);
    bash.args([OsString::from("enter"), empty.into(), stubs.into()]);
    bash.arg(driver(programs)).arg("oracle").args(texts);
    bash.env_clear()
        .env("PATH", needs::search_path())
        .env("HOME", "/home/ann")
        .env("LC_ALL", "C.UTF-8");
    bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let output = bash.output().ok()?;
    let record = String::from_utf8_lossy(&output.stderr).into_owned();
    if !record.contains('\u{3}') {
        return None;
    }
    let runs = record.split('\u{3}').skip(1).map(|case| {
        let records = case.split('\u{2}').filter_map(|record| record.split_once('\u{1}'));
        records.map(|(_, words)| words.split('\u{1}').map(str::to_owned).collect()).collect()
    });
    Some(runs.collect())
}

/// Returns the driver, with the recording programs as functions, too: these are faster.
fn driver(programs: &[&str]) -> String {
    let mut driver = String::from(
        "record() { local all; printf -v all '\\001%s' \"$@\"; printf '%s\\002' \"$all\" >&2; [ \"$1\" != fail ]; }\n",
    );
    for program in programs {
        let _ = writeln!(driver, "{program}() {{ record {program} \"$@\"; }}");
    }
    driver.push_str(DRIVER);
    driver
}
