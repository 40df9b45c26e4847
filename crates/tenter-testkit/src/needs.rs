//! What a test needs and a machine may lack. A test that cannot run says so on the terminal, and fails where
//! `TENTER_REQUIRE` names what is missing, so that a gate cannot pass by leaving tests out.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// Names what must not be missing, with commas between: `TENTER_REQUIRE=git,python`.
const REQUIRE: &str = "TENTER_REQUIRE";

/// Programs that some systems have a stand-in for, which only says how to install them.
const HAVE_STAND_INS: [&str; 2] = ["git", "python3"];

/// Whether a program is installed and works. Where it does not, the test that asks is [`skipped`].
pub fn has(program: &str) -> bool {
    let is_there = is_installed(program);
    if !is_there {
        skipped(name_of(program), &format!("{program} is not installed"));
    }
    is_there
}

/// The `PATH` for the programs that tests start: the machine's, with the shims of version managers (pyenv, asdf) last.
/// A shim runs several shells before it runs the interpreter, which takes longer than most tests.
#[expect(clippy::disallowed_methods, reason = "tests start the programs of the machine")]
pub fn search_path() -> OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    let is_shims = |dir: &Path| dir.ends_with("shims");
    let (shims, programs): (Vec<_>, Vec<_>) =
        env::split_paths(&path).partition(|dir| is_shims(dir));
    env::join_paths(programs.into_iter().chain(shims)).unwrap_or(path)
}

/// Says that the running test, or a part of it, is skipped because of `why`. `need` is the word for `TENTER_REQUIRE`.
///
/// # Panics
/// `TENTER_REQUIRE` has this word.
#[expect(clippy::disallowed_methods, reason = "the environment says what a test run requires")]
pub fn skipped(need: &str, why: &str) {
    let required = env::var(REQUIRE).unwrap_or_default();
    assert!(!requires(&required, need), "{REQUIRE} has {need}, but this test cannot run: {why}");
    let test = thread::current();
    let line = format!("skipped: {}: {why} (needs {need})\n", test.name().unwrap_or("a test"));
    // Not a print macro: the test runner would swallow the line of a test that passes.
    let _ = io::stderr().write_all(line.as_bytes());
}

fn requires(required: &str, need: &str) -> bool {
    required.split(',').any(|word| word.trim() == need)
}

fn name_of(program: &str) -> &str {
    if program == "python3" { "python" } else { program }
}

#[expect(clippy::disallowed_methods, reason = "tests may look at the machine")]
fn is_installed(program: &str) -> bool {
    let mut version = Command::new(program);
    version.env("PATH", search_path());
    version.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Not every shell knows this option; to be started is enough.
    version.status().is_ok_and(|status| status.success() || !HAVE_STAND_INS.contains(&program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "run by the test below, in a process of its own"]
    fn a_test_that_cannot_run() {
        skipped("a-program", "it is not installed");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test of what a test run prints")]
    fn a_skipped_test_is_seen_and_fails_where_what_it_needs_is_required() {
        let run = |required: &str| {
            let mut command = Command::new(env::current_exe().unwrap());
            command.args(["--ignored", "--exact", "needs::tests::a_test_that_cannot_run"]);
            command.env(REQUIRE, required).output().unwrap()
        };
        let skipped = run("git");
        assert!(skipped.status.success(), "{skipped:?}");
        let seen = String::from_utf8_lossy(&skipped.stderr);
        assert!(
            seen.contains("a_test_that_cannot_run: it is not installed (needs a-program)"),
            "{seen}"
        );
        assert!(!run("git,a-program").status.success());
    }

    #[test]
    fn only_what_is_named_is_required() {
        for (required, need, expected) in [
            ("", "git", false),
            ("git", "git", true),
            ("git, python", "python", true),
            ("gitea", "git", false),
            ("git-http", "git", false),
        ] {
            assert_eq!(requires(required, need), expected, "{required} {need}");
        }
        assert_eq!(name_of("python3"), "python");
        assert_eq!(name_of("jq"), "jq");
    }
}
