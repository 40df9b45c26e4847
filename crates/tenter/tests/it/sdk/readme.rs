//! The READMEs of the SDKs: every example runs, as it stands.

use std::fs;
use std::process::Command;

use tenter_testkit::needs;

use super::sdk;

/// Returns the blocks of a page in one language, in order.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Runs a page: its blocks that begin with a comment `# file: NAME` or `// file: NAME` are written into one directory, and then each
/// file whose name begins with `test` is run.
#[expect(clippy::disallowed_methods, reason = "tests start programs as a user does")]
fn run(directory: &str, sdk_file: &str, language: &str, interpreter: &str) {
    tenter_testkit::skip_unless!(needs::has(interpreter));
    let page = fs::read_to_string(sdk().join(directory).join("README.md")).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    fs::copy(sdk().join(directory).join(sdk_file), scratch.path().join(sdk_file)).unwrap();
    let mut tests = Vec::new();
    for block in blocks(&page, language) {
        let first = block.lines().next().unwrap_or_default();
        let (_, name) = first.split_once(" file: ").unwrap_or_else(|| panic!("{first}"));
        fs::write(scratch.path().join(name), &block).unwrap();
        if name.starts_with("test") {
            tests.push(name.to_owned());
        }
    }
    assert!(!tests.is_empty());
    for name in tests {
        let output = Command::new(interpreter)
            .arg(&name)
            .current_dir(&scratch)
            .env("PATH", needs::search_path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {output:?}");
    }
}

#[test]
fn the_examples_of_the_python_sdk_run() {
    run("python", "tenter_hook.py", "python", "python3");
}

#[test]
fn the_examples_of_the_javascript_sdk_run() {
    run("javascript", "tenter-hook.mjs", "js", "node");
}
