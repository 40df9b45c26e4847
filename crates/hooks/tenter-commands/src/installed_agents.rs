//! The other agents that are installed on this machine, and the registrations with them.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use tenter_base::{did_you_mean, or_list, search_path};
use tenter_bridge::breach::{self, Breach};
use tenter_bridge::host::HostVersion;
use tenter_bridge::registration::{RegistrationScope, Registry};
use tenter_bridge::{Host, hosts};
use tenter_engine::Directories;
use tenter_prove::Proof;
use tenter_terminal::{Env, Failure};

use crate::agent_version;

/// An agent, and the traces of its installation.
pub(crate) struct InstalledAgent {
    /// The agent.
    pub host: &'static Host,
    /// Its program in `PATH`.
    pub program: Option<PathBuf>,
    /// True if it has a directory for its settings.
    has_settings: bool,
}

impl InstalledAgent {
    /// Looks for an agent.
    pub(crate) fn find(env: &Env, host: &'static Host) -> Self {
        let mut programs = host.registration.programs.iter();
        let settings = registry(env).target(host, RegistrationScope::User, &env.home);
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

    /// Checks whether there is a sign of the agent.
    pub(crate) fn is_found(&self) -> bool {
        self.program.is_some() || self.has_settings
    }

    /// Returns the version of the agent's program; `None` if it is unknown.
    pub(crate) fn version(&self, env: &Env) -> Option<String> {
        agent_version::find(self.program.as_ref()?, &state(env), env)
    }
}

/// Returns the directory of proofs: programs that other agents start use it, too (B43).
pub(crate) fn state(env: &Env) -> PathBuf {
    Directories::in_home(&env.home).state
}

/// Returns the newest proof of an agent.
pub(crate) fn newest_proof(env: &Env, host: &Host) -> Option<Proof> {
    Proof::kept(&state(env), host).into_iter().next()
}

/// Returns the proofs of all versions of an agent, the newest version first.
pub(crate) fn proofs(env: &Env, host: &Host) -> Vec<Proof> {
    let mut proofs = Proof::kept(&state(env), host);
    proofs.sort_by_key(|proof| Reverse(HostVersion::parse(&proof.version)));
    proofs
}

/// Returns the last denied call that an agent ran anyway; `None` if there was none since the last proof.
pub(crate) fn newest_breach(env: &Env, host: &Host) -> Option<Breach> {
    let proof = newest_proof(env, host);
    let is_new = |breach: &Breach| proof.is_none_or(|proof| proof.proved_at < breach.at);
    breach::last(&state(env), host).filter(is_new)
}

/// Returns the registrations of the user.
pub(crate) fn registry(env: &Env) -> Registry {
    Registry::in_home(&env.home).with_variables(&env.vars)
}

/// Returns the agent with this id.
pub(crate) fn host(id: &str) -> Result<&'static Host, Failure> {
    let by_program = |host: &&&Host| host.registration.programs.contains(&id);
    let ids: Vec<&str> = hosts::ALL.iter().map(|host| host.id).collect();
    hosts::find(id).ok_or_else(|| {
        let help = match hosts::ALL.iter().find(by_program) {
            Some(host) => format!("did you mean `{}`?", host.id),
            None => did_you_mean(id, &ids, || format!("Tenter knows {}", or_list(&ids))),
        };
        Failure::usage(format!("there is no agent {id:?}")).help(help)
    })
}
