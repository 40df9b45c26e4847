//! The confinements that this machine keeps, if hooks confine calls, or if hooks or MCP servers are confined (F11).

use std::time::Duration;

use tenter_engine::inspect::{Catalog, HookRules};
use tenter_proc::{Cancel, Invocation, Limits, ProcessEnd, Streams};
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::Env;

use crate::project::Project;

/// Timeout of the launcher.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Returns one line with the promises that do not hold completely, or that all do.
pub(super) fn examine(project: &Project, catalog: &Catalog) -> Option<Diagnostic> {
    let confines = catalog.hooks().iter().any(|hook| {
        hook.options.is_pure || hook.options.rules.as_ref().is_some_and(HookRules::confine)
    });
    let confines =
        confines || project.settings.mcp.iter().any(|server| server.table.confine.is_some());
    if !confines {
        return None;
    }
    let invocation = Invocation {
        program: Env::program(),
        args: vec!["confine".into(), "--check".into()],
        cwd: project.root().to_owned(),
        env: project.env.vars.clone(),
        stdin: Vec::new(),
        streams: Streams::Merged,
        limits: Limits { timeout: TIMEOUT, ..Limits::default() },
    };
    let completion = tenter_proc::run(&invocation, &Cancel::new());
    let text = completion.stdout.text();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(" not kept ")).collect();
    let names: Vec<&str> = lines.iter().filter_map(|line| line.split("  ").next()).collect();
    if matches!(completion.end, ProcessEnd::Exited(0)) {
        let message = "this machine keeps what confinements promise";
        return Some(Diagnostic::new("confine-kept", Severity::Info, message));
    }
    let message = format!("this machine does not keep of confinements: {}", names.join(", "));
    let finding = Diagnostic::new("confine-not-kept", Severity::Warning, message);
    Some(finding.help("run `tenter confine --check`"))
}
