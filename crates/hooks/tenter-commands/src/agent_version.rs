//! Versions of installed agents: read from their packages, else what the program prints, which is remembered.
//!
//! Some agents unpack hundreds of megabytes or write files when they are run. So a program is run at most once, in a scratch home and
//! without a network.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tenter_base::file_stamp::FileStamp;
use tenter_base::{replace_file, untrusted_file};
use tenter_bridge::packaged_version;
use tenter_proc::{Cancel, Invocation, Limits};
use tenter_prove::network;
use tenter_terminal::Env;

/// Maximum time to wait for an agent's version.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Maximum number of programs whose versions are remembered.
const MAX_REMEMBERED: usize = 100;

/// Returns the version of an agent's program; `None` if it does not state one. What the program prints is remembered in `state`.
pub(crate) fn find(program: &Path, state: &Path, env: &Env) -> Option<String> {
    packaged_version(program).or_else(|| {
        let file = state.join("bridge/versions.json");
        Remembered::read(&file).find(program, &file, env)
    })
}

/// The versions that programs printed, by the real paths of the programs.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Remembered(BTreeMap<PathBuf, PrintedVersion>);

/// The version that a program printed.
#[derive(Debug, Serialize, Deserialize)]
struct PrintedVersion {
    /// The program that printed it.
    stamp: FileStamp,
    /// `None` if it printed no version.
    version: Option<String>,
}

impl Remembered {
    fn read(file: &Path) -> Self {
        let text = untrusted_file::read_to_string(file).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Returns the version that the program printed, or prints now; then `file` is written.
    fn find(mut self, program: &Path, file: &Path, env: &Env) -> Option<String> {
        let real = program.canonicalize().ok()?;
        let stamp = FileStamp::new(&fs::metadata(&real).ok()?);
        if let Some(version) = self.0.get(&real).filter(|version| version.stamp == stamp) {
            return version.version.clone();
        }
        let version = run_and_read(program, env);
        self.0.retain(|path, _| path.is_file());
        if self.0.len() >= MAX_REMEMBERED {
            self.0.clear();
        }
        self.0.insert(real, PrintedVersion { stamp, version: version.clone() });
        self.write(file);
        version
    }

    /// Writes the versions. If that fails, the program is run again next time.
    fn write(&self, file: &Path) {
        let text = serde_json::to_string_pretty(self).map(|text| text + "\n");
        if let Ok(text) = text
            && tenter_base::private_dir::create_parent(file).is_ok()
        {
            let _ = replace_file::replace(file, text.as_bytes());
        }
    }
}

/// Runs a program with `--version`, and returns the version that it prints.
fn run_and_read(program: &Path, env: &Env) -> Option<String> {
    let scratch = TempDir::with_prefix("tenter-version-").ok()?;
    let home: OsString = scratch.path().into();
    let directories = ["HOME", "TMPDIR"].map(|name| (OsString::from(name), home.clone()));
    let path = env.var("PATH").map(|path| ("PATH".into(), path.to_owned()));
    let environment: Vec<_> = directories.into_iter().chain(path).collect();
    let isolated = network::isolating_command(&environment, scratch.path(), false);
    let (program, args) = match isolated {
        Some((isolating, options)) => {
            (isolating, options.into_iter().chain([program.into()]).collect())
        }
        None => (program.to_owned(), Vec::new()),
    };
    let invocation = Invocation {
        program,
        args: args.into_iter().chain(["--version".into()]).collect(),
        cwd: scratch.path().to_owned(),
        env: environment,
        limits: Limits { timeout: TIMEOUT, keep: 4096, ..Limits::default() },
        ..Invocation::default()
    };
    let completion = tenter_proc::run(&invocation, &Cancel::new());
    if !completion.end.is_success() {
        return None;
    }
    // Pi writes it to stderr.
    version_in(&completion.stdout.text()).or_else(|| version_in(&completion.stderr.text()))
}

/// Returns the first word of a text that looks like a version.
fn version_in(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || ".-+".contains(c);
    let words = text.split(|c| !is_part(c)).map(|word| word.trim_start_matches('v'));
    let is_version =
        |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
    let words = words.map(|word| word.trim_end_matches('.'));
    words.filter(|word| word.len() <= 40).find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_programs_print() {
        for (text, version) in [
            ("2.1.330 (Claude Code)\n", Some("2.1.330")),
            ("codex-cli v0.169.0-alpha.1", Some("0.169.0-alpha.1")),
            ("GitHub Copilot CLI 1.0.102.\n", Some("1.0.102")),
            ("claude", None),
            ("", None),
        ] {
            assert_eq!(version_in(text).as_deref(), version);
        }
    }
}
