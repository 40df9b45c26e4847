//! `tenter run`: answer one query under the project's hooks.

pub(crate) mod build;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenter_agent::session::{Finish, Session, Status};
use tenter_proc::Cancel;

use super::Done;
use crate::commands::trust;
use crate::env::Env;
use crate::failure::{Exit, Failure};
use crate::hooks::Project;
use crate::render::{Headless, Quiet, Show, Terminal};
use crate::sanitize::sanitize;
use crate::{signals, ui};

/// Answer one query: the agent works in the project until it is done.
///
/// The query is made of the arguments and of what is piped in.
#[derive(Debug, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// What to do.
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// The model: scripted:FILE plays a file of turns.
    #[arg(long, short, value_name = "MODEL")]
    model: Option<String>,
    /// Go on with the newest conversation of this project.
    #[arg(long, short, conflicts_with = "resume")]
    follow: bool,
    /// Go on with this conversation; the beginning of its id is enough.
    #[arg(long, value_name = "ID")]
    resume: Option<String>,
    /// Store nothing of the conversation.
    #[arg(long)]
    no_save: bool,
    /// Run without hooks.
    #[arg(long)]
    no_hooks: bool,
    /// Trust the project's hooks as they are now.
    #[arg(long)]
    trust_project: bool,
    /// Model responses at most; 0 is without limit.
    #[arg(long, value_name = "N")]
    max_turns: Option<u64>,
    /// Print the model's last text and nothing else.
    #[arg(long, conflicts_with = "headless")]
    result_only: bool,
    /// Print one JSON object a line: text, tool calls, hook runs and their decisions, usage, and how it ended.
    #[arg(long)]
    headless: bool,
    /// With --headless, print text as it comes, too.
    #[arg(long, requires = "headless")]
    stream_deltas: bool,
    /// Offer only these tools, separated by commas; "none" offers none.
    #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
    allowed_tools: Option<Vec<String>>,
    /// Let the tools read and write in this folder too.
    #[arg(long, value_name = "DIR")]
    add_dir: Vec<PathBuf>,
}

impl Args {
    /// Nothing said but the model.
    pub(crate) fn with_model(model: String) -> Self {
        Self { model: Some(model), ..Self::default() }
    }
}

/// Does it.
pub(crate) fn run(env: &Env, project: Option<&Path>, args: &Args) -> Done {
    let query = query(args)?;
    let mut project = Project::open(env, project)?;
    let cancel = Cancel::new();
    signals::forward(&cancel)?;
    let show = show(env, args);
    let Some(catalog) = hooks_to_run(&mut project, args, show.as_ref(), &cancel)? else {
        return Ok(Exit::Untrusted);
    };
    let built = build::build(&project, args, catalog, Arc::clone(&show))?;
    for finding in project.findings().chain(&built.findings) {
        show.finding(finding);
    }
    let finish = work(&built, &query, &cancel);
    if finish.status == Status::Interrupted {
        built.agent.workspace.end_background();
    }
    show.finished(&finish);
    if let Some(trouble) = built.journal.take_trouble() {
        ui::diagnostic(&trouble);
    }
    Ok(Exit::Agent(finish.status))
}

fn query(args: &Args) -> Result<String, Failure> {
    let typed = args.query.join(" ");
    let piped = Env::piped_stdin()
        .map_err(|error| Failure::new(format!("stdin cannot be read: {error}")))?;
    let parts: Vec<&str> = [typed.as_str(), piped.trim_end()]
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .collect();
    if parts.is_empty() {
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
        Arc::new(Quiet)
    } else {
        Arc::new(Terminal::new(env.text("TENTER_LOG") == Some("debug")))
    }
}

/// The catalog to run under; none when there are untrusted hooks and the person has to decide first (R46).
fn hooks_to_run(
    project: &mut Project,
    args: &Args,
    show: &dyn Show,
    cancel: &Cancel,
) -> Result<Option<tenter_engine::catalog::Catalog>, Failure> {
    if args.no_hooks || !project.settings.hooks_enabled {
        return Ok(Some(tenter_engine::catalog::Catalog::default()));
    }
    let catalog = project.load(cancel);
    if catalog.untrusted().is_empty() {
        return Ok(Some(catalog));
    }
    let decided =
        if args.trust_project { trust::Choice::Trust } else { trust::ask(project, &catalog) };
    match decided {
        trust::Choice::Trust => Ok(Some(trust::trust_and_reload(project, &catalog, cancel)?)),
        trust::Choice::Skip => {
            let names: Vec<&str> =
                catalog.untrusted().iter().map(|hook| hook.name.as_str()).collect();
            ui::note(format!("Not run this time: {}.", sanitize(&names.join(", "))));
            Ok(Some(catalog))
        }
        trust::Choice::Refuse => {
            show.untrusted(catalog.untrusted());
            Ok(None)
        }
    }
}

/// Has the agent answer `query`, from `session_start` to `session_end`.
pub(crate) fn work(built: &build::Built, query: &str, cancel: &Cancel) -> Finish {
    let conversation = built.conversation();
    let mut session = match Session::start(&built.agent, conversation, cancel.clone()) {
        Ok(session) => session,
        Err(_refused) => {
            return Finish { status: Status::Blocked, response: String::new(), error: None };
        }
    };
    let finish = session.send(query);
    if let Some(error) = &finish.error {
        session.diagnose(&error.diagnostic());
    }
    session.end(finish.status, finish.status.exit_reason());
    finish
}
