//! An agent as the commands put it together and have it work: what `run`, `chat` and `demo` share. It answers nothing by
//! itself; a command says what is to be done and how it is shown.

mod build;

use std::path::PathBuf;

use tenter_agent::session::{Finish, Session, Status};
use tenter_engine::catalog::Catalog;
use tenter_proc::Cancel;

use crate::commands::trust;
use crate::failure::Failure;
use crate::hooks::Project;
use crate::render::Show;
use crate::sanitize::sanitize;
use crate::ui;

pub(crate) use build::{Built, build};

/// What an agent is to be: the flags that `run` and `chat` share.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct AgentArgs {
    /// The model: scripted:FILE plays a file of turns.
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Go on with the newest conversation of this project.
    #[arg(long, short, conflicts_with = "resume")]
    pub(crate) follow: bool,
    /// Go on with this conversation; the beginning of its id is enough.
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<String>,
    /// Store nothing of the conversation.
    #[arg(long)]
    pub(crate) no_save: bool,
    /// Run without hooks.
    #[arg(long)]
    pub(crate) no_hooks: bool,
    /// Trust the project's hooks as they are now.
    #[arg(long)]
    pub(crate) trust_project: bool,
    /// Model responses to one message at most; 0 is without limit.
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<u64>,
    /// Offer only these tools, separated by commas; "none" offers none.
    #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
    pub(crate) allowed_tools: Option<Vec<String>>,
    /// Let the tools read and write in this folder too.
    #[arg(long, value_name = "DIR")]
    pub(crate) add_dir: Vec<PathBuf>,
}

/// The catalog to run under; none when there are untrusted hooks and the person has to decide first (R46).
pub(crate) fn hooks_to_run(
    project: &mut Project,
    args: &AgentArgs,
    show: &dyn Show,
    cancel: &Cancel,
) -> Result<Option<Catalog>, Failure> {
    if args.no_hooks || !project.settings.hooks_enabled {
        return Ok(Some(Catalog::default()));
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
pub(crate) fn work(built: &Built, query: &str, cancel: &Cancel) -> Finish {
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
