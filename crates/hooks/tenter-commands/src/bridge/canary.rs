//! The canary of an installation: shows in a scratch home that the installed agent obeys a registration, before its settings change.
//!
//! The agent runs as `tenter bridge prove` runs it, in a process of its own, which can have no network.

use std::time::Duration;

use tenter_bridge::Host;
use tenter_proc::{Cancel, Invocation, Limits};
use tenter_prove::{Check, CheckVerdict, Client, Proof, ProvedCheck};
use tenter_terminal::Env;

use crate::installed_agents::InstalledAgent;

/// Maximum time that one run of the agent may take.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The result of the canary.
pub(super) enum Canary {
    /// The agent obeys the registration.
    Obeys,
    /// It does not; the evidence.
    Ignores(String),
    /// It could not be tried, for this reason.
    Untried(String),
}

/// Lets the installed agent run with a registration, which blocks if the program fails when `fail_closed` is set.
pub(super) fn run(env: &Env, host: &'static Host, fail_closed: bool) -> Canary {
    let untried = |why: &str| Canary::Untried(why.to_owned());
    if Client::find(host).is_none() {
        return untried("Tenter cannot run it without a terminal");
    }
    if InstalledAgent::find(env, host).program.is_none() {
        return untried("its program is not in PATH");
    }
    let blocks = fail_closed.then_some(Check::Missing);
    let checks = [Check::Registered].into_iter().chain(blocks).map(Check::id);
    let checks: Vec<String> = checks.collect();
    match prove(env, host, &checks.join(",")) {
        Some(proof) => judge(proof.checks),
        None => untried("its run failed"),
    }
}

/// Runs `tenter bridge prove` for these checks.
fn prove(env: &Env, host: &Host, checks: &str) -> Option<Proof> {
    let timeout = TIMEOUT.as_secs().to_string();
    let args =
        ["bridge", "prove", host.id, "--json", "--only", checks, "--timeout", timeout.as_str()];
    let invocation = Invocation {
        program: Env::program(),
        args: args.map(Into::into).into(),
        cwd: env.cwd.clone(),
        env: env.vars.clone(),
        limits: Limits { timeout: TIMEOUT * 4, ..Limits::default() },
        ..Invocation::default()
    };
    let completion = tenter_proc::run(&invocation, &Cancel::new());
    let proofs: Vec<Proof> = serde_json::from_str(&completion.stdout.text()).ok()?;
    proofs.into_iter().next()
}

/// Returns an agent that did not even ask the model shows nothing about its hooks.
fn judge(checks: Vec<ProvedCheck>) -> Canary {
    let mut failures = checks.into_iter().filter(|check| check.verdict == CheckVerdict::Broken);
    match failures.next() {
        None => Canary::Obeys,
        Some(check) if !check.reached_model => Canary::Untried(check.evidence),
        Some(check) => Canary::Ignores(check.evidence),
    }
}
