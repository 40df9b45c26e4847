//! `tenter hooks test`: runs a hook's tests, or runs it once as an agent would, and shows its payload, its output and the
//! decision. Nothing is recorded, and no agent is involved.
//!
//! A test is a file `tests/*.json` in the directory of a manifest hook; `case` documents its form. The examples of its rules are tests,
//! too.

mod all;
mod case;
mod example;
mod junit;
mod once;
mod payload;
mod table;

use std::path::PathBuf;
use std::slice;
use std::sync::Arc;

use tenter_base::visible;
use tenter_engine::Engine;
use tenter_engine::inspect::{Catalog, Hook, ListedHook, Status, Untrusted};
use tenter_proc::Cancel;
use tenter_protocol::Object;
use tenter_terminal::screen::screen;
use tenter_terminal::{CommandResult, Exit, Failure, signals, ui};

use super::entry;
use crate::project::Project;
use crate::trust::{self, PendingTrust, TrustChoice};
use crate::user_only;

/// Run a hook's tests, or run it once as an agent would.
///
/// Shows the payload, what the hook wrote, and the decision.
///
/// The tests are the files tests/*.json in the hook's directory, and the examples of its rules. Without tests, or with --payload, --event or --sample, the hook
/// runs once. The exit code of one run is 0 if the reply is valid, whatever it decides, or if the matcher does not match
/// ("unmatched"), and 1 if the hook fails.
#[derive(Debug, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Args {
    /// The hook's full name; without it, every hook that runs in this project is tested.
    name: Option<String>,
    /// Test every hook that runs in this project, as without NAME.
    #[arg(long, conflicts_with_all = ["name", "payload", "event", "sample", "json"])]
    all: bool,
    /// Show the tests that passed, too, if every hook is tested.
    #[arg(long, short)]
    verbose: bool,
    /// Also write the results of tests to FILE, as JUnit XML.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["payload", "event", "sample"])]
    junit: Option<PathBuf>,
    /// Run it once on this payload, a JSON object; "-" reads it from stdin. Missing fields are taken from a sample of the event that
    /// its "event" or "event_type" names, or of the hook's only event.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["event", "sample"], requires = "name")]
    payload: Option<String>,
    /// Run it once on a sample of this event.
    #[arg(long, value_name = "EVENT", requires = "name")]
    event: Option<String>,
    /// Run it once on a sample, even if it has tests.
    #[arg(long, requires = "name")]
    sample: bool,
    /// Trust the hook's current content without asking.
    #[arg(long, visible_alias = "yes")]
    trust: bool,
    /// Print JSON.
    #[arg(long, requires = "name")]
    json: bool,
}

impl Args {
    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}

pub(super) fn run(mut project: Project, args: &Args) -> CommandResult {
    let cancel = signals::cancel()?;
    let payload = args.payload.as_deref().map(|file| payload::read(&project, file)).transpose()?;
    let catalog = project.load(&cancel);
    if args.all || args.name.is_none() {
        super::show_findings(&project);
        return all::run(&mut project, catalog, args, &cancel);
    }
    let catalog = trusted(&mut project, catalog, args, &cancel)?;
    super::show_findings(&project);
    test(&project, &catalog, payload, args, &cancel)
}

/// Tests the hook of this name in `catalog`: on a sample of `event`, if there is one, else with its tests.
pub fn test_once_or_all(
    project: &Project,
    catalog: &Catalog,
    (name, event): (&str, Option<&str>),
    cancel: &Cancel,
) -> CommandResult {
    let (name, event) = (name.to_owned(), event.map(str::to_owned));
    let args = Args { name: Some(name), event, ..Args::default() };
    test(project, catalog, None, &args, cancel)
}

fn test(
    project: &Project,
    catalog: &Catalog,
    payload: Option<Object>,
    args: &Args,
    cancel: &Cancel,
) -> CommandResult {
    let hook = find(project, catalog, args.name())?;
    let _waiting = screen().wait_for(format!("hook {}", visible(&hook.name)));
    if payload.is_none() && args.event.is_none() && !args.sample {
        let tests = tests_of(hook)?;
        if !tests.is_empty() {
            return table::run(project, hook, tests, args, cancel);
        }
    }
    once::run(project, hook, payload, args, cancel)
}

/// Returns the tests of a hook.
fn tests_of(hook: &Hook) -> Result<table::Tests, Failure> {
    Ok(table::Tests { files: case::files(hook)?, examples: example::results(hook)? })
}

/// Returns an engine without observers, to test hooks with.
fn engine(project: &Project) -> Engine {
    project.engine_builder().build(Catalog::default())
}

/// Asks whether to trust the hook if it is not trusted, or trusts it because of `--trust`. Returns the catalog after that.
fn trusted(
    project: &mut Project,
    catalog: Catalog,
    args: &Args,
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    let Some(hook) = untrusted(&catalog, args.name()) else { return Ok(catalog) };
    let pending = PendingTrust { hooks: slice::from_ref(hook), recipes: &[] };
    if args.trust {
        user_only::check(project.env, project.root(), "hooks test --trust")?;
    } else if trust::ask(project, pending) != TrustChoice::Trust {
        return Ok(catalog);
    }
    let reloaded = trust::trust_hooks(project, pending.hooks, cancel)?;
    ui::note(format!("Trusted: {}.", visible(args.name())));
    trust::note_consequences(hook);
    Ok(reloaded)
}

/// Returns the hook of this name if only trust is missing for it to run.
fn untrusted<'c>(catalog: &'c Catalog, name: &str) -> Option<&'c Untrusted> {
    let active = would_run(catalog, name)?;
    catalog.untrusted().iter().find(|hook| hook.path == active.path)
}

/// Returns the entry of this name with the highest precedence that runs, or would run if it were trusted.
fn would_run<'c>(catalog: &'c Catalog, name: &str) -> Option<&'c ListedHook> {
    let mut by_precedence = catalog.listing().iter().filter(|hook| hook.name == name);
    by_precedence.find(|hook| {
        matches!(
            hook.status,
            Status::Active | Status::NotTrusted { .. } | Status::WouldDisplace { .. }
        )
    })
}

/// Returns the active hook of this name.
///
/// # Errors
/// There is none, or an untrusted hook would replace it.
fn find<'c>(project: &Project, catalog: &'c Catalog, name: &str) -> Result<&'c Arc<Hook>, Failure> {
    entry::refuse_built_in(name)?;
    let entries = entry::entries_named(project, catalog, name)?;
    if would_run(catalog, name).is_some_and(|hook| hook.status != Status::Active) {
        let failure = Failure::new(format!("the hook {name} is not trusted, so it was not run"))
            .help(
                "review it with `tenter hooks show`, then trust it with `tenter trust` or --trust",
            );
        return Err(Failure { exit: Exit::Untrusted, ..failure });
    }
    let active = catalog.hooks().iter().find(|hook| hook.name == name);
    active.ok_or_else(|| {
        let reason = entries.iter().find_map(|entry| entry.reason.as_deref());
        Failure::new(format!("the hook {name} {}", reason.unwrap_or("does not run")))
    })
}
