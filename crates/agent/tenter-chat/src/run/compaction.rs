//! `tenter run --recipe compact`: compacts a conversation without a message (R54).

use std::path::Path;
use std::sync::Arc;

use tenter_agent::session::{Finish, Session, Status};
use tenter_commands::project::Project;
use tenter_engine::builtin;
use tenter_proc::Cancel;
use tenter_terminal::{CommandResult, Env, Failure, signals, ui};

use super::{Args, show, work};
use crate::agent;

/// Runs the command.
pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    check(args)?;
    let mut project = Project::open(env, project)?;
    let cancel = signals::cancel()?;
    let show = show(env, &project, args);
    let _working = work(args);
    let catalog = agent::hooks_to_run(&mut project, &args.agent, show.as_ref(), &cancel)?;
    let recipe = agent::recipe_to_run(&mut project, &args.agent, builtin::RECIPE, show.as_ref())?;
    let mut agent = agent::build(&project, &args.agent, catalog, Arc::clone(&show), &cancel)?;
    agent.name_recipe(&recipe);
    let conversation = agent.conversation();
    if conversation.messages().is_empty() {
        return Err(Failure::new("this project has no conversation to compact").help(
            "`tenter conversation list --all` lists those of every project; pass --resume ID",
        ));
    }
    for finding in project.findings().chain(&agent.findings) {
        show.finding(finding);
    }
    let status = match Session::start(&agent.agent, conversation, cancel.clone()) {
        Ok(session) => compact(session, args, &cancel),
        Err(_refused) => Status::Blocked,
    };
    show.finished(&Finish { status, response: String::new(), error: None, denial: None });
    agent.close_journal(&project);
    Ok(agent::exit_after(status))
}

/// Rejects flags that would have no effect.
fn check(args: &Args) -> Result<(), Failure> {
    let Args { query, agent, .. } = args;
    if !query.is_empty() || !agent.images.is_empty() {
        return Err(Failure::usage(
            "the recipe compact takes no message and no image",
        )
        .help(
            "leave out the query and --image, and pass them to the next `tenter run --follow`; --arg passes the recipe an argument",
        ));
    }
    if agent.no_save {
        return Err(Failure::usage("--no-save would discard the compaction")
            .help("leave out --no-save: the previous history can be restored"));
    }
    if !agent.follow && agent.resume.is_none() {
        return Err(Failure::usage("the recipe compact needs a conversation").help(
            "pass --follow for the newest of this project, or --resume ID; `tenter conversation list` lists them",
        ));
    }
    Ok(())
}

fn compact(mut session: Session, args: &Args, cancel: &Cancel) -> Status {
    let outcome = agent::compact(&mut session, &args.arg.iter().cloned().collect(), cancel);
    if let (Ok(words), false, false) = (&outcome, args.headless, args.result_only) {
        ui::note(words);
        ui::note(agent::how_to_restore(&session));
    }
    let status = outcome.err().unwrap_or(Status::Done);
    session.end(status, status.exit_reason());
    status
}
