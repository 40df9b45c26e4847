//! Trust in the servers of a project: what it covers, and the question about it.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tenter_base::{hex, untrusted_file};
use tenter_engine::hook::Fingerprint;
use tenter_engine::trust::{TrustMode, TrustedKind};

use super::expansion::expand;
use super::{all, is_trusted};
use crate::agent::AgentArgs;
use crate::env::Env;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::question::{Choice, choose, read_at_terminal};
use crate::render::Show;
use crate::sanitize::visible;
use crate::settings::ConfiguredServer;
use crate::trust::{TrustChoice, TrustRecord, record};
use crate::ui::{self, NAME, NOTICE, styled};
use crate::user_only;

/// Maximum size of a file that trust covers, in bytes.
const MAX_FILE: u64 = 10 << 20;

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

/// What trust in a server covers: all of its settings, and the files of the project that its command line names.
#[derive(Clone)]
pub(super) struct Covered {
    settings: String,
    files: Vec<PathBuf>,
}

impl Covered {
    pub(super) fn of(project: &Project, server: &ConfiguredServer) -> Self {
        let table = &server.table;
        let variables = project.hook_environment().for_hook(&table.pass_env, &[]);
        let cwd = project.root().join(table.cwd.as_deref().unwrap_or(Path::new(".")));
        // A bare name of a program is looked up in `PATH`.
        let command = table.command.iter().filter(|command| command.contains('/'));
        let words = command.chain(&table.args);
        let words = words.map(|word| expand(word, &variables).unwrap_or_else(|_| word.clone()));
        let files =
            words.map(|word| cwd.join(word)).filter(|path| path.starts_with(project.root()));
        let settings = serde_json::to_string(table).unwrap_or_default();
        Self { settings: format!("{}\n{settings}", server.name), files: files.collect() }
    }

    /// The fingerprint of the present state.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn fingerprint(&self) -> Result<Fingerprint, String> {
        let mut digest = Sha256::new();
        digest.update(Sha256::digest(&self.settings));
        for path in &self.files {
            let content = match path.metadata() {
                Ok(metadata) if metadata.is_file() => untrusted_file::read(path, MAX_FILE)
                    .map_err(|error| {
                        format!("its file {} cannot be read: {error}", path.display())
                    })?,
                Ok(_) | Err(_) => continue,
            };
            digest.update(path.as_os_str().as_encoded_bytes());
            digest.update(Sha256::digest(content));
        }
        Ok(Fingerprint(hex(&digest.finalize())))
    }
}

/// A server of the project that the user has not trusted.
pub(crate) struct PendingServer {
    server: ConfiguredServer,
    record: TrustRecord,
    was_trusted: bool,
}

/// The record of trust in a server as it is now.
///
/// # Errors
/// One of its files cannot be read.
pub(super) fn trust_record(
    project: &Project,
    server: &ConfiguredServer,
) -> Result<TrustRecord, String> {
    let fingerprint = Covered::of(project, server).fingerprint()?;
    Ok(TrustRecord::new(TrustedKind::McpServer, &server.name, fingerprint, &server.file))
}

/// The servers of the project that the user has not trusted. A disabled one needs no trust.
pub(crate) fn pending(project: &Project) -> Vec<PendingServer> {
    if project.settings.hooks.trust == TrustMode::All {
        return Vec::new();
    }
    let untrusted =
        all(project).filter(|server| server.is_enabled() && !is_trusted(project, server));
    let pending = untrusted.filter_map(|server| {
        let record = trust_record(project, server).ok()?;
        let trusted = project.trust.of(project.root());
        let was_trusted = trusted.previous(record.name(), &server.file).is_some();
        Some(PendingServer { server: server.clone(), record, was_trusted })
    });
    pending.collect()
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
        TrustChoice::Skip => {
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
    ui::note(format!(
        "{} {} has MCP servers that you have not trusted:",
        styled(NOTICE, "?"),
        visible(&project.root().to_string_lossy()),
    ));
    pending.iter().for_each(describe);
    let choices = [TRUST, SKIP, QUIT];
    choose("Let them run?", &choices, &mut read_at_terminal).unwrap_or(TrustChoice::Refuse)
}

/// Shows everything that the user agrees to.
fn describe(pending: &PendingServer) {
    let PendingServer { server, record, was_trusted } = pending;
    let what = if server.table.url.is_some() { "calls" } else { "starts" };
    let before = if *was_trusted { "changed since you trusted it" } else { "new" };
    ui::note(format!(
        "  {}  {what} {}  {}  {}",
        styled(NAME, visible(record.name())),
        visible(&server.target()),
        visible(&server.file.to_string_lossy()),
        styled(NOTICE, before)
    ));
    for (name, value) in server.facts() {
        ui::note(format!("    {name}: {}", visible(&value)));
    }
}

/// Trusts these servers as they were shown, and says so.
pub(crate) fn trust(project: &mut Project, pending: &[PendingServer]) -> Result<(), Failure> {
    let entries: Vec<_> = pending.iter().map(|pending| pending.record.entry()).collect();
    record(project, &entries)?;
    project.read_trust_again();
    ui::note(format!("Trusted: {}.", visible(&names(pending).join(", "))));
    Ok(())
}

fn names(pending: &[PendingServer]) -> Vec<String> {
    pending.iter().map(|pending| pending.record.name().to_owned()).collect()
}

/// The failure of a command that cannot continue without trust (R46).
pub(crate) fn refusal(pending: &[PendingServer]) -> Failure {
    let servers = pending.iter().map(|pending| {
        format!("{} ({})", visible(pending.record.name()), visible(&pending.server.target()))
    });
    let servers = servers.collect::<Vec<_>>().join(", ");
    let message = format!("this project has MCP servers that you have not trusted: {servers}");
    Failure { exit: Exit::Untrusted, ..Failure::new(message) }.help(
        "review them, then run `tenter trust`; or pass --trust-project to trust them as they are, or --no-mcp to run without \
         MCP servers",
    )
}
