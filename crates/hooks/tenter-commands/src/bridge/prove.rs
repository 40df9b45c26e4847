//! `tenter bridge prove`: runs an agent against a scripted model to prove that hooks guard it (B32).

use std::ffi::OsStr;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tenter_base::{did_you_mean, excerpt, private_dir, visible};
use tenter_bridge::host::HostVersion;
use tenter_bridge::{Host, guide, hosts};
use tenter_proc::{Cancel, Invocation};
use tenter_prove::{
    Check, CheckVerdict, Client, Proof, ProvedCheck, Prover, machine, network, page,
};
use tenter_terminal::text::prose;
use tenter_terminal::{
    BAD, CommandResult, Env, Exit, FAINT, Failure, GOOD, HEADING, NOTICE, now, numbers, styled, ui,
};

use super::{location, own_rules};
use crate::installed_agents::{self, InstalledAgent};
use crate::project::Project;

/// Prove that your hooks guard an agent on this machine.
///
/// Runs the installed agent in a scratch home and project, against a scripted model on this machine, with hooks that are registered as
/// `tenter bridge install` registers them. Then the model calls the first example of each rule of your own hooks, which must stop it; the
/// examples are changed so that they do nothing. Needs no key and no network, and changes none of your files.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct Args {
    /// Agents, such as claude-code.
    #[arg(value_name = "AGENT", required_unless_present = "all")]
    hosts: Vec<String>,
    /// Prove every agent found on this machine.
    #[arg(long, conflicts_with = "hosts")]
    all: bool,
    /// Prove only these checks, by their ids; nothing is kept.
    #[arg(long, value_name = "CHECK", value_delimiter = ',', value_parser = check)]
    only: Vec<Check>,
    /// Prove only the registration for all users: it denies, although the user disables hooks. Nothing is kept.
    #[arg(long, conflicts_with_all = ["only", "all", "write_docs"])]
    managed: bool,
    /// Print JSON, with the whole evidence.
    #[arg(long)]
    json: bool,
    /// Add the results to docs/hosts.md and docs/bridge.md.
    #[arg(long, conflicts_with = "only")]
    write_docs: bool,
    /// Stop a run of the agent after SECONDS.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = numbers::seconds_of_an_hour)]
    timeout: u64,
    /// Keep the scratch files in DIR, which must be empty or missing.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Set for the process that has no network to the mount namespace of its parent, so that it does not start itself again.
const ISOLATED: &str = "TENTER_PROVE_ISOLATED";

/// Maximum length of evidence in the table, in characters: of what is broken, and of the rest.
const EVIDENCE: (usize, usize) = (300, 110);
/// The width of the column with what is proved, and of all columns before the evidence.
const PROVED_WIDTH: usize = 44;
const PROOF_COLUMNS: usize = PROVED_WIDTH + 14;
/// Minimum width of evidence on the same line.
const MIN_EVIDENCE: usize = 40;

/// One run of the command.
struct Proving<'a> {
    project: &'a Project<'a>,
    args: &'a Args,
    /// The program that is registered.
    tenter_hook: PathBuf,
    /// True if agents have no network but loopback.
    isolated: bool,
    cancel: Cancel,
}

pub(super) fn run(project: &Project, args: &Args) -> CommandResult {
    let clients = clients(project.env, args)?;
    let isolated = isolate(project.env, args.managed)?;
    if args.managed && !has_own_mounts(project.env) {
        let failure = Failure::new("not tried: this system lets no process have mounts of its own");
        return Err(failure
            .help("the proof needs the program `unshare`, and root or permitted user namespaces"));
    }
    let tenter_hook = location::program_beside()?;
    let cancel = tenter_terminal::signals::cancel()?;
    let proving = Proving { project, args, tenter_hook, isolated, cancel };
    let mut exit = Exit::Done;
    let mut proofs = Vec::new();
    for (host, client) in clients {
        match proving.prove(host, client) {
            Ok(Some(proof)) => proofs.push(proof),
            Ok(None) => return Ok(Exit::Interrupted),
            Err(failure) => {
                ui::failure(&failure);
                exit = Exit::Failed;
            }
        }
    }
    if args.json {
        ui::json(&proofs);
    }
    if args.write_docs {
        write_docs(project)?;
    }
    let is_broken = proofs.iter().any(Proof::is_broken);
    Ok(if is_broken { Exit::Failed } else { exit })
}

/// Returns whether this command was started again with mounts of its own.
fn has_own_mounts(env: &Env) -> bool {
    env.var(ISOLATED).is_some_and(machine::has_own_mounts)
}

/// Starts this command again without a network but loopback, and with `own_mounts`, where the system permits it; returns whether there is no
/// network.
fn isolate(env: &Env, own_mounts: bool) -> Result<bool, Failure> {
    if network::is_isolated() && (!own_mounts || has_own_mounts(env)) {
        network::turn_loopback_on()
            .map_err(|error| Failure::new(format!("loopback cannot be turned on: {error}")))?;
        return Ok(true);
    }
    let command = (env.var(ISOLATED).is_none())
        .then(|| network::isolating_command(&env.vars, &env.cwd, own_mounts))
        .flatten();
    let Some((program, options)) = command else { return Ok(false) };
    let mut vars = env.vars.clone();
    let namespace = machine::mount_namespace().unwrap_or_default();
    vars.push((ISOLATED.into(), namespace.into_os_string()));
    let own = [Env::program().into_os_string()];
    let invocation = Invocation {
        program,
        args: options.into_iter().chain(own).chain(Env::arguments()).collect(),
        cwd: env.cwd.clone(),
        env: vars,
        ..Invocation::default()
    };
    let error = tenter_proc::replace_process(&invocation);
    Err(Failure::new(format!("the command cannot be started without a network: {error}")))
}

/// Reads the id of a check.
fn check(id: &str) -> Result<Check, String> {
    Check::find(id).ok_or_else(|| {
        let ids: Vec<String> = Check::all().into_iter().map(Check::id).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let help = did_you_mean(id, &ids, || format!("the checks are {}", ids.join(", ")));
        format!("no check has this id: {help}")
    })
}

/// Returns the agents that are proved.
fn clients(env: &Env, args: &Args) -> Result<Vec<(&'static Host, &'static Client)>, Failure> {
    if args.all {
        let version =
            hosts::ALL.iter().filter(|host| InstalledAgent::find(env, host).program.is_some());
        return Ok(version.filter_map(|host| Some((*host, Client::find(host)?))).collect());
    }
    let client = |id: &String| {
        let host = super::host(id)?;
        let unknown =
            || Failure::new(format!("Tenter cannot run {} without a terminal", host.name));
        let client = Client::find(host).ok_or_else(unknown)?;
        let missing = || {
            let programs = host.registration.programs.join(", ");
            Failure::new(format!("{} is not installed", host.name))
                .help(format!("none of these programs is in PATH: {programs}"))
        };
        InstalledAgent::find(env, host).program.ok_or_else(missing)?;
        if args.managed && client.off_switch.is_none() {
            return Err(Failure::new(format!(
                "the place where administrators register hooks with {} is not known",
                host.name
            )));
        }
        Ok((host, client))
    };
    args.hosts.iter().map(client).collect()
}

impl Proving<'_> {
    /// Proves one agent and keeps the result; `None` if it was interrupted.
    fn prove(
        &self,
        host: &'static Host,
        client: &'static Client,
    ) -> Result<Option<Proof>, Failure> {
        let agent = InstalledAgent::find(self.project.env, host);
        let program =
            agent.program.as_ref().ok_or_else(|| Failure::new(format!("{} is gone", host.name)))?;
        let version = agent.version(self.project.env);
        let host_version = version.as_deref().and_then(HostVersion::parse);
        let version = version.unwrap_or_else(|| "unknown".to_owned());
        let scratch = Scratch::create(self.args.keep.as_deref(), host)?;
        let now = tenter_base::rfc3339(now());
        let start = Instant::now();
        let prover = Prover {
            host,
            client,
            program,
            tenter_hook: &self.tenter_hook,
            version: host_version,
            path: self.project.env.var("PATH").unwrap_or(OsStr::new("/usr/bin:/bin")),
            directory: scratch.path(),
            now: &now,
            patience: Duration::from_secs(self.args.timeout),
        };
        let only = if self.args.managed { &vec![Check::Managed] } else { &self.args.only };
        let all = Check::all();
        let checks = if only.is_empty() { &all } else { only };
        let checks =
            prover.run(checks, &self.cancel, &|done, all| progress(host, "runs", done, all));
        let Some(checks) = checks else { return Ok(None) };
        let mut proof = Proof::new(host, &version, &now).with(checks, self.isolated);
        if only.is_empty() {
            proof
                .keep(&installed_agents::state(self.project.env))
                .map_err(|error| Failure::new(format!("the result cannot be kept: {error}")))?;
            let rules = own_rules::find(self.project);
            if proof.denies() && !rules.is_empty() {
                let progress = |count, all| progress(host, "of your rules", count, all);
                let Some(proved) = prover.run_rules(&rules, &self.cancel, &progress) else {
                    return Ok(None);
                };
                proof.rules = proved;
            }
        }
        if !self.args.json {
            print(host, &proof, start.elapsed().as_secs());
        }
        if self.args.keep.is_some() {
            ui::note(format!("Files: {}", visible(&scratch.path().to_string_lossy())));
        }
        Ok(Some(proof))
    }
}

/// The directory of the scratch homes and projects.
enum Scratch {
    Kept(PathBuf),
    Removed(TempDir),
}

impl Scratch {
    fn create(keep: Option<&Path>, host: &Host) -> Result<Self, Failure> {
        let failure = |path: &Path, error: &io::Error| {
            Failure::new(format!("{}: cannot make a scratch directory: {error}", path.display()))
        };
        let Some(directory) = keep else {
            let directory = TempDir::with_prefix("tenter-prove-");
            return directory
                .map(Self::Removed)
                .map_err(|error| failure(Path::new("temporary directory"), &error));
        };
        let directory = directory.join(host.id);
        private_dir::create(&directory).map_err(|error| failure(&directory, &error))?;
        let is_empty = fs::read_dir(&directory).is_ok_and(|mut entries| entries.next().is_none());
        if !is_empty {
            return Err(Failure::usage(format!("{} is not empty", directory.display())));
        }
        let real = directory.canonicalize().map_err(|error| failure(&directory, &error))?;
        Ok(Self::Kept(real))
    }

    fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Removed(directory) => directory.path(),
        }
    }
}

/// Shows how many of something are done.
fn progress(host: &Host, what: &str, count: usize, all: usize) {
    let line = format!("{}: {count} of {all} {what} done", host.name);
    if !io::stderr().is_terminal() {
        ui::note(line);
        return;
    }
    let end = if count == all { "\n" } else { "" };
    ui::note_piece(format!("\r{line}{end}"));
}

fn print(host: &Host, proof: &Proof, seconds: u64) {
    let network = if proof.isolated { "no network" } else { "the agent could reach the network" };
    let version = visible(&proof.version).into_owned();
    ui::out(format!("{} {version}, proved in {seconds} s; {network}", styled(HEADING, host.name)));
    for ProvedCheck { proves, verdict, evidence, .. } in &proof.checks {
        let style = match verdict {
            CheckVerdict::Yes => GOOD,
            CheckVerdict::Emulated => NOTICE,
            CheckVerdict::No => FAINT,
            CheckVerdict::Broken => BAD,
        };
        let word = styled(style, format!("{:8}", verdict.as_str()));
        let room = ui::columns().saturating_sub(PROOF_COLUMNS);
        if *verdict == CheckVerdict::Broken || room < MIN_EVIDENCE {
            ui::out(format!("  {word}  {proves}"));
            let length = if *verdict == CheckVerdict::Broken { EVIDENCE.0 } else { EVIDENCE.1 };
            let evidence = visible(&excerpt::one_line(evidence, length)).into_owned();
            let width = ui::columns().saturating_sub(12);
            for line in prose(&evidence, width) {
                ui::out(format!("            {}", styled(FAINT, line)));
            }
        } else {
            let evidence = excerpt::one_line(evidence, room.min(EVIDENCE.1));
            let evidence = styled(FAINT, visible(&evidence));
            ui::out(format!("  {word}  {proves:PROVED_WIDTH$}  {evidence}"));
        }
    }
    let count = |verdict: CheckVerdict| format!("{} {}", proof.count(verdict), verdict.as_str());
    let counts =
        [CheckVerdict::Yes, CheckVerdict::Emulated, CheckVerdict::No, CheckVerdict::Broken]
            .map(count);
    ui::out(counts.join(", "));
    own_rules::print(&proof.rules);
}

/// Writes the newest result of each agent into the page about agents, and the results of all versions into the page about the bridge. What the
/// pages have of other agents and versions stays.
fn write_docs(project: &Project) -> Result<(), Failure> {
    let proofs = hosts::ALL.iter().flat_map(|host| installed_agents::proofs(project.env, host));
    let proofs: Vec<Proof> = proofs.collect();
    write_table(project, "docs/hosts.md", |earlier| page::table(&proofs, earlier))?;
    write_table(project, "docs/bridge.md", |earlier| page::versions(&proofs, earlier))
}

/// Writes a table between the lines of a page that mark its place; `table` gets the text that is there.
fn write_table(
    project: &Project,
    page: &str,
    table: impl Fn(&str) -> String,
) -> Result<(), Failure> {
    let path = project.root().join(page);
    let failure = |why: &dyn std::fmt::Display| Failure::new(format!("{}: {why}", path.display()));
    let text = fs::read_to_string(&path).map_err(|error| failure(&error))?;
    let text = guide::proved(&text)
        .and_then(|earlier| guide::with_proved(&text, &table(earlier)))
        .ok_or_else(|| failure(&"it has no lines `proved: begin` and `proved: end`"))?;
    tenter_base::replace_file::replace(&path, text.as_bytes()).map_err(|error| failure(&error))?;
    ui::note(format!("Wrote {}", path.display()));
    Ok(())
}
