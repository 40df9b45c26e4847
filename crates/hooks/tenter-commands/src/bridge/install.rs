//! `tenter bridge install`.

use std::path::PathBuf;

use tenter_base::{excerpt, visible};
use tenter_bridge::Host;
use tenter_bridge::host::HostVersion;
use tenter_bridge::registration::{self, Options, Plan, RegistrationScope, Registry, Target};
use tenter_engine::Directories;
use tenter_engine::inspect::Catalog;
use tenter_proc::Cancel;
use tenter_prove::Client;
use tenter_terminal::question::read_at_terminal;
use tenter_terminal::{
    CommandResult, Env, Exit, FAINT, Failure, GOOD, NAME, NOTICE, now, styled, ui,
};

use super::canary::{self, Canary};
use super::consent::Consent;
use super::{located, location};
use crate::installed_agents::InstalledAgent;
use crate::project::Project;
use crate::user_only;

/// Register your hooks with agents.
///
/// Your hooks then run in these agents as they run under `tenter run`. Hooks that you add later need no new installation.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct Args {
    /// Agents, such as claude-code; without any you are asked.
    #[arg(value_name = "AGENT")]
    hosts: Vec<String>,
    /// Register with every agent found on this machine.
    #[arg(long, conflicts_with = "hosts")]
    all: bool,
    /// Register only in this project, in your personal settings.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = ".")]
    project: Option<PathBuf>,
    /// Register in the settings that everyone in the project shares.
    #[arg(long, requires = "project")]
    shared: bool,
    /// Register for all users of this machine, where the agent's administrators do, as root.
    #[arg(long, conflicts_with_all = ["project", "shared", "all"], requires = "hosts")]
    managed: bool,
    /// Block prompts and tool calls if Tenter fails to start.
    #[arg(long)]
    fail_closed: bool,
    /// Let Claude Code run the commands that hooks confine.
    #[arg(long, conflicts_with = "shared")]
    confine: bool,
    /// Register without trying it in a scratch home first.
    #[arg(long)]
    no_check: bool,
    /// Register a program that other users may replace.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    consent: Consent,
}

/// Maximum length of evidence in messages, in characters.
const MAX_EVIDENCE: usize = 300;

/// One run of the command.
struct Installation<'a> {
    env: &'a Env,
    args: &'a Args,
    project: Project<'a>,
    catalog: Catalog,
    scope: RegistrationScope,
    registry: Registry,
    program: PathBuf,
}

pub(super) fn run(env: &Env, args: &Args) -> CommandResult {
    if args.managed {
        return install_managed(env, args);
    }
    let root = location::project_named(env, args.project.as_deref())?;
    let mut project = Project::open(env, root.as_deref())?;
    if args.consent.yes {
        user_only::check(env, project.root(), "bridge install --yes")?;
    }
    let hosts = hosts(env, args)?;
    let scope = match (root, args.shared) {
        (None, _) => RegistrationScope::User,
        (Some(_), false) => RegistrationScope::Personal,
        (Some(_), true) => RegistrationScope::Shared,
    };
    let program = location::program(args.force)?;
    note_other_directories(env);
    let registry = super::registry(env);
    let catalog = project.load(&Cancel::new());
    let installation = Installation { env, args, project, catalog, scope, registry, program };
    let mut exit = Exit::Done;
    for host in hosts {
        match installation.install(host) {
            Ok(Exit::Done) => {}
            Ok(other) => exit = other,
            Err(failure) => {
                ui::failure(&failure);
                exit = Exit::Failed;
            }
        }
    }
    Ok(exit)
}

/// Registers with agents for all users of this machine.
fn install_managed(env: &Env, args: &Args) -> CommandResult {
    let managed = env.directories().managed;
    user_only::check(env, managed.path(), "bridge install --managed")?;
    let program = location::program(args.force)?;
    for host in hosts(env, args)? {
        let file = registration::install_managed(host, &managed, &program)
            .map_err(|finding| Failure { help: finding.help, ..Failure::new(finding.message) })?;
        ui::note(format!(
            "{} {} for all users: {}",
            styled(GOOD, "Registered with"),
            host.name,
            visible(&file.to_string_lossy())
        ));
    }
    Ok(Exit::Done)
}

/// Returns the agents that the arguments name, or that the user chooses.
fn hosts(env: &Env, args: &Args) -> Result<Vec<&'static Host>, Failure> {
    if !args.hosts.is_empty() {
        return args.hosts.iter().map(|id| super::host(id)).collect();
    }
    let agents: Vec<InstalledAgent> =
        InstalledAgent::all(env).into_iter().filter(InstalledAgent::is_found).collect();
    if agents.is_empty() {
        return Err(Failure::new("no agent that Tenter knows was found")
            .help("`tenter bridge list` shows which it knows; name one to register anyway"));
    }
    if args.all {
        return Ok(agents.iter().map(|agent| agent.host).collect());
    }
    ui::note("Found:");
    for InstalledAgent { host, program, .. } in &agents {
        let program = program.as_ref().map_or_else(
            || "settings only".to_owned(),
            |program| visible(&program.to_string_lossy()).into_owned(),
        );
        ui::note(format!("  {}  {}", styled(NAME, host.id), styled(FAINT, program)));
    }
    let prompt = "Register with which of them? (names, `all`, or nothing): ";
    let line = read_at_terminal(prompt).filter(|_| !args.consent.yes).ok_or_else(|| {
        Failure::usage("no agent is named").help("name some of these agents, or pass --all")
    })?;
    match line.trim() {
        "all" => Ok(agents.iter().map(|agent| agent.host).collect()),
        names => names.split([' ', ',']).filter(|id| !id.is_empty()).map(super::host).collect(),
    }
}

/// Notes that hooks in other agents do not use the directories that the environment names (B43).
fn note_other_directories(env: &Env) {
    let (own, others) = (env.directories(), Directories::in_home(&env.home));
    if (&own.config_home, &own.state) != (&others.config_home, &others.state) {
        ui::note(format!(
            "{}: XDG variables change your directories; in other agents, hooks use {} and {}",
            styled(NOTICE, "note"),
            others.config_home.display(),
            others.state.display(),
        ));
    }
}

/// Says which events are not registered because the version is unknown, if there are any.
fn note_unknown_version(host: &Host, plan: &Plan) {
    let is_partial = host.registration.oldest > HostVersion::EARLIEST
        && (1..host.events.len()).contains(&plan.handlers());
    if is_partial {
        ui::note(format!(
            "{}: the version of {} is unknown: only events that version {} knows are registered",
            styled(NOTICE, "note"),
            host.name,
            host.registration.oldest,
        ));
    }
}

impl Installation<'_> {
    fn install(&self, host: &'static Host) -> CommandResult {
        let target = location::target(self.env, host, self.scope, self.project.root())?;
        if self.scope == RegistrationScope::Personal {
            location::check_untracked(&self.project, &target)?;
        }
        let version = InstalledAgent::find(self.env, host).version(self.env);
        let version = version.as_deref().and_then(HostVersion::parse);
        let Args { fail_closed, confine, .. } = *self.args;
        let options = Options { fail_closed, confine, version, timeout: None };
        let plan = self.registry.plan_install(&target, options).map_err(located)?;
        let is_recorded =
            self.registry.records_of(host).iter().any(|record| record.file == target.file);
        if plan.is_change() {
            self.explain(&plan);
            if version.is_none() {
                note_unknown_version(host, &plan);
            }
            if !self.args.consent.to(&plan, "Register?")? {
                let is_shown = self.args.consent.dry_run;
                ui::note("Nothing was changed.");
                return Ok(if is_shown { Exit::Done } else { Exit::Failed });
            }
            self.check(host)?;
        } else if self.args.consent.dry_run {
            ui::note(format!("{}: nothing to change.", host.name));
            return Ok(Exit::Done);
        }
        let now = tenter_base::rfc3339(now());
        self.registry.install(&plan, &self.program, &now).map_err(located)?;
        let file = visible(&target.file.to_string_lossy()).into_owned();
        if plan.is_change() {
            self.report(host, &plan);
        } else if is_recorded {
            ui::note(format!("{}: registered already in {file}.", host.name));
        } else {
            ui::note(format!("{}: registered already in {file}; recorded.", host.name));
        }
        self.note_ignored(&target);
        self.note_silencers(host);
        Ok(Exit::Done)
    }

    /// Says that the agent is registered, where its earlier settings are, and what to do next.
    fn report(&self, host: &'static Host, plan: &Plan) {
        ui::note(format!("{} with {}.", styled(GOOD, "Registered"), host.name));
        for change in plan.changes().iter().filter(|change| change.before().is_some()) {
            let copy = self.registry.copy_path(host, change.path());
            if change.is_change() && copy.exists() {
                ui::note(format!("  Before the first change the file was: {}", copy.display()));
            }
        }
        if let Some(step) = host.registration.next_step {
            ui::note(format!("  {step}"));
        }
        ui::note(format!("  `tenter bridge show {}` lists what hooks can do there.", host.id));
        if Client::find(host).is_some() {
            ui::note(format!("  Prove it: `tenter bridge prove {}`", host.id));
        }
    }

    /// Checks in a scratch home that the agent obeys the registration.
    fn check(&self, host: &'static Host) -> Result<(), Failure> {
        if self.args.no_check {
            return Ok(());
        }
        ui::note(format!("Trying it with {} in a scratch home …", host.name));
        match canary::run(self.env, host, self.args.fail_closed) {
            Canary::Obeys => {
                ui::note("  It reads the registration, and a denied call does not run.");
                Ok(())
            }
            Canary::Untried(why) => {
                let why = visible(&excerpt::one_line(&why, MAX_EVIDENCE)).into_owned();
                ui::note(format!("  {}: not tried: {why}", styled(NOTICE, "warning")));
                Ok(())
            }
            Canary::Ignores(evidence) => {
                let evidence = visible(&excerpt::one_line(&evidence, MAX_EVIDENCE)).into_owned();
                let message = format!(
                    "{} does not obey the registration in a scratch home: {evidence}; nothing was changed",
                    host.name
                );
                Err(Failure::new(message).help(format!(
                    "`tenter bridge prove {} --only registered --keep DIR` keeps what happened; --no-check registers anyway",
                    host.id
                )))
            }
        }
    }

    /// Says what will happen, and how to undo it.
    fn explain(&self, plan: &Plan) {
        let Target { host, scope, .. } = plan.target();
        let where_ = match scope {
            RegistrationScope::User => "in every project".to_owned(),
            RegistrationScope::Personal => format!("in {}, for you", self.project.root().display()),
            RegistrationScope::Shared => {
                format!("in {}, for everyone who has Tenter", self.project.root().display())
            }
        };
        let events = match plan.handlers() {
            // One file has the code for all of them.
            1 => "events".to_owned(),
            count => format!("{count} events"),
        };
        ui::note(format!(
            "{} will run `tenter-hook` at {events} of each session {}; it runs your hooks for the event.",
            styled(NAME, host.name),
            visible(&where_),
        ));
        self.note_unguardable(host);
        if self.args.fail_closed {
            ui::note("If `tenter-hook` fails or is missing, prompts and tool calls are blocked.");
        }
        if let Some(variable) = host.registration.shell_prefix.filter(|_| self.args.confine) {
            ui::note(format!(
                "{} will start its shell commands with `tenter-hook` (the variable {variable}), which confines those that a hook confines.",
                host.name
            ));
        }
        if host.registration.trust_file.is_some() {
            ui::note(format!(
                "{} runs only entries that you trust: their hashes are added, too, so that it runs these without a question.",
                host.name
            ));
        }
        let project = if *scope == RegistrationScope::User { "" } else { " --project" };
        ui::note(format!("To undo it: `tenter bridge remove {}{project}`", host.id));
    }

    /// Names the hooks that cannot guard results there (B19).
    fn note_unguardable(&self, host: &Host) {
        let hooks = self.catalog.hooks().iter().filter(|hook| host.cannot_guard_results(hook));
        let names: Vec<String> = hooks.map(|hook| visible(&hook.name).into_owned()).collect();
        if !names.is_empty() {
            ui::note(format!(
                "{}: {} shows the model every result as it is. Calls are denied there that these hooks match, because they fail closed: {} (`bridge.unguardable`)",
                styled(NOTICE, "warning"),
                host.name,
                names.join(", "),
            ));
        }
    }

    /// Warns that the agent does not read the file.
    fn note_ignored(&self, target: &Target) {
        if let Ok(Some(ignored)) = self.registry.ignored_because(target) {
            ui::note(format!(
                "{}: {} ignores {}: {ignored}",
                styled(NOTICE, "warning"),
                target.host.name,
                visible(&target.file.to_string_lossy()),
            ));
        }
    }

    fn note_silencers(&self, host: &'static Host) {
        let targets = self.registry.targets(host, self.project.root());
        for setting in self.registry.silencing_settings(host, &targets) {
            ui::note(format!(
                "{}: {} is {} in {} (line {}): {} runs no hooks of yours",
                styled(NOTICE, "warning"),
                setting.key,
                setting.value,
                visible(&setting.file.to_string_lossy()),
                setting.line,
                host.name,
            ));
        }
    }
}
