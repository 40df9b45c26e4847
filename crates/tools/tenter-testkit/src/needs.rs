//! Requirements of tests. A test that cannot run prints that it is skipped, and fails if `TENTER_REQUIRE` lists what is missing,
//! so that a CI cannot pass by skipping tests.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, thread};

/// The variable with the required programs and features, separated by commas: `TENTER_REQUIRE=git,python`.
const REQUIRE: &str = "TENTER_REQUIRE";

/// Programs for which some systems have a placeholder that only says how to install them.
const HAVE_PLACEHOLDERS: [&str; 2] = ["git", "python3"];

/// Ends the test unless what it needs is there. The condition, such as [`has`], reports that the test is skipped.
#[macro_export]
macro_rules! skip_unless {
    ($has_needs:expr) => {
        if !($has_needs) {
            return;
        }
    };
}

/// Returns true if a program is installed and works. If not, the current test is reported as [`skipped`].
pub fn has(program: &str) -> bool {
    let is_there = is_installed(program);
    if !is_there {
        skipped(name_of(program), &format!("{program} is not installed"));
    }
    is_there
}

/// Returns the `PATH` for the programs that tests start: the machine's, with the shims of version managers (pyenv, asdf) last.
/// A shim runs several shells before it runs the interpreter, which takes longer than most tests.
#[expect(clippy::disallowed_methods, reason = "tests start the programs of the machine")]
pub fn search_path() -> OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    let is_shims = |dir: &Path| dir.ends_with("shims");
    let (shims, programs): (Vec<_>, Vec<_>) =
        env::split_paths(&path).partition(|dir| is_shims(dir));
    env::join_paths(programs.into_iter().chain(shims)).unwrap_or(path)
}

/// Reports that the current test, or a part of it, is skipped because of `why`. `need` is the word for `TENTER_REQUIRE`.
///
/// # Panics
/// `TENTER_REQUIRE` contains `need`.
#[expect(
    clippy::disallowed_methods,
    reason = "the requirements of a test run are in the environment"
)]
pub fn skipped(need: &str, why: &str) {
    let needs = env::var(REQUIRE).unwrap_or_default();
    let test = thread::current();
    match skip_line(&needs, test.name().unwrap_or("a test"), need, why) {
        // A print macro would be captured by the test runner.
        Ok(line) => drop(io::stderr().write_all(line.as_bytes())),
        Err(failure) => panic!("{failure}"),
    }
}

/// Returns the line that reports a skipped test, or the message of the failure if its need is required.
fn skip_line(requirements: &str, test: &str, need: &str, why: &str) -> Result<String, String> {
    if requires(requirements, need) {
        return Err(format!("{REQUIRE} has {need}, but this test cannot run: {why}"));
    }
    Ok(format!("skipped: {test}: {why} (needs {need})\n"))
}

fn requires(needs: &str, need: &str) -> bool {
    needs.split(',').any(|word| word.trim() == need)
}

fn name_of(program: &str) -> &str {
    if program == "python3" { "python" } else { program }
}

#[expect(clippy::disallowed_methods, reason = "tests may look at the machine")]
fn is_installed(program: &str) -> bool {
    let mut version = Command::new(program);
    version.env("PATH", search_path());
    version.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Some programs do not have this option; it is enough that they start.
    version.status().is_ok_and(|status| status.success() || !HAVE_PLACEHOLDERS.contains(&program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_test_is_reported_and_fails_if_its_need_is_required() {
        let line = |requirements| skip_line(requirements, "a_test", "jq", "it is not installed");
        assert_eq!(line("git").unwrap(), "skipped: a_test: it is not installed (needs jq)\n");
        assert_eq!(
            line("git,jq").unwrap_err(),
            "TENTER_REQUIRE has jq, but this test cannot run: it is not installed"
        );
    }

    #[test]
    fn only_listed_words_are_required() {
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
