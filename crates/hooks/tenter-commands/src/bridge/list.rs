//! `tenter bridge list`.

use std::path::PathBuf;

use serde::Serialize;
use tenter_base::{format_count, visible};
use tenter_bridge::keeper::{self, KeeperStatus};
use tenter_bridge::registration::{self, RegisteredHandler, RegistrationScope, Registry};
use tenter_bridge::unknown_tools::{self, UnknownTool};
use tenter_bridge::{Host, heartbeat};
use tenter_engine::Directories;
use tenter_prove::CheckVerdict;
use tenter_terminal::{BAD, Exit, FAINT, NAME, NOTICE, styled, ui};

use crate::installed_agents::{InstalledAgent, newest_breach, newest_proof};
use crate::project::Project;
use crate::registered_program;

/// List agents, and where your hooks are registered.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// An agent, with the fields of the JSON output.
#[derive(Serialize)]
pub(crate) struct ListedAgent {
    pub id: &'static str,
    pub name: &'static str,
    pub program: Option<PathBuf>,
    pub version: Option<String>,
    /// When the agent last ran `tenter-hook`, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_event: Option<String>,
    pub registrations: Vec<ListedRegistration>,
    /// The file of the administrators, if hooks are registered there for all users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed: Option<PathBuf>,
    /// The newest proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proved: Option<ListedProof>,
    /// The last denied call that the agent ran anyway, unless it was proved since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breach: Option<ListedBreach>,
    /// Tools that sessions used and Tenter does not know by their names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown_tools: Vec<UnknownTool>,
}

/// An element of the JSON output.
#[derive(Serialize)]
#[serde(untagged)]
enum ListedElement<'l> {
    /// An agent.
    InstalledAgent(&'l ListedAgent),
    /// The process that keeps runtime hooks between the events of agents.
    Keeper {
        /// `keeper`, which is the id of no agent.
        id: &'static str,
        name: &'static str,
        /// A keeper is registered nowhere.
        registrations: [ListedRegistration; 0],
        keeper: &'l KeeperStatus,
    },
}

impl<'l> ListedElement<'l> {
    fn keeper(keeper: &'l KeeperStatus) -> Self {
        Self::Keeper { id: "keeper", name: "keeper of runtime hooks", registrations: [], keeper }
    }
}

/// A denied call that ran, with the fields of the JSON output.
#[derive(Serialize)]
pub(crate) struct ListedBreach {
    /// The error message.
    pub message: String,
    /// When, in RFC 3339.
    pub at: String,
    pub session: String,
}

/// A proof, with the fields of the JSON output.
#[derive(Serialize)]
pub(crate) struct ListedProof {
    pub version: String,
    /// When, in RFC 3339.
    pub at: String,
    /// Number of checks that showed something else than promised.
    pub broken: usize,
}

/// A registration, with the fields of the JSON output.
#[derive(Serialize)]
pub(crate) struct ListedRegistration {
    pub scope: RegistrationScope,
    pub file: PathBuf,
    /// The events that are registered as an installation registers them.
    pub events: usize,
    /// True if these are all events of the agent.
    pub complete: bool,
    /// The reason why the file cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

pub(super) fn run(project: &Project, args: &Args) -> Exit {
    let agents: Vec<ListedAgent> = agents(project, |agent| agent.version(project.env)).collect();
    let state = Directories::in_home(&project.env.home).state;
    let keepers = keeper::running(&keeper::directories(&project.env.vars, &state));
    if args.json {
        let agents = agents.iter().map(ListedElement::InstalledAgent);
        let elements: Vec<ListedElement> =
            agents.chain(keepers.iter().map(ListedElement::keeper)).collect();
        ui::json(&elements);
    } else {
        agents.iter().for_each(print);
        registered_program::examine(project.env).iter().for_each(ui::diagnostic);
        keepers.iter().for_each(print_keeper);
    }
    Exit::Done
}

/// Returns every known agent, with its version as `version` finds it.
pub(crate) fn agents<'p>(
    project: &'p Project<'_>,
    version: impl Fn(&InstalledAgent) -> Option<String> + 'p,
) -> impl Iterator<Item = ListedAgent> + 'p {
    let registry = super::registry(project.env);
    InstalledAgent::all(project.env).into_iter().map(move |agent| ListedAgent {
        id: agent.host.id,
        name: agent.host.name,
        version: version(&agent),
        last_event: last_event(project, agent.host),
        registrations: registrations(project, &registry, &agent),
        managed: registration::managed_registration(agent.host, &project.layout.managed),
        proved: proved(project, agent.host),
        breach: breach(project, agent.host),
        // As for the last event (B43).
        unknown_tools: unknown_tools::list(
            &Directories::in_home(&project.env.home).state,
            agent.host,
        ),
        program: agent.program,
    })
}

/// Returns when an agent last ran `tenter-hook`.
fn last_event(project: &Project, host: &Host) -> Option<String> {
    // Programs that other agents start use these directories (B43).
    let state = Directories::in_home(&project.env.home).state;
    let time = heartbeat::last_event(&state, host)?;
    Some(tenter_base::rfc3339(time.try_into().ok()?))
}

/// Returns the newest proof of an agent.
fn proved(project: &Project, host: &Host) -> Option<ListedProof> {
    let proof = newest_proof(project.env, host)?;
    let failures = proof.count(CheckVerdict::Broken);
    Some(ListedProof { version: proof.version, at: proof.proved_at, broken: failures })
}

/// Returns the last denied call that an agent ran anyway.
fn breach(project: &Project, host: &Host) -> Option<ListedBreach> {
    let breach = newest_breach(project.env, host)?;
    let message = breach.describe(host);
    Some(ListedBreach { message, at: breach.at, session: breach.session })
}

/// Returns the registrations with an agent: for the user, in this project, and in other projects as recorded.
fn registrations(
    project: &Project,
    registry: &Registry,
    agent: &InstalledAgent,
) -> Vec<ListedRegistration> {
    let host = agent.host;
    let targets = registry.targets(host, project.root());
    let elements = targets.into_iter().filter_map(|target| {
        let (handlers, error) = match registry.registered(&target) {
            Ok(handlers) if handlers.is_empty() => return None,
            Ok(handlers) => (handlers, None),
            Err(error) => (Vec::new(), Some(error.message)),
        };
        let is_intact = |handler: &&RegisteredHandler| handler.is_intact;
        let events = handlers.iter().filter(is_intact).count();
        let complete = events == registry.expected(&target) && handlers.len() == events;
        Some(ListedRegistration { scope: target.scope, file: target.file, events, complete, error })
    });
    elements.collect()
}

/// Shows the process that keeps runtime hooks between the events of agents, and what it keeps.
fn print_keeper(keeper: &KeeperStatus) {
    let (project, since) = (visible(&keeper.project), ui::short_time(&keeper.since));
    let about = styled(FAINT, format!("process {}, since {since}", keeper.pid));
    ui::out(format!("{}  {project}  {about}", styled(NAME, "keeper")));
    for process in &keeper.hooks {
        let (hook, layer, since) =
            (visible(&process.hook), visible(&process.layer), ui::short_time(&process.since));
        let answers = format_count(process.answered, "event", "events");
        let about = styled(FAINT, format!("{layer}, {answers}, since {since}"));
        ui::out(format!("  {hook}  {about}"));
    }
}

fn print(agent: &ListedAgent) {
    let version = match (&agent.program, &agent.version) {
        (_, Some(version)) => visible(version).into_owned(),
        (Some(_), None) => "version unknown".to_owned(),
        (None, None) => "not found".to_owned(),
    };
    let is_registered = agent.managed.is_some() || !agent.registrations.is_empty();
    let state = if is_registered { "registered" } else { "not registered" };
    let last = agent.last_event.as_ref().map(|time| format!(", last event {time}"));
    let last = styled(FAINT, last.unwrap_or_default());
    ui::out(format!("{}  {}  {version}  {state}{last}", styled(NAME, agent.id), agent.name));
    if let Some(file) = &agent.managed {
        let file = visible(&file.to_string_lossy()).into_owned();
        ui::out(format!("  managed   {}", styled(FAINT, file)));
    }
    for registration in &agent.registrations {
        let file = visible(&registration.file.to_string_lossy()).into_owned();
        let flaw = match &registration.error {
            Some(error) => format!("  {}", styled(NOTICE, visible(error))),
            None if registration.complete => String::new(),
            None => {
                let help = format!("incomplete: run `tenter bridge install {}` again", agent.id);
                format!("  {}", styled(NOTICE, help))
            }
        };
        let scope = registration.scope.as_str();
        ui::out(format!("  {scope:8}  {}{flaw}", styled(FAINT, file)));
    }
    if let Some(proof) = &agent.proved {
        let (version, date) = (visible(&proof.version), ui::short_time(&proof.at));
        let flaw = match proof.broken {
            0 => String::new(),
            count => format!("  {}", styled(NOTICE, format!("{count} BROKEN"))),
        };
        ui::out(format!("  proved    {}{flaw}", styled(FAINT, format!("{version}, {date}"))));
    }
    if !agent.unknown_tools.is_empty() {
        let tools: Vec<String> = agent.unknown_tools.iter().map(UnknownTool::describe).collect();
        ui::out(format!("  unknown tools: {}", styled(FAINT, visible(&tools.join(", ")))));
    }
    if let Some(breach) = &agent.breach {
        let message = visible(&breach.message);
        let at = styled(FAINT, ui::short_time(&breach.at));
        ui::out(format!("  {}, {at}", styled(BAD, message)));
    }
}
