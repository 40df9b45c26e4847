//! `tenter check`: says what hooks decide about a command or a tool call, without running anything.

use std::path::PathBuf;

use tenter_engine::inspect::{Catalog, ConsideredHook, HookFacts};
use tenter_proc::Cancel;
use tenter_protocol::{EventName, ToolCall};
use tenter_terminal::{CommandResult, Exit, ui};

use super::call_verdict::CallVerdict;
use super::{call, explain};
use crate::project::Project;
use crate::trust;

/// Check what your hooks decide about a command, without running it.
///
/// Rules and static hooks decide; hooks with a script are named, and not run. The exit code is 0 if the call passes, also
/// confined, and 1 if a hook denies it or asks the user.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("call").required(true))]
pub struct Args {
    /// The shell command, such as 'git push --force'.
    #[arg(group = "call")]
    command: Option<String>,
    /// The words of a command that runs without a shell: -- git push --force.
    #[arg(group = "call", last = true, value_name = "WORD")]
    words: Vec<String>,
    /// Check that this file is read.
    #[arg(long, value_name = "FILE", group = "call")]
    read: Option<PathBuf>,
    /// Check that this file is written.
    #[arg(long, value_name = "FILE", group = "call")]
    write: Option<PathBuf>,
    /// Check a call of a tool, by any of its names, with this input.
    #[arg(long, num_args = 2, value_names = ["NAME", "JSON"], group = "call")]
    tool: Vec<String>,
    /// Explain how the call is read, and why each hook stops it or not.
    #[arg(long, short)]
    verbose: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(mut project: Project, args: &Args) -> CommandResult {
    let in_quotes = |word: &String| format!("'{}'", word.replace('\'', r"'\''"));
    let command = match &args.words[..] {
        // After `--`, a single word may be a whole command, too.
        [command] => Some(command.clone()),
        [] => args.command.clone(),
        words => Some(words.iter().map(in_quotes).collect::<Vec<_>>().join(" ")),
    };
    let call = match (&command, &args.read, &args.write, &args.tool[..]) {
        (Some(command), ..) => call::command(command),
        (_, Some(file), ..) => call::reading(file),
        (_, _, Some(file), _) => call::writing(file),
        (_, _, _, [name, input]) => call::build_call(name, Some(input))?,
        // The parser makes sure that there is one of them.
        _ => call::command(""),
    };
    let catalog = project.load(&Cancel::new());
    let facts = explain::facts_of(&project, &catalog, &call);
    let verdict = CallVerdict::new(&considered(&catalog, &call, &facts), &facts);
    let verdict = verdict.with_untrusted(&catalog);
    if args.json {
        ui::json(&verdict);
    } else {
        ui::out(verdict.line());
    }
    if args.verbose && !args.json {
        explain::print_call(&project, &catalog, (&call, &facts));
    }
    trust::note_untrusted(&catalog);
    super::show_findings(&project);
    Ok(if verdict.decision.lets_run() { Exit::Done } else { Exit::Failed })
}

fn considered<'c>(
    catalog: &'c Catalog,
    call: &ToolCall,
    facts: &HookFacts,
) -> Vec<ConsideredHook<'c>> {
    catalog.explain(&[EventName::BeforeTool], Some((call, facts)))
}
