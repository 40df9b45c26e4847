//! Transcripts that real agents wrote, in the home directory of a sandbox.

use std::fs;
use std::path::{Path, PathBuf};

use tenter_testkit::{Sandbox, copy_directory_with};

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
    copy_directory_with(from, to, &|from, to| {
        let replace = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
        let text = changes.iter().fold(fs::read_to_string(from).unwrap(), replace);
        fs::write(to, text).unwrap();
    });
}
