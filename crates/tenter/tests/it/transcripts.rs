//! Transcripts that real agents wrote, in the home directory of a sandbox.

use std::fs;
use std::path::{Path, PathBuf};

use tenter_testkit::Sandbox;

/// Copies the transcripts of an agent that ran a scenario, as if it had worked in the sandbox's project.
pub(crate) fn add(sandbox: &Sandbox, host: &str, scenario: &str) {
    let project = sandbox.project().display().to_string();
    copy(&home(host, scenario), &sandbox.home(), &[("/home/ada/app", &project)]);
}

/// As [`add`], with calls of today.
pub(crate) fn add_recent(sandbox: &Sandbox, host: &str, scenario: &str) {
    let project = sandbox.project().display().to_string();
    let today = sandbox.shell("date -u +%Y-%m-%dT00:00:").expect_code(0).stdout;
    let changes = [("/home/ada/app", &*project), (RECORDED, today.trim())];
    copy(&home(host, scenario), &sandbox.home(), &changes);
}

/// The beginning of the times at which the day's work was recorded.
const RECORDED: &str = "2026-11-24T10:37:";

fn home(host: &str, scenario: &str) -> PathBuf {
    let homes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hooks/tenter-backtest/tests/homes");
    homes.join(host).join(scenario)
}

fn copy(from: &Path, to: &Path, changes: &[(&str, &str)]) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target, changes);
        } else {
            let text = fs::read_to_string(entry.path()).unwrap();
            let replace = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
            fs::write(target, changes.iter().fold(text, replace)).unwrap();
        }
    }
}
