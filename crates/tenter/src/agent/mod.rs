//! An agent as the commands put it together and have it work: what `run`, `chat` and `demo` share. It answers nothing by
//! itself; a command says what is to be done and how it is shown.

mod build;
mod change;
mod compact;
mod handover;
pub(crate) mod models;
mod prompt;
mod recipe_task;
pub(crate) mod recipes;
mod skills;
pub(crate) mod writing;

use std::num::NonZeroU64;
use std::path::PathBuf;

use tenter_agent::attachments::read_image;
use tenter_agent::session::{Finish, Session, Status, UserMessage};
use tenter_engine::catalog::Catalog;
use tenter_proc::Cancel;

use crate::env::Env;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::question::read_at_terminal;
use crate::render::Show;
use crate::sanitize::visible;
use crate::settings::model_tables::{Effort, ResponseSettings};
use crate::settings::{self, Settings};
use crate::trust::{self, Pending, TrustChoice};
use crate::ui;
use crate::user_only;

pub(crate) use build::{Built, build};
pub(crate) use change::model_named;
pub(crate) use compact::{compact, how_to_restore};
pub(crate) use recipe_task::recipe_to_run;

/// What an agent is to be: the flags that `run` and `chat` share.
#[derive(Debug, Default, Clone, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct AgentArgs {
    /// The model: PROVIDER/NAME, as `tenter models` lists them; scripted:FILE plays a file of turns.
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The model for lesser work.
    #[arg(long, value_name = "MODEL")]
    pub(crate) weak_model: Option<String>,
    /// Answer with the model for lesser work.
    #[arg(long, conflicts_with = "model")]
    pub(crate) use_weak_model: bool,
    /// Tokens of one response at most.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) max_tokens: Option<NonZeroU64>,
    /// How hard the model thinks before it answers.
    #[arg(long, value_name = "EFFORT")]
    pub(crate) reasoning_effort: Option<Effort>,
    /// The address of the model's server.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Show the model a picture, a file or an address; may be given several times.
    #[arg(long = "image", value_name = "FILE|URL")]
    pub(crate) images: Vec<String>,
    /// Put this file in the place of the system prompt.
    #[arg(long, value_name = "FILE")]
    pub(crate) system_prompt_file: Option<PathBuf>,
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
    /// Trust the project's hooks, recipes that start programs, and choice of model as they are now.
    #[arg(long)]
    pub(crate) trust_project: bool,
    /// Model responses to one message at most; 0 is without limit.
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) max_turns: Option<u64>,
    /// Offer only these tools, separated by commas; "none" offers none.
    #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
    pub(crate) allowed_tools: Option<Vec<String>>,
    /// Let the tools read and write in this folder too.
    #[arg(long, value_name = "DIR")]
    pub(crate) add_dir: Vec<PathBuf>,
    /// Let file tools change this protected file or directory; may be given several times.
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_write: Vec<PathBuf>,
    /// Compact the conversation when its context is as full as this: a share of the window, above 0 and at most 1.
    #[arg(long, value_name = "RATIO", value_parser = ratio)]
    pub(crate) compact_ratio: Option<f64>,
    /// Compact the conversation only when asked to.
    #[arg(long, conflicts_with = "compact_ratio")]
    pub(crate) disable_auto_compact: bool,
    /// Look for recipes in this folder too; may be given several times.
    #[arg(long = "fragment-dirs", value_name = "DIR", value_delimiter = ',')]
    pub(crate) fragment_dirs: Vec<PathBuf>,
    /// Offer no skills.
    #[arg(long)]
    pub(crate) no_skills: bool,
}

fn whole(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "must be a whole number".to_owned())
}

fn positive(text: &str) -> Result<NonZeroU64, String> {
    text.parse().map_err(|_| "must be a whole number above 0".to_owned())
}

fn ratio(text: &str) -> Result<f64, String> {
    let ratio = text.parse().ok().filter(|ratio| settings::is_ratio(*ratio));
    ratio.ok_or_else(|| "must be a number above 0 and at most 1".to_owned())
}

impl AgentArgs {
    /// How the model is to answer.
    pub(crate) fn answering(&self) -> ResponseSettings {
        ResponseSettings { max_tokens: self.max_tokens, effort: self.reasoning_effort }
    }

    /// How full the context may become before it is compacted; `None` compacts only on demand.
    pub(crate) fn auto_compact(&self, settings: &Settings) -> Option<f64> {
        self.compact_ratio.or(settings.auto_compact).filter(|_| !self.disable_auto_compact)
    }

    /// A message to the agent, with the pictures that go with it.
    pub(crate) fn message(&self, env: &Env, text: String) -> Result<UserMessage, Failure> {
        let images = self.images.iter().map(|source| read_image(source, &env.cwd));
        let images = images.collect::<Result<_, _>>();
        Ok(UserMessage { text, images: images.map_err(|error| Failure::usage(error.to_string()))? })
    }
}

/// The catalog to run under.
///
/// # Errors
/// When there are untrusted hooks and the person has to decide first (R46).
pub(crate) fn hooks_to_run(
    project: &mut Project,
    args: &AgentArgs,
    show: &dyn Show,
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    if args.trust_project {
        user_only::check(project.env, project.root(), "run --trust-project")?;
        recipes::trust_all(project, &args.fragment_dirs)?;
    }
    if args.no_hooks || !project.settings.hooks_enabled {
        return Ok(Catalog::default());
    }
    let mut catalog = project.load(cancel);
    if !catalog.untrusted().is_empty()
        && (args.trust_project || trust_or_skip(project, Pending::hooks_of(&catalog), show)?)
    {
        catalog = trust::trust_untrusted_hooks(project, &catalog, cancel)?;
    }
    if args.trust_project {
        return trust::accept_lost(project, catalog, cancel);
    }
    if !catalog.lost().iter().any(|lost| lost.fail_closed) {
        return Ok(catalog);
    }
    let lost: Vec<String> = catalog.lost().iter().map(|lost| lost.name.clone()).collect();
    trust::settle_lost(project, catalog, &mut read_at_terminal, cancel).inspect_err(|failure| {
        if failure.exit == Exit::Untrusted {
            show.untrusted(&lost);
        }
    })
}

/// Whether the user trusts what is pending; false means to continue without it this time.
///
/// # Errors
/// The user refuses, or cannot be asked.
fn trust_or_skip(project: &Project, pending: Pending, show: &dyn Show) -> Result<bool, Failure> {
    match trust::ask(project, pending) {
        TrustChoice::Trust => Ok(true),
        TrustChoice::Skip => {
            let names = pending.names().join(", ");
            ui::note(format!("Not run this time: {}.", visible(&names)));
            Ok(false)
        }
        TrustChoice::Refuse => {
            show.untrusted(&pending.names());
            Err(pending.refusal())
        }
    }
}

/// Has the agent answer `message`, from `session_start` to `session_end`.
pub(crate) fn work(built: &Built, message: &UserMessage, cancel: &Cancel) -> Finish {
    let conversation = built.conversation();
    let mut session = match Session::start(&built.agent, conversation, cancel.clone()) {
        Ok(session) => session,
        Err(refused) => {
            return Finish {
                status: Status::Blocked,
                response: String::new(),
                error: None,
                refused: Some(refused),
            };
        }
    };
    let finish = session.send(message);
    if let Some(error) = &finish.error {
        session.diagnose(&error.diagnostic());
    }
    session.end(finish.status, finish.status.exit_reason());
    finish
}
