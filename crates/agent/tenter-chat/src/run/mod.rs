//! `tenter run`: runs an agent on one query or recipe, under the project's hooks.

mod compaction;

use std::path::Path;
use std::sync::Arc;

use tenter_agent::session::Status;
use tenter_commands::project::Project;
use tenter_engine::builtin;
use tenter_terminal::screen::{Working, screen};
use tenter_terminal::{CommandResult, Env, Failure, notify, signals};

use crate::agent::recipes::argument;
use crate::agent::{self, AgentArgs};
use crate::render::{Headless, Quiet, Show, Terminal};

/// Run an agent on one query, in the project, until it is done.
///
/// The query is the arguments followed by stdin, if that is not a terminal. With --recipe the query is optional, and follows the
/// text of the recipe.
#[derive(Debug, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Args {
    /// The task.
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Run this recipe; `compact` compacts the conversation of --follow or --resume.
    #[arg(long, short, value_name = "NAME")]
    recipe: Option<String>,
    /// Pass an argument to the recipe; repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = argument, requires = "recipe")]
    arg: Vec<(String, String)>,
    #[command(flatten)]
    agent: AgentArgs,
    /// Change nothing: the answer is a plan.
    #[arg(long)]
    plan: bool,
    /// Print only the model's last text.
    #[arg(long, conflicts_with = "headless")]
    result_only: bool,
    /// Print JSON lines: text, tool calls, hook runs, usage, status.
    #[arg(long)]
    headless: bool,
    /// With --headless, also print text as it comes.
    #[arg(long, requires = "headless")]
    stream_deltas: bool,
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    if args.recipe.as_deref() == Some(builtin::RECIPE) {
        return compaction::run(env, project, args);
    }
    let mut message = args.agent.message(env, query(args)?)?;
    let mut project = Project::open(env, project)?;
    let cancel = signals::cancel()?;
    let show = show(env, &project, args);
    let _working = work(args);
    let interrupted = |failure: Failure| failure.or_interrupted(&cancel);
    let catalog = agent::hooks_to_run(&mut project, &args.agent, show.as_ref(), &cancel)?;
    agent::mcp::settle(&mut project, &args.agent, show.as_ref()).map_err(interrupted)?;
    let find_recipe =
        |name: &String| agent::recipe_to_run(&mut project, &args.agent, name, show.as_ref());
    let recipe = args.recipe.as_ref().map(find_recipe).transpose().map_err(interrupted)?;
    let mut agent = agent::build(&project, &args.agent, catalog, Arc::clone(&show), &cancel)?;
    agent.agent.permissions.set_planning(args.plan);
    for finding in project.findings().chain(&agent.findings) {
        show.finding(finding);
    }
    if let Some(recipe) = &recipe {
        let text = agent.start_recipe(recipe, &args.arg, show.as_ref(), &cancel)?;
        message.text = agent::below(&text, &message.text);
    }
    if !args.headless {
        notify::set_up(env, project.settings.notify);
    }
    notify::work_begins();
    let finish = agent::work(&agent, &message, &cancel);
    notify::work_ends(agent::finish_words(finish.status));
    if finish.status == Status::Interrupted {
        agent.agent.workspace.end_background();
    }
    show.finished(&finish);
    agent.close_journal(&project);
    Ok(agent::exit_after(finish.status))
}

fn query(args: &Args) -> Result<String, Failure> {
    let text = args.query.join(" ");
    let piped =
        Env::piped_stdin().map_err(|error| Failure::new(format!("cannot read stdin: {error}")))?;
    let parts: Vec<&str> = [text.as_str(), piped.trim_end()]
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .collect();
    if parts.is_empty() && args.recipe.is_none() {
        return Err(Failure::usage("there is no query").help(
            "pass it as an argument or on stdin: tenter run \"what does this project do?\"",
        ));
    }
    Ok(parts.join("\n"))
}

/// Begins work that a terminal shows.
fn work(args: &Args) -> Option<Working> {
    (!args.headless).then(|| screen().work())
}

fn show(env: &Env, project: &Project, args: &Args) -> Arc<dyn Show> {
    let debug = env.text("TENTER_LOG") == Some("debug");
    if args.headless {
        Arc::new(Headless::new(args.stream_deltas))
    } else if args.result_only {
        Arc::new(Quiet::default())
    } else if env.can_redraw() {
        Arc::new(Terminal::with_markdown(debug, project.root()))
    } else {
        Arc::new(Terminal::raw(debug))
    }
}
