//! `tenter hooks lint`: finds entries in the hook settings of agents that cannot work.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tenter_base::untrusted_file;
use tenter_bridge::hook_lint::{self, LintedFile};
use tenter_bridge::host::HostVersion;
use tenter_bridge::registration::Registry;
use tenter_bridge::{Host, hosts, import};
use tenter_protocol::Diagnostic;
use tenter_terminal::{CommandResult, Exit, Failure, GOOD, styled, ui};

use crate::installed_agents::{InstalledAgent, host};
use crate::project::Project;

/// Find entries in agents' hook settings that cannot work.
///
/// The settings of agents name variables, matchers, events and answers that an agent does not have, and nothing says so: the hook
/// never does anything. Each finding says what to write instead. The exit code is 1 if there is one.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent [default: every agent].
    #[arg(value_name = "AGENT")]
    agent: Option<String>,
    /// A settings file of the agent [default: the user's and the project's].
    #[arg(value_name = "FILE", requires = "agent")]
    file: Option<PathBuf>,
    /// Print the findings as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(project: &Project, args: &Args) -> CommandResult {
    let agent = args.agent.as_deref().map(host).transpose()?;
    let mut findings = Vec::new();
    for host in hosts::ALL.iter().filter(|host| agent.is_none_or(|agent| agent.id == host.id)) {
        match &args.file {
            Some(file) => {
                let file = project.env.cwd.join(file);
                let text = untrusted_file::read_to_string(&file)
                    .map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
                findings.extend(findings_in(project, host, (file, text), true));
            }
            None => findings.extend(examine(project, host)),
        }
    }
    if args.json {
        ui::json(&findings);
    } else {
        findings.iter().for_each(ui::diagnostic);
        if findings.is_empty() {
            ui::out(format!("{}: no entry without an effect.", styled(GOOD, "All is well")));
        }
    }
    Ok(if findings.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Returns the findings in the settings files of an agent.
pub(crate) fn examine(project: &Project, host: &'static Host) -> Vec<Diagnostic> {
    let registry = Registry::in_home(&project.env.home).with_variables(&project.env.vars);
    let settings = registry.targets(host, project.root()).into_iter().map(|target| target.file);
    let bases = [project.env.home.as_path(), project.root()].into_iter();
    let further = bases.flat_map(|base| {
        let names = import::files_of(host, *base == project.env.home).into_iter();
        names.map(|name| base.join(name)).chain(import::files_in_directories(host, base))
    });
    let has_entries = |file: &PathBuf| {
        file.extension().is_some_and(|ending| ending == "json" || ending == "toml")
    };
    let further = further.filter(has_entries);
    let paths: BTreeSet<PathBuf> = settings.chain(further).collect();
    let files = paths.into_iter().filter_map(|path| {
        let text = untrusted_file::read_to_string(&path).ok()?;
        Some((path, text))
    });
    files.flat_map(|file| findings_in(project, host, file, false)).collect()
}

/// Returns the findings in a settings file, if it is one of hooks or the user named it.
pub(crate) fn findings_in(
    project: &Project,
    host: &'static Host,
    (path, text): (PathBuf, String),
    is_named: bool,
) -> Vec<Diagnostic> {
    if !text.contains("hooks") && !is_named && !hook_lint::is_policy(host, &path) {
        return Vec::new();
    }
    let version = InstalledAgent::find(project.env, host).version(project.env);
    let file = LintedFile {
        path,
        text,
        project: project.root().to_owned(),
        home: project.env.home.clone(),
        version: version.as_deref().and_then(HostVersion::parse),
    };
    hook_lint::lint(host, &file).unwrap_or_else(|invalid| vec![invalid.at(&file.path)])
}
