//! Results, kept by agent and version (B34): `bridge/proofs/AGENT/VERSION.json` below the state directory.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use tenter_base::{replace_file, untrusted_file};
use tenter_bridge::Host;

use crate::check::Check;
use crate::own_rules::{ProvedRule, RuleOutcome};
use crate::verdict::CheckVerdict;

/// The version of the format.
const FORMAT: u32 = 1;

/// Maximum size of a file of results, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// Maximum number of versions of an agent that are read.
const MAX_VERSIONS: usize = 200;

/// The results for one version of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The version of the format.
    format: u32,
    /// The id of the agent.
    pub agent: String,
    /// Its version.
    pub version: String,
    /// The time of the proof, in RFC 3339.
    pub proved_at: String,
    /// The version of Tenter.
    pub tenter: String,
    /// Set if the agent had no network but loopback.
    pub isolated: bool,
    /// The checks.
    pub checks: Vec<ProvedCheck>,
    /// The user's own rules. They are not kept: the rules change.
    #[serde(default, skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<ProvedRule>,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvedCheck {
    /// Its id.
    pub id: String,
    /// The statement that it proves.
    pub proves: String,
    /// The result.
    pub verdict: CheckVerdict,
    /// The observations.
    pub evidence: String,
    /// Set if the agent asked the model for anything in the runs for this check: otherwise these show nothing about hooks.
    #[serde(default = "reached", skip_serializing_if = "is_reached")]
    pub reached_model: bool,
}

fn reached() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_reached(reached: &bool) -> bool {
    *reached
}

impl ProvedCheck {
    /// Returns the result of a check of which only the verdict is known.
    pub(crate) fn without_evidence(check: Check, verdict: CheckVerdict) -> Self {
        let (id, proves) = (check.id(), check.proves());
        Self { id, proves, verdict, evidence: String::new(), reached_model: true }
    }
}

impl Proof {
    /// Returns a proof of a version of an agent, without checks.
    pub fn new(host: &Host, version: &str, proved_at: &str) -> Self {
        Self {
            format: FORMAT,
            agent: host.id.to_owned(),
            version: version.to_owned(),
            proved_at: proved_at.to_owned(),
            tenter: env!("CARGO_PKG_VERSION").to_owned(),
            isolated: false,
            checks: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// Returns the proof with these checks, made with or without a network.
    #[must_use]
    pub fn with(self, checks: Vec<ProvedCheck>, isolated: bool) -> Self {
        Self { isolated, checks, ..self }
    }

    /// Returns whether denials hold: a rule that denies stops a call.
    pub fn denies(&self) -> bool {
        let checks = [Check::Registered, Check::Deny].map(Check::id);
        let holds = |check: &ProvedCheck| {
            matches!(check.verdict, CheckVerdict::Yes | CheckVerdict::Emulated)
        };
        checks.iter().all(|id| self.checks.iter().any(|check| check.id == *id && holds(check)))
    }

    /// Returns whether something is not as Tenter says, or no hook saw a call that a rule stops.
    pub fn is_broken(&self) -> bool {
        let is_missed = |rule: &ProvedRule| rule.outcome == RuleOutcome::NotSeen;
        self.count(CheckVerdict::Broken) > 0 || self.rules.iter().any(is_missed)
    }

    /// Counts the checks with this verdict.
    pub fn count(&self, verdict: CheckVerdict) -> usize {
        self.checks.iter().filter(|check| check.verdict == verdict).count()
    }

    /// Returns the date on which it was proved.
    pub fn date(&self) -> &str {
        self.proved_at.get(..10).unwrap_or(&self.proved_at)
    }

    /// Keeps the proof below the user's directory of Tenter's state; it replaces an earlier one of the same version.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, state: &Path) -> io::Result<PathBuf> {
        let file = directory(state, &self.agent).join(format!("{}.json", file_name(&self.version)));
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        tenter_base::private_dir::create_parent(&file)?;
        replace_file::replace(&file, (text + "\n").as_bytes())?;
        Ok(file)
    }

    /// Returns the kept proofs of an agent, the newest first. Files that this version cannot read are left out.
    pub fn kept(state: &Path, host: &Host) -> Vec<Self> {
        let entries = fs::read_dir(directory(state, host.id)).into_iter().flatten().flatten();
        let paths = entries.take(MAX_VERSIONS).map(|entry| entry.path());
        let mut proofs: Vec<Self> =
            paths.filter_map(|path| read(&path)).filter(|proof| proof.agent == host.id).collect();
        proofs.sort_by(|one, other| other.proved_at.cmp(&one.proved_at));
        proofs
    }
}

fn read(path: &Path) -> Option<Proof> {
    let bytes = untrusted_file::read(path, MAX_SIZE).ok()?;
    serde_json::from_slice(&bytes).ok().filter(|proof: &Proof| proof.format == FORMAT)
}

fn directory(state: &Path, agent: &str) -> PathBuf {
    state.join("bridge/proofs").join(agent)
}

/// Returns a version as the name of a file.
fn file_name(version: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || ".-+".contains(c) { c } else { '_' };
    version.chars().take(40).map(safe).collect()
}

#[cfg(test)]
mod tests {
    use tenter_bridge::hosts;

    use super::*;

    #[test]
    fn results_are_kept_by_version_and_read_tolerantly() {
        let state = tempfile::tempdir().unwrap();
        let host = hosts::find("claude-code").unwrap();
        let old = Proof::new(host, "2.1.330", "2026-11-22T18:00:00Z");
        let new = Proof::new(host, "../2.2", "2026-11-23T18:00:00Z");
        let file = old.keep(state.path()).unwrap();
        new.keep(state.path()).unwrap();
        fs::write(file.with_file_name("broken.json"), "{").unwrap();
        fs::write(
            file.with_file_name("newer.json"),
            fs::read_to_string(&file).unwrap().replace("\"format\": 1", "\"format\": 2"),
        )
        .unwrap();
        assert_eq!(Proof::kept(state.path(), host), [new, old]);
        assert_eq!(Proof::kept(state.path(), hosts::find("codex").unwrap()), []);
    }
}
