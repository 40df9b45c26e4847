//! `tenter hooks`: lists, shows, creates, checks and tests hooks.

mod call;
mod call_verdict;
pub mod check;
mod complete;
mod discover;
mod doctor;
mod entry;
mod explain;
mod format;
mod interpretation;
mod judge;
pub(crate) mod lint;
mod list;
mod manifest_file;
mod new;
pub(crate) mod post;
mod read_properties;
mod report;
mod schema;
mod script_check;
mod scripts;
mod show;
mod stats;
mod switch;
mod test;
mod to_prompt;
mod validate;

use std::path::Path;

use tenter_base::nearest;
use tenter_protocol::lifecycle::{TABLE, by_any_spelling, by_claude_code, executable_spellings};
use tenter_protocol::{Diagnostic, EventName};
use tenter_terminal::{CommandResult, Env, Failure, ui};

use crate::project::Project;
use crate::{Commands, Deferred, OwnAgent, guard};

pub use doctor::OWN_TOOLS;
pub use list::show_catalog;
pub(crate) use new::examples;
pub use switch::{disable, enable};
pub use test::test_once_or_all;
pub use validate::findings_in;

/// List, add, show, create, check and test hooks.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List all hooks, and why some do not run.
    List(Deferred<list::Args>),
    /// Show the details of one hook.
    Show(Deferred<show::Args>),
    /// List guards and other ready-made hooks.
    Catalog(Deferred<guard::list::Args>),
    /// Change which ready-made hooks are installed.
    #[command(flatten)]
    ReadyMade(Commands<guard::GuardChange>),
    /// Create a hook, empty or from a template.
    New(Deferred<new::Args>),
    /// Run a hook's tests, or run it once on a payload.
    Test(Deferred<test::Args>),
    /// Enable a disabled hook.
    Enable(Deferred<switch::Args>),
    /// Disable a hook: its name gets the suffix .disable.
    Disable(Deferred<switch::Args>),
    /// Explain which hooks would run at an event, and why.
    Explain(Deferred<explain::Args>),
    /// Diagnose problems with your hooks.
    Doctor(Deferred<doctor::Args>),
    /// Find entries in agents' hook settings that cannot work.
    Lint(Deferred<lint::Args>),
    /// Show how often each hook ran, and how long it took.
    Stats(Deferred<stats::Args>),
    /// Check hooks against the specification.
    Validate(Deferred<validate::Args>),
    /// Print the fields of a HOOK.md as JSON.
    ReadProperties(Deferred<read_properties::Args>),
    /// List the directories that contain a HOOK.md.
    Discover(Deferred<discover::Args>),
    /// Print the JSON Schema of what a hook reads or prints.
    Schema(Deferred<schema::Args>),
    /// Print what a system prompt would say about hooks, as XML.
    ToPrompt(Deferred<to_prompt::Args>),
    /// Post a payload to a hook behind HTTP.
    #[command(hide = true)]
    Post(Deferred<post::Args>),
    /// Ask the model for a hook in another agent.
    #[command(hide = true)]
    Complete(Deferred<complete::Args>),
    /// Ask the model whether an event may happen, as a runtime hook.
    #[command(hide = true)]
    Judge(Deferred<judge::Args>),
}

/// Runs the command.
pub fn run(
    env: &Env,
    project: Option<&Path>,
    command: &Command,
    agent: &'static dyn OwnAgent,
) -> CommandResult {
    let open = || Project::open(env, project);
    match command {
        Command::List(args) => list::run(open()?, args),
        Command::Catalog(args) => guard::catalog(&open()?, args),
        Command::ReadyMade(change) => guard::change(env, project, "hooks", &change.0, agent),
        Command::Show(args) => show::run(open()?, args),
        Command::New(args) => new::run(open()?, args),
        Command::Test(args) => test::run(open()?, args),
        Command::Enable(args) => switch::enable(&mut open()?, &args.name),
        Command::Disable(args) => switch::disable(&mut open()?, &args.name),
        Command::Explain(args) => explain::run(open()?, args),
        Command::Doctor(args) => Ok(doctor::run(open()?, args)),
        Command::Lint(args) => lint::run(&open()?, args),
        Command::Stats(args) => Ok(stats::run(open()?, args)),
        Command::Validate(args) => validate::run(&open, &env.vars, args),
        Command::ReadProperties(args) => read_properties::run(args),
        Command::Discover(args) => Ok(discover::run(&open()?, args)),
        Command::Schema(args) => schema::run(args),
        Command::ToPrompt(args) => to_prompt::run(args),
        Command::Post(args) => Ok(post::run(env, args)),
        Command::Complete(_) => complete::run(&open()?, agent),
        Command::Judge(args) => judge::run(args),
    }
}

/// Returns the events with the spelling `word`, in either protocol.
fn events_named(word: &str) -> Result<Vec<EventName>, Failure> {
    let events = by_any_spelling(word);
    if !events.is_empty() {
        return Ok(events);
    }
    let names = || TABLE.iter().map(|row| row.name);
    let suggestion = by_claude_code(word)
        .map(EventName::as_str)
        .or_else(|| nearest(word, names().chain(executable_spellings())));
    let suggestion = suggestion.map(|name| format!("did you mean {name}? ")).unwrap_or_default();
    let names: Vec<&str> = names().collect();
    let names_of_events = format!(
        "{}; executables call them {}",
        names.join(", "),
        executable_spellings().join(", ")
    );
    Err(Failure::usage(format!("there is no event {word:?}"))
        .help(format!("{suggestion}the events are {names_of_events}")))
}

/// Returns the threshold of automatic compaction, as a ratio of the context window; `None` if it is off (R50).
fn auto_compact(project: &Project) -> Option<f64> {
    project.settings.auto_compact
}

/// Shows the diagnostics, except those that a listing shows with their hook.
fn show_findings(project: &Project) {
    let is_listed = |finding: &Diagnostic| {
        ["hook-invalid", "hook-shadowed", "hook-not-executable"].contains(&finding.id)
    };
    ui::diagnostics(project.findings().filter(|finding| !is_listed(finding)));
    if !project.settings.hooks.enabled {
        let file = project.env.config_file();
        ui::note(format!(
            "Hooks are disabled in {} (hooks.enabled = false): only built-in and managed hooks run.",
            file.display()
        ));
    }
}
