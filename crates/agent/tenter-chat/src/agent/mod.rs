//! Builds an agent and lets it work: what `run`, `chat`, `commit`, `pr` and `demo` share. A command decides what the agent does
//! and how its work is shown.

mod build;
mod change;
mod compact;
mod lost_reasoning;
pub(crate) mod mcp;
pub(crate) mod models;
mod permissions;
mod prompt;
mod recap;
mod recipe_task;
pub(crate) mod recipes;
mod rule_store;
mod skills;
pub(crate) mod writing;

use std::num::NonZeroU64;
use std::path::PathBuf;

use tenter_agent::attachments::read_image;
use tenter_agent::permission::{PermissionMode, Rule};
use tenter_agent::session::{Finish, Session, Status, UserMessage};
use tenter_base::visible;
use tenter_commands::project::Project;
use tenter_commands::trust::{self, PendingTrust, TrustChoice};
use tenter_commands::user_only;
use tenter_engine::inspect::Catalog;
use tenter_proc::Cancel;
use tenter_settings::Settings;
use tenter_settings::model_tables::{Effort, ResponseSettings};
use tenter_terminal::question::read_at_terminal;
use tenter_terminal::{Env, Exit, Failure, numbers, ui};

use crate::render::Show;

pub(crate) use build::{BuiltAgent, build};
pub(crate) use change::model_named;
pub(crate) use compact::{compact, how_to_restore};
pub(crate) use recap::Recap;
pub(crate) use recipe_task::{below, fill_in, recipe_to_run};

/// Returns the exit of a command whose agent ended with this status.
pub(crate) fn exit_after(status: Status) -> Exit {
    match status {
        Status::Done => Exit::Done,
        Status::Failed => Exit::Failed,
        Status::Blocked => Exit::Blocked,
        Status::MaxTurns => Exit::TurnLimit,
        Status::Interrupted => Exit::Interrupted,
    }
}

/// Returns the end of work in words, for a notification.
pub(crate) fn finish_words(status: Status) -> &'static str {
    match status {
        Status::Done => "is done",
        Status::Interrupted => "was interrupted",
        Status::MaxTurns => "stopped at the turn limit",
        Status::Blocked => "was blocked by a hook",
        Status::Failed => "failed",
    }
}

/// The flags that `run` and `chat` share.
#[derive(Debug, Default, Clone, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct AgentArgs {
    /// Use this model: PROVIDER/NAME from `tenter models`, or scripted:FILE.
    #[arg(long, short, value_name = "MODEL")]
    pub model: Option<String>,
    /// Set the cheaper model for small tasks.
    #[arg(long, value_name = "MODEL")]
    pub weak_model: Option<String>,
    /// Use the cheaper model for small tasks.
    #[arg(long, conflicts_with = "model")]
    pub use_weak_model: bool,
    /// Limit the tokens of one response.
    #[arg(long, value_name = "N", value_parser = numbers::positive)]
    pub max_tokens: Option<NonZeroU64>,
    /// Set how much the model reasons before it answers.
    #[arg(long, value_name = "EFFORT")]
    pub reasoning_effort: Option<Effort>,
    /// Use the model server at this URL.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Attach an image; repeatable.
    #[arg(long = "image", value_name = "FILE|URL")]
    pub images: Vec<String>,
    /// Replace the system prompt with this file.
    #[arg(long, value_name = "FILE")]
    pub system_prompt_file: Option<PathBuf>,
    /// Continue the newest conversation of this project.
    #[arg(long, short, conflicts_with = "resume")]
    pub follow: bool,
    /// Continue this conversation; a prefix of its id is enough. Without ID, choose one.
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,
    /// Do not save the conversation.
    #[arg(long)]
    pub no_save: bool,
    /// Run without hooks.
    #[arg(long)]
    pub no_hooks: bool,
    /// Trust the project's hooks, recipes and model as they are now.
    #[arg(long)]
    pub trust_project: bool,
    /// Limit the model responses to one message; 0 is no limit.
    #[arg(long, value_name = "N", value_parser = numbers::whole::<u64>)]
    pub max_turns: Option<u64>,
    /// Offer only these tools, comma-separated; "none" for no tools.
    #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
    pub allowed_tools: Option<Vec<String>>,
    /// Let the tools also read and write in DIR.
    #[arg(long, value_name = "DIR")]
    pub add_dir: Vec<PathBuf>,
    /// Let file tools change this protected path; repeatable.
    #[arg(long, value_name = "PATH")]
    pub allow_write: Vec<PathBuf>,
    /// Ask before a tool runs: ask, edits (not about files), or all (never).
    #[arg(long, value_name = "MODE")]
    pub permissions: Option<PermissionMode>,
    /// Allow calls without asking: bash(git status *), file_edit(src/**).
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<Rule>,
    /// Compact when the context is this full: above 0 and at most 1.
    #[arg(long, value_name = "RATIO", value_parser = ratio)]
    pub compact_ratio: Option<f64>,
    /// Never compact automatically.
    #[arg(long, conflicts_with = "compact_ratio")]
    pub disable_auto_compact: bool,
    /// Also search DIR for recipes; repeatable.
    #[arg(long = "fragment-dirs", value_name = "DIR", value_delimiter = ',')]
    pub fragment_dirs: Vec<PathBuf>,
    /// Run without skills.
    #[arg(long)]
    pub no_skills: bool,
    /// Run without MCP servers.
    #[arg(long)]
    pub no_mcp: bool,
}

fn ratio(text: &str) -> Result<f64, String> {
    let ratio = text.parse().ok().filter(|ratio| tenter_settings::is_ratio(*ratio));
    ratio.ok_or_else(|| "must be a number above 0 and at most 1".to_owned())
}

impl AgentArgs {
    /// Returns the limits that the flags set for answers.
    pub(crate) fn answering(&self) -> ResponseSettings {
        ResponseSettings { max_tokens: self.max_tokens, effort: self.reasoning_effort }
    }

    /// Returns the share of the context window at which the conversation is compacted; `None` disables automatic compaction.
    pub(crate) fn auto_compact(&self, settings: &Settings) -> Option<f64> {
        self.compact_ratio.or(settings.auto_compact).filter(|_| !self.disable_auto_compact)
    }

    /// Returns a message with the attached images.
    pub(crate) fn message(&self, env: &Env, text: String) -> Result<UserMessage, Failure> {
        let images = self.images.iter().map(|source| read_image(source, &env.cwd));
        let images = images.collect::<Result<_, _>>();
        let images = images.map_err(|error| Failure::usage(error.to_string()))?;
        Ok(UserMessage { text, images, ..UserMessage::default() })
    }
}

/// Returns the hooks to run under, after the user decided about untrusted and lost ones.
///
/// # Errors
/// There are untrusted hooks, and the user does not decide what to do about them (R46).
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
    if args.no_hooks || !project.settings.hooks.enabled {
        return Ok(project.load(cancel).only_managed());
    }
    let mut catalog = project.load(cancel);
    if !catalog.untrusted().is_empty() {
        let pending = PendingTrust::hooks_of(&catalog);
        let choice = if args.trust_project {
            TrustChoice::Trust
        } else {
            trust_or_skip(project, pending, show)
                .map_err(|failure| failure.or_interrupted(cancel))?
        };
        let (hooks, _) = choice.trusted(pending);
        catalog = trust::trust_pending(project, catalog, (&hooks, &[]), cancel)?;
    }
    if args.trust_project {
        return trust::accept_lost(project, catalog, cancel);
    }
    if !catalog.lost().iter().any(|hook| hook.fail_closed) {
        return Ok(catalog);
    }
    let names: Vec<String> = catalog.lost().iter().map(|hook| hook.name.clone()).collect();
    trust::settle_lost(project, catalog, &mut read_at_terminal, cancel).map_err(|failure| {
        if failure.exit == Exit::Untrusted {
            show.untrusted(&names);
        }
        failure.or_interrupted(cancel)
    })
}

/// Returns what the user trusts of what is pending; the agent continues without the rest.
///
/// # Errors
/// The user refuses, or cannot be asked.
fn trust_or_skip(
    project: &Project,
    pending: PendingTrust,
    show: &dyn Show,
) -> Result<TrustChoice, Failure> {
    let choice = trust::ask(project, pending);
    if choice == TrustChoice::Refuse {
        show.untrusted(&pending.names());
        return Err(pending.refusal());
    }
    let mut names_to_skip = pending.names();
    match &choice {
        TrustChoice::Trust => names_to_skip.clear(),
        TrustChoice::Only(names) => names_to_skip.retain(|name| !names.contains(name)),
        TrustChoice::Skip | TrustChoice::Refuse => {}
    }
    if !names_to_skip.is_empty() {
        ui::note(format!("Skipped this time: {}.", visible(&names_to_skip.join(", "))));
    }
    Ok(choice)
}

/// Lets the agent answer `message` in a session of its own.
pub(crate) fn work(agent: &BuiltAgent, message: &UserMessage, cancel: &Cancel) -> Finish {
    let conversation = agent.conversation();
    let mut session = match Session::start(&agent.agent, conversation, cancel.clone()) {
        Ok(session) => session,
        Err(denial) => {
            return Finish {
                status: Status::Blocked,
                response: String::new(),
                error: None,
                denial: Some(denial),
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
