//! `tenter run`: answer one query, or do what a recipe says, under the project's hooks.

mod compaction;

use std::path::Path;
use std::sync::Arc;

use tenter_agent::session::Status;
use tenter_engine::builtin;
use tenter_proc::Cancel;

use super::Done;
use crate::agent::recipes::argument;
use crate::agent::{self, AgentArgs};
use crate::env::Env;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::render::{Headless, Quiet, Show, Terminal};
use crate::signals;

/// Answer one query: the agent works in the project until it is done.
///
/// The query is made of the arguments and of what is piped in. With --recipe it may be missing; what there is of it stands
/// below the recipe's text.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// What to do.
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Do what this recipe says, as `tenter recipe list` shows it; `compact` shortens the conversation of --follow or
    /// --resume.
    #[arg(long, short, value_name = "NAME")]
    recipe: Option<String>,
    /// Give the recipe an argument; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = argument, requires = "recipe")]
    arg: Vec<(String, String)>,
    #[command(flatten)]
    agent: AgentArgs,
    /// Print the model's last text and nothing else.
    #[arg(long, conflicts_with = "headless")]
    result_only: bool,
    /// Print one JSON object a line: text, tool calls, hook runs and their decisions, usage, and how it ended.
    #[arg(long)]
    headless: bool,
    /// With --headless, print text as it comes, too.
    #[arg(long, requires = "headless")]
    stream_deltas: bool,
}

/// Does it.
pub(crate) fn run(env: &Env, project: Option<&Path>, args: &Args) -> Done {
    if args.recipe.as_deref() == Some(builtin::RECIPE) {
        return compaction::run(env, project, args);
    }
    let mut message = args.agent.message(env, query(args)?)?;
    let mut project = Project::open(env, project)?;
    let cancel = Cancel::new();
    signals::forward(&cancel)?;
    let show = show(env, args);
    let catalog = agent::hooks_to_run(&mut project, &args.agent, show.as_ref(), &cancel)?;
    let wanted =
        |name: &String| agent::recipe_to_run(&mut project, &args.agent, name, show.as_ref());
    let recipe = args.recipe.as_ref().map(wanted).transpose()?;
    let mut built = agent::build(&project, &args.agent, catalog, Arc::clone(&show), &cancel)?;
    for finding in project.findings().chain(&built.findings) {
        show.finding(finding);
    }
    if let Some(recipe) = &recipe {
        let text = built.take_up(recipe, &args.arg, show.as_ref(), &cancel)?;
        message.text = below(&text, &message.text);
    }
    let finish = agent::work(&built, &message, &cancel);
    if finish.status == Status::Interrupted {
        built.agent.workspace.end_background();
    }
    show.finished(&finish);
    built.tell_trouble();
    Ok(Exit::Agent(finish.status))
}

/// A recipe's text and the query.
fn below(text: &str, query: &str) -> String {
    if query.is_empty() { text.to_owned() } else { format!("{}\n\n{query}", text.trim_end()) }
}

fn query(args: &Args) -> Result<String, Failure> {
    let typed = args.query.join(" ");
    let piped = Env::piped_stdin()
        .map_err(|error| Failure::new(format!("stdin cannot be read: {error}")))?;
    let parts: Vec<&str> = [typed.as_str(), piped.trim_end()]
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .collect();
    if parts.is_empty() && args.recipe.is_none() {
        return Err(Failure::usage("there is no query").help(
            "give it as an argument or pipe it in: tenter run \"what does this project do?\"",
        ));
    }
    Ok(parts.join("\n"))
}

fn show(env: &Env, args: &Args) -> Arc<dyn Show> {
    if args.headless {
        Arc::new(Headless::new(args.stream_deltas))
    } else if args.result_only {
        Arc::new(Quiet::default())
    } else {
        Arc::new(Terminal::new(env.text("TENTER_LOG") == Some("debug")))
    }
}
