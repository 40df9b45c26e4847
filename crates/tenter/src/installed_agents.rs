//! Which other agents are installed here, and the registrations with them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tenter_base::search_path;
use tenter_bridge::breach::{self, Breach};
use tenter_bridge::registration::{Registry, Scope};
use tenter_bridge::{Host, hosts};
use tenter_engine::Directories;
use tenter_proc::{Cancel, Invocation, Limits, Streams};
use tenter_prove::Proof;

use crate::env::Env;
use crate::project::Project;

/// Maximum time to wait for an agent's version.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether an agent is installed, and where.
pub(crate) struct Agent {
    /// The agent.
    pub(crate) host: &'static Host,
    /// Its program in `PATH`.
    pub(crate) program: Option<PathBuf>,
    /// Whether it has a directory for its settings.
    has_settings: bool,
}

impl Agent {
    /// Looks for an agent.
    pub(crate) fn find(env: &Env, host: &'static Host) -> Self {
        let mut programs = host.registration.programs.iter();
        let settings = registry(env).target(host, Scope::User, &env.home);
        Self {
            host,
            program: programs.find_map(|program| search_path::program(program, &env.vars)),
            has_settings: settings
                .is_some_and(|target| target.file.parent().is_some_and(Path::is_dir)),
        }
    }

    /// Looks for every known agent.
    pub(crate) fn all(env: &Env) -> Vec<Self> {
        hosts::ALL.iter().map(|host| Self::find(env, host)).collect()
    }

    /// Whether there is a sign of the agent.
    pub(crate) fn is_found(&self) -> bool {
        self.program.is_some() || self.has_settings
    }

    /// Runs the agent's program to learn its version; `None` if it does not tell.
    pub(crate) fn version(&self, project: &Project) -> Option<String> {
        let invocation = Invocation {
            program: self.program.as_ref()?.into(),
            args: vec!["--version".into()],
            cwd: project.env.home.clone(),
            env: project.program_environment(),
            stdin: Vec::new(),
            streams: Streams::Separate,
            limits: Limits { timeout: PATIENCE, keep: 4096, ..Limits::default() },
        };
        let completion = tenter_proc::run(&invocation, &Cancel::new());
        if !completion.end.is_success() {
            return None;
        }
        // Pi writes it to stderr.
        version_in(&completion.stdout.text()).or_else(|| version_in(&completion.stderr.text()))
    }
}

/// The first word of a text that looks like a version.
fn version_in(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || ".-+".contains(c);
    let words = text.split(|c| !is_part(c)).map(|word| word.trim_start_matches('v'));
    let is_version =
        |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
    let words = words.map(|word| word.trim_end_matches('.'));
    words.filter(|word| word.len() <= 40).find(is_version).map(str::to_owned)
}

/// Where proofs are kept: programs that other agents start use these directories, too (B43).
pub(crate) fn state(env: &Env) -> PathBuf {
    Directories::in_home(&env.home).state
}

/// What was proved last of an agent; `None` if nothing was.
pub(crate) fn newest_proof(env: &Env, host: &Host) -> Option<Proof> {
    Proof::kept(&state(env), host).into_iter().next()
}

/// The last denied call that an agent ran all the same; `None` if there was none since the last proof.
pub(crate) fn newest_breach(env: &Env, host: &Host) -> Option<Breach> {
    let proof = newest_proof(env, host);
    let is_new = |breach: &Breach| proof.is_none_or(|proof| proof.proved_at < breach.at);
    breach::last(&state(env), host).filter(is_new)
}

/// The registrations of the user.
pub(crate) fn registry(env: &Env) -> Registry {
    Registry::in_home(&env.home).with_variables(&env.vars)
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
