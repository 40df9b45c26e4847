//! Trust in the servers of a project: which lack it, and the question about them.

use tenter_base::visible;
use tenter_commands::project::Project;
use tenter_commands::trust::{TrustChoice, TrustRecord, record};
use tenter_commands::user_only;
use tenter_engine::TrustMode;
use tenter_engine::trust::{TrustedKind, trust_name};
use tenter_settings::ConfiguredServer;
use tenter_terminal::question::{Choice, ReadLine, choose, read_at_terminal};
use tenter_terminal::{Env, Exit, Failure, NAME, NOTICE, styled, ui};

use super::covered::ServerCoverage;
use super::{all, is_trusted};
use crate::agent::AgentArgs;
use crate::render::Show;

/// The advice for a server that cannot be trusted.
const ADVICE: &str = "let its command name fewer or smaller files, or configure it in your own config.toml, or set `enabled = false`";

const TRUST: Choice<TrustChoice> = Choice {
    letter: "t",
    label: "trust",
    words: &["trust", "y", "yes"],
    value: TrustChoice::Trust,
};
const SKIP: Choice<TrustChoice> =
    Choice { letter: "s", label: "skip them", words: &["skip"], value: TrustChoice::Skip };
const QUIT: Choice<TrustChoice> =
    Choice { letter: "q", label: "quit", words: &["quit", "n", "no"], value: TrustChoice::Refuse };

/// A server of the project that the user has not trusted.
pub(crate) struct PendingServer {
    server: ConfiguredServer,
    name: String,
    /// The record of trust in it as it is now, and what that covers; or why it cannot be trusted.
    record: Result<(TrustRecord, String), String>,
    was_trusted: bool,
}

impl PendingServer {
    fn new(project: &Project, server: &ConfiguredServer) -> Self {
        let covered = ServerCoverage::new(project, server);
        let record = covered.fingerprint().and_then(|fingerprint| {
            let record =
                TrustRecord::new(TrustedKind::McpServer, &server.name, fingerprint, &server.file);
            Ok((record, covered.description()?))
        });
        let name = trust_name(TrustedKind::McpServer, &server.name);
        let project_trust = project.trust.project(project.root());
        let was_trusted = project_trust.previous(&name, &server.file).is_some();
        Self { server: server.clone(), name, record, was_trusted }
    }

    /// Describes the server, and why it cannot be trusted if it cannot.
    fn in_words(&self) -> String {
        let target = self.server.target();
        let target = visible(&target);
        match &self.record {
            Ok(_) => format!("{} ({target})", visible(&self.name)),
            Err(why) => {
                format!(
                    "{} ({target}), which cannot be trusted: {}",
                    visible(&self.name),
                    visible(why)
                )
            }
        }
    }
}

/// Describes what trust in a server covers, or why it cannot be trusted; `None` for one that needs no trust or runs elsewhere.
pub(crate) fn covered(project: &Project, server: &ConfiguredServer) -> Option<String> {
    if !server.is_project || server.table.url.is_some() {
        return None;
    }
    Some(ServerCoverage::new(project, server).description().unwrap_or_else(|why| why))
}

/// Returns the record of trust in a server as it is now.
///
/// # Errors
/// A covered file cannot be read.
pub(super) fn trust_record(
    project: &Project,
    server: &ConfiguredServer,
) -> Result<TrustRecord, String> {
    let fingerprint = ServerCoverage::new(project, server).fingerprint()?;
    Ok(TrustRecord::new(TrustedKind::McpServer, &server.name, fingerprint, &server.file))
}

/// Returns the servers of the project that the user has not trusted. A disabled one needs no trust.
pub(crate) fn pending(project: &Project) -> Vec<PendingServer> {
    if project.settings.hooks.trust == TrustMode::All {
        return Vec::new();
    }
    let servers = all(project).filter(|server| server.is_enabled() && !is_trusted(project, server));
    servers.map(|server| PendingServer::new(project, server)).collect()
}

/// Decides with the user about the servers of the project before a session.
///
/// # Errors
/// The user refuses, or cannot be asked.
pub(crate) fn settle(
    project: &mut Project,
    args: &AgentArgs,
    show: &dyn Show,
) -> Result<(), Failure> {
    let is_about_servers = |name: &String| name.starts_with("mcp__");
    let are_used =
        args.allowed_tools.as_ref().is_none_or(|names| names.iter().any(is_about_servers));
    if args.no_mcp || !are_used {
        return Ok(());
    }
    let pending = pending(project);
    if pending.is_empty() {
        return Ok(());
    }
    if args.trust_project {
        return trust(project, &pending);
    }
    match ask(project, &pending) {
        TrustChoice::Trust => trust(project, &pending),
        TrustChoice::Only(_) | TrustChoice::Skip => {
            ui::note(format!("Skipped this time: {}.", visible(&names(&pending).join(", "))));
            Ok(())
        }
        TrustChoice::Refuse => {
            show.untrusted(&names(&pending));
            Err(refusal(&pending))
        }
    }
}

/// Asks the user. Where the user cannot be asked, nothing may run and nothing may be left out: refuse.
pub(crate) fn ask(project: &Project, pending: &[PendingServer]) -> TrustChoice {
    // An agent can make itself a terminal.
    if !Env::can_ask() || user_only::is_below_agent(project.env, project.root()) {
        return TrustChoice::Refuse;
    }
    ask_through(project, pending, &mut read_at_terminal)
}

/// Asks the user, who answers through `read`.
pub(crate) fn ask_through(
    project: &Project,
    pending: &[PendingServer],
    read: &mut ReadLine,
) -> TrustChoice {
    ui::note(format!(
        "{} {} has MCP servers that you have not trusted:",
        styled(NOTICE, "?"),
        visible(&project.root().to_string_lossy()),
    ));
    pending.iter().for_each(describe);
    let can_be_trusted = pending.iter().any(|pending| pending.record.is_ok());
    let choices: &[_] = if can_be_trusted { &[TRUST, SKIP, QUIT] } else { &[SKIP, QUIT] };
    let question = if can_be_trusted { "Let them run?" } else { "Continue without them?" };
    choose(question, choices, read).unwrap_or(TrustChoice::Refuse)
}

/// Shows everything that the user agrees to.
fn describe(pending: &PendingServer) {
    let PendingServer { server, name, record, was_trusted } = pending;
    let what = if server.table.url.is_some() { "calls" } else { "starts" };
    let before = if *was_trusted { "changed since you trusted it" } else { "new" };
    ui::note(format!(
        "  {}  {what} {}  {}  {}",
        styled(NAME, visible(name)),
        visible(&server.target()),
        visible(&server.file.to_string_lossy()),
        styled(NOTICE, before)
    ));
    for (name, value) in server.facts() {
        ui::note(format!("    {name}: {}", visible(&value)));
    }
    match record {
        Ok((_, covered)) if server.table.url.is_none() => {
            ui::note(format!("    trust covers: {}", visible(covered)));
        }
        Ok(_) => {}
        Err(why) => {
            ui::note(format!("    {}: {}", styled(NOTICE, "cannot be trusted"), visible(why)));
            ui::note(format!("    {ADVICE}"));
        }
    }
}

/// Trusts these servers as they were shown, and says so.
///
/// # Errors
/// One of them cannot be trusted; the others are.
pub(crate) fn trust(project: &mut Project, pending: &[PendingServer]) -> Result<(), Failure> {
    let records = pending.iter().filter_map(|pending| Some(&pending.record.as_ref().ok()?.0));
    let records: Vec<&TrustRecord> = records.collect();
    if !records.is_empty() {
        let entries: Vec<_> = records.iter().map(|record| record.entry()).collect();
        record(project, &entries)?;
        project.read_trust_again();
        let names: Vec<&str> = records.iter().map(|record| record.name()).collect();
        ui::note(format!("Trusted: {}.", visible(&names.join(", "))));
    }
    let rest = pending.iter().filter(|pending| pending.record.is_err());
    let rest: Vec<&PendingServer> = rest.collect();
    if rest.is_empty() { Ok(()) } else { Err(refusal_of(&rest)) }
}

fn names(pending: &[PendingServer]) -> Vec<String> {
    pending.iter().map(|pending| pending.name.clone()).collect()
}

/// Returns the failure of a command that cannot continue without trust (R46).
pub(crate) fn refusal(pending: &[PendingServer]) -> Failure {
    refusal_of(&pending.iter().collect::<Vec<_>>())
}

fn refusal_of(pending: &[&PendingServer]) -> Failure {
    let servers = pending.iter().map(|pending| pending.in_words()).collect::<Vec<_>>().join(", ");
    let message = format!("this project has MCP servers that you have not trusted: {servers}");
    let failure = Failure { exit: Exit::Untrusted, ..Failure::new(message) };
    if pending.iter().all(|pending| pending.record.is_err()) {
        return failure.help(format!("{ADVICE}; or pass --no-mcp to run without MCP servers"));
    }
    failure.help(
        "review them, then run `tenter trust`; or pass --trust-project to trust them as they are, or --no-mcp to run without \
         MCP servers",
    )
}
