//! `tenter trust`: which of the project's hooks may run (R45 to R47). `tenter run` asks the same questions here.

use std::fs;
use std::io::{self, BufRead as _};
use std::path::Path;

use serde_json::json;
use tenter_engine::catalog::{Catalog, Untrusted};
use tenter_engine::clock::rfc3339;
use tenter_engine::source::{self, Script};
use tenter_engine::trust::TrustEntry;
use tenter_proc::Cancel;

use super::Done;
use crate::env::{self, Env};
use crate::failure::{Exit, Failure};
use crate::hooks::Project;
use crate::sanitize::sanitize;
use crate::ui::{self, HEADING, NAME, NOTICE, styled};

/// Lines of a script that are shown before it is trusted.
const SHOWN_LINES: usize = 40;

/// Say which of the project's hooks may run.
///
/// Hooks of a project run only when you trust them as they are; any change of their content asks again. Your own hooks
/// need no trust.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Trust every hook that is found now, without asking.
    #[arg(long)]
    yes: bool,
    /// List what is trusted.
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    list: bool,
    /// Take trust back: of this project's hook NAME, or of all its hooks.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "yes")]
    revoke: Option<String>,
    /// List as JSON.
    #[arg(long, requires = "list")]
    json: bool,
}

/// Does it.
pub(crate) fn run(env: &Env, project: Option<&Path>, args: &Args) -> Done {
    let mut project = Project::open(env, project)?;
    if args.list {
        list(&project, args.json);
        return Ok(Exit::Done);
    }
    if let Some(name) = &args.revoke {
        return revoke(&mut project, Some(name.as_str()).filter(|name| !name.is_empty()));
    }
    let cancel = Cancel::new();
    let catalog = project.load(&cancel);
    ui::diagnostics(project.findings());
    if catalog.untrusted().is_empty() {
        ui::note(format!(
            "Nothing to trust: no hook of {} waits for it.",
            project.root().display()
        ));
        return Ok(Exit::Done);
    }
    let choice = if args.yes { Choice::Trust } else { ask(&project, &catalog) };
    match choice {
        Choice::Trust => {
            trust_and_reload(&mut project, &catalog, &cancel)?;
            Ok(Exit::Done)
        }
        Choice::Skip => Ok(Exit::Done),
        Choice::Refuse => {
            refuse(catalog.untrusted());
            Ok(Exit::Untrusted)
        }
    }
}

/// What to do about untrusted hooks (R46).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Trust them as they are now.
    Trust,
    /// Go on without them.
    Skip,
    /// Do not go on.
    Refuse,
}

/// Asks the person. Where nobody can be asked, nothing may run and nothing may be left out: refuse.
pub(crate) fn ask(project: &Project, catalog: &Catalog) -> Choice {
    if !Env::can_ask() {
        return Choice::Refuse;
    }
    ask_through(project, catalog, &mut |prompt| {
        ui::note_piece(prompt);
        let mut line = String::new();
        let length = io::stdin().lock().read_line(&mut line).unwrap_or(0);
        (length > 0).then_some(line)
    })
}

/// Asks the person, who answers through `read`: it shows a prompt and returns a line, or none when the dialogue is over.
pub(crate) fn ask_through(
    project: &Project,
    catalog: &Catalog,
    read: &mut dyn FnMut(&str) -> Option<String>,
) -> Choice {
    ui::note(format!(
        "{} {} has hooks that you have not trusted:",
        styled(NOTICE, "?"),
        project.root().display()
    ));
    catalog.untrusted().iter().for_each(describe);
    loop {
        let prompt = "Let them run? [t] trust  [v] view  [s] skip them  [q] quit: ";
        let Some(line) = read(prompt) else { return Choice::Refuse };
        match line.trim().to_lowercase().as_str() {
            "t" | "trust" | "y" | "yes" => return Choice::Trust,
            "s" | "skip" => return Choice::Skip,
            "q" | "quit" | "n" | "no" => return Choice::Refuse,
            "v" | "view" => catalog.untrusted().iter().for_each(view),
            _ => {}
        }
    }
}

fn describe(hook: &Untrusted) {
    let before = match &hook.previous {
        None => "new".to_owned(),
        Some(trusted) if trusted.events.is_empty() => {
            format!("changed since you trusted it on {}", trusted.trusted_at)
        }
        Some(trusted) => {
            format!(
                "changed since you trusted it on {} as {}",
                trusted.trusted_at,
                trusted.events.join(", ")
            )
        }
    };
    let mut events: Vec<&str> =
        hook.subscriptions.iter().map(|subscription| subscription.spelling).collect();
    events.dedup();
    // An executable's event is not known before it may run: asking it means running it (R11).
    ui::note(format!(
        "  {}  {}  {}  {}",
        styled(NAME, sanitize(&hook.name)),
        events.join(", "),
        sanitize(&hook.path.to_string_lossy()),
        styled(NOTICE, before)
    ));
}

fn view(hook: &Untrusted) {
    ui::note(styled(HEADING, format!("--- {}", sanitize(&hook.path.to_string_lossy()))));
    // Of a manifest hook, what would run is its script.
    let script = match source::script(&hook.path) {
        Script::Entry(entry) => entry.path,
        Script::NotExecutable(_) | Script::Missing => hook.path.clone(),
    };
    match fs::read(script) {
        Ok(bytes) => show_script(&String::from_utf8_lossy(&bytes)),
        Err(error) => ui::note(format!("cannot be read: {error}")),
    }
}

fn show_script(text: &str) {
    text.lines().take(SHOWN_LINES).for_each(|line| ui::note(sanitize(line)));
    let left = text.lines().count().saturating_sub(SHOWN_LINES);
    if left > 0 {
        ui::note(format!("… {left} more lines: look at the file before you trust it"));
    }
}

/// Says that nothing runs, and the three ways on (R46).
pub(crate) fn refuse(hooks: &[Untrusted]) {
    let names: Vec<&str> = hooks.iter().map(|hook| hook.name.as_str()).collect();
    let failure = Failure::new(format!("this project has hooks that you have not trusted: {}", names.join(", "))).help(
        "look at them and run `tenter trust`; or trust them as they are with --trust-project; or do without hooks with --no-hooks",
    );
    ui::failure(&failure);
}

/// [`trust_all`], and says so.
pub(crate) fn trust_and_reload(
    project: &mut Project,
    catalog: &Catalog,
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    let reloaded = trust_all(project, catalog, cancel)?;
    let names: Vec<&str> = catalog.untrusted().iter().map(|hook| hook.name.as_str()).collect();
    ui::note(format!("Trusted: {}.", sanitize(&names.join(", "))));
    Ok(reloaded)
}

/// Trusts the catalog's untrusted hooks and loads again; their events, known only now, are recorded with them.
pub(crate) fn trust_all(
    project: &mut Project,
    catalog: &Catalog,
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    let entries: Vec<TrustEntry> = catalog.untrusted().iter().map(TrustEntry::from).collect();
    trust(project, &entries)?;
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let reloaded = project.load(cancel);
    let with_events: Vec<TrustEntry> = reloaded
        .hooks()
        .iter()
        .filter(|hook| hook.layer.needs_trust() && names.contains(&hook.name.as_str()))
        .map(|hook| TrustEntry::from(hook.as_ref()))
        .collect();
    trust(project, &with_events)?;
    Ok(reloaded)
}

/// Records trust in the store.
pub(crate) fn trust(project: &mut Project, entries: &[TrustEntry]) -> Result<(), Failure> {
    let root = project.root().to_owned();
    project
        .trust
        .trust(&root, entries, &rfc3339(env::now()))
        .map_err(|error| Failure::new(error.to_string()))
}

fn revoke(project: &mut Project, name: Option<&str>) -> Done {
    let root = project.root().to_owned();
    let revoked =
        project.trust.revoke(&root, name).map_err(|error| Failure::new(error.to_string()))?;
    match (revoked, name) {
        (0, Some(name)) => {
            Err(Failure::new(format!("no hook {name:?} of {} is trusted", root.display()))
                .help("tenter trust --list shows what is"))
        }
        (0, None) => {
            ui::note(format!("No hook of {} was trusted.", root.display()));
            Ok(Exit::Done)
        }
        (count, _) => {
            ui::note(format!("Took trust back from {count} of the hooks of {}.", root.display()));
            Ok(Exit::Done)
        }
    }
}

fn list(project: &Project, as_json: bool) {
    if as_json {
        let entries: Vec<_> = project
            .trust
            .list()
            .map(|(root, name, trusted)| {
                json!({"project": root.to_string_lossy(), "name": name, "path": trusted.path, "hash": trusted.hash.0,
                       "events": trusted.events, "trusted_at": trusted.trusted_at})
            })
            .collect();
        ui::out(serde_json::to_string_pretty(&entries).unwrap_or_default());
        return;
    }
    for (root, name, trusted) in project.trust.list() {
        let events = trusted.events.join(", ");
        ui::out(format!(
            "{}  {}  {}  {}",
            root.display(),
            styled(NAME, sanitize(name)),
            events,
            trusted.trusted_at
        ));
    }
}
