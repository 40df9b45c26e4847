//! Tests, or parts of them, in a process of their own: the test program runs one test again, with a variable that names the part.
//!
//! A test needs that if it changes its whole process, or if its process is killed.

use std::env;
use std::process::Command;

/// The variable that names the part.
pub const PART: &str = "TENTER_TEST_PART";

/// Returns true in a process that was started to play this part.
#[expect(
    clippy::disallowed_methods,
    reason = "a process of a test reads its part from the environment"
)]
pub fn plays(part: &str) -> bool {
    env::var_os(PART).is_some_and(|name| name == part)
}

/// Returns the arguments with which the test program runs one test alone and prints what that prints.
pub fn arguments(test: &str) -> [String; 3] {
    [test, "--exact", "--nocapture"].map(str::to_owned)
}

/// Runs the body of the test with the path `test`, such as `module::name`, in a process of its own.
///
/// # Panics
/// The body panics, the process cannot be started, or the calling test has another path.
#[expect(clippy::disallowed_methods, reason = "it starts the test program")]
pub fn alone(test: &str, body: impl FnOnce()) {
    if plays(test) {
        return body();
    }
    let program = env::current_exe().unwrap_or_else(|error| panic!("{error}"));
    let output = Command::new(program).args(arguments(test)).env(PART, test).output();
    let output = output.unwrap_or_else(|error| panic!("{error}"));
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let has_passed = output.status.success() && text[0].contains("1 passed");
    assert!(has_passed, "{}: {}\n{}", output.status, text[0], text[1]);
}
