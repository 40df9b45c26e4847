//! `tenter chat`: a conversation in the terminal under the project's hooks.
//!
//! One chat is one or more sessions, one after another: whatever changes what an agent is made of (its model, its hooks, its
//! conversation) ends the session and begins another, so that hooks see every change as `session_end` and `session_start`.

mod dialogue;
mod editor;
mod keyboard;
mod questions;
mod said;
mod slash;

use std::path::Path;
use std::sync::Arc;

use tenter_agent::permission::Permissions;
use tenter_agent::session::{Session, Status, UserMessage};
use tenter_agent::store::{StoreError, StoredConversation};
use tenter_agent::{Agent, AgentError, Conversation, Model, ModelError};
use tenter_engine::catalog::Catalog;
use tenter_proc::Cancel;
use tenter_protocol::event::ExitReason;
use tenter_protocol::{Block, Diagnostic};

use super::Done;
use crate::agent::{self, AgentArgs, Built};
use crate::env::Env;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::render::{self, Show as _};
use crate::sanitize::{one_line, sanitize};
use crate::signals::Interrupts;
use crate::ui::{self, FAINT, HEADING, styled};
use dialogue::Dialogue;
use editor::{LineEditor, Read};
use keyboard::Keyboard;
use questions::ChatAsker;
use said::Said;

/// Talk with an agent at the terminal: it works in the project, you see what it does and steer it.
///
/// Ctrl-C stops an answer, Ctrl-D ends the chat, /help lists the commands.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The first message.
    #[arg(value_name = "MESSAGE")]
    message: Vec<String>,
    #[command(flatten)]
    agent: AgentArgs,
}

/// Does it.
pub(crate) fn run(env: &Env, project: Option<&Path>, args: &Args) -> Done {
    if !Env::has_terminal() {
        return Err(Failure::usage("a chat needs a terminal to read from and to write to")
            .help("for one message, or from a script: tenter run \"what does this project do?\""));
    }
    let mut project = Project::open(env, project)?;
    let cancel = Cancel::new();
    let interrupts = Interrupts::catch(&cancel)?;
    let show = Arc::new(render::Chat::new(project.root(), env.text("TENTER_LOG") == Some("debug")));
    let catalog = agent::hooks_to_run(&mut project, &args.agent, show.as_ref(), &cancel)?;
    let shown = Arc::clone(&show) as _;
    let mut built = agent::build(&project, &args.agent, catalog, shown, &cancel)?;
    built.agent.settings.ui = "chat";
    project.findings().chain(&built.findings).for_each(|finding| show.finding(finding));
    let editor = LineEditor::open(&env.state_dir(), args.agent.no_save)?;
    let keyboard = editor.edits().then(|| Keyboard::hold(&interrupts).ok()).flatten();
    let dialogue = Dialogue { interrupts, keyboard };
    let questions = dialogue.clone();
    // Nothing was asked yet, so this is the first to be set.
    let _ = project.read_line.set(Box::new(move |prompt| questions.question(prompt)));
    if Env::can_ask() {
        built.agent.asker = Arc::new(ChatAsker::new(dialogue.clone()));
    }
    let first = args.agent.message(env, args.message.join(" "))?;
    let mut chat =
        Chat { project, args: &args.agent, dialogue, show, editor, images: first.images };
    greet(&built.agent);
    let done = chat.hold(&mut built, first.text);
    built.tell_trouble();
    done
}

/// A chat, without the agent that answers.
struct Chat<'c> {
    project: Project<'c>,
    args: &'c AgentArgs,
    dialogue: Dialogue,
    show: Arc<render::Chat>,
    editor: LineEditor,
    /// Pictures that go with the next message.
    images: Vec<Block>,
}

/// What comes after a session.
enum After {
    /// Nothing: the chat ends, for this reason.
    Nothing(ExitReason),
    /// Another session.
    Change(Change),
}

/// What the next session has that the one before had not.
enum Change {
    /// Another model.
    Model(Arc<dyn Model>),
    /// Trust in more of the project; these are its hooks then.
    Trust(Box<Catalog>),
    /// Another conversation.
    Conversation(Box<StoredConversation>),
    /// A new conversation.
    New,
}

impl Chat<'_> {
    /// Session after session, until the person leaves.
    fn hold(&mut self, built: &mut Built, first: String) -> Done {
        let mut conversation = built.conversation();
        let mut first = Some(first).filter(|first| !first.trim().is_empty());
        loop {
            let Ok(mut session) = Session::start(&built.agent, conversation, self.new_cancel())
            else {
                return Ok(Exit::Agent(Status::Blocked));
            };
            let after = self.talk(&mut session, &built.agent, first.take());
            let id = session.conversation_id().to_owned();
            let (status, reason) = match &after {
                After::Nothing(ExitReason::Interrupted) => {
                    (Status::Interrupted, ExitReason::Interrupted)
                }
                _ => (Status::Done, ExitReason::UserExit),
            };
            session.end(status, reason);
            match after {
                After::Nothing(_) => return Ok(self.leave(&built.agent, &id, status)),
                After::Change(change) => conversation = self.prepare(built, change, &id)?,
            }
        }
    }

    /// Message after message, until something ends the session.
    fn talk(&mut self, session: &mut Session<'_>, agent: &Agent, first: Option<String>) -> After {
        let mut next = first;
        loop {
            let line = match next.take() {
                Some(line) => line,
                None => match self.read(agent) {
                    Ok(line) => line,
                    Err(reason) => return After::Nothing(reason),
                },
            };
            match Said::parse(&line) {
                Said::Nothing => {}
                Said::Message(message) => self.answer(session, message),
                Said::Command { name, argument } => {
                    let mut talk = slash::Talk { chat: self, session, agent };
                    match slash::run(&mut talk, name, argument) {
                        Ok(None) => {}
                        Ok(Some(after)) => return after,
                        Err(failure) => ui::failure(&failure),
                    }
                }
            }
        }
    }

    /// The next line; why the chat ends where there is none.
    fn read(&mut self, agent: &Agent) -> Result<String, ExitReason> {
        let mut interrupted = false;
        loop {
            self.new_cancel();
            let read = self.editor.read(&self.dialogue, agent, self.project.root());
            if self.dialogue.interrupts.terminated() {
                return Err(ExitReason::Interrupted);
            }
            match read {
                Read::Line(line) => return Ok(line),
                Read::Interrupted { dropped } if dropped || !interrupted => {
                    ui::note(styled(FAINT, "Ctrl-C once more, or Ctrl-D, ends the chat"));
                    interrupted = true;
                }
                Read::Interrupted { .. } | Read::Closed => return Err(ExitReason::UserExit),
                Read::Gone => return Err(ExitReason::Interrupted),
            }
        }
    }

    fn answer(&mut self, session: &mut Session<'_>, message: String) {
        session.renew(self.new_cancel());
        let before = *session.usage();
        let images = std::mem::take(&mut self.images);
        let finish = session.send(&UserMessage { text: message, images });
        if let Some(error) = &finish.error {
            let finding = error.diagnostic();
            let help = help(error).map(str::to_owned).or_else(|| finding.help.clone());
            session.diagnose(&Diagnostic { help, ..finding });
        }
        self.show.answered(&finish, &before, session.usage());
        if finish.status != Status::Done {
            // It was typed for an answer that did not come: the person looks at it again.
            self.dialogue.keyboard.iter().for_each(Keyboard::set_aside);
        }
    }

    /// A switch for what begins now: what was thrown before does not count any more.
    fn new_cancel(&self) -> Cancel {
        let cancel = Cancel::new();
        self.dialogue.interrupts.aim(&cancel);
        cancel
    }

    /// Makes the change; the conversation of the session before, `id`, goes on unless the change is about that.
    fn prepare(
        &self,
        built: &mut Built,
        change: Change,
        id: &str,
    ) -> Result<Conversation, Failure> {
        let show = Arc::clone(&self.show) as _;
        match change {
            Change::Model(model) => built.change_model(&self.project, model, show),
            Change::Trust(catalog) => {
                built.change_trust(&self.project, self.args, *catalog, show);
            }
            Change::Conversation(stored) => {
                begin_anew(&mut built.agent);
                return Ok(Conversation::resumed(*stored));
            }
            Change::New => {
                begin_anew(&mut built.agent);
                return Ok(built.conversation());
            }
        }
        match built.agent.store.load(id) {
            Ok(stored) => Ok(Conversation::resumed(stored)),
            // Nothing was said yet.
            Err(StoreError::NotFound { .. }) => Ok(built.conversation()),
            Err(error) => Err(error.into()),
        }
    }

    fn leave(&self, agent: &Agent, id: &str, status: Status) -> Exit {
        if !self.args.no_save && agent.store.find(id).is_ok() {
            let id = sanitize(id);
            ui::note(styled(FAINT, format!("go on with: tenter chat --resume {id}")));
        }
        if status == Status::Interrupted {
            agent.workspace.end_background();
            return Exit::Agent(status);
        }
        Exit::Done
    }
}

/// For another conversation: nothing of the one before is allowed, was read or is to be done.
fn begin_anew(agent: &mut Agent) {
    agent.permissions = Permissions::default();
    agent.workspace = Arc::new(agent.workspace.aside());
}

/// What the person can do in a chat about an error, where that is not what it would be elsewhere.
fn help(error: &AgentError) -> Option<&'static str> {
    match error {
        AgentError::Model(ModelError::Passing { .. }) | AgentError::GaveUp { .. } => Some(
            "your next message goes on from what was done so far, now or later; /model NAME goes on with another model",
        ),
        AgentError::Model(ModelError::TooLong { .. }) => Some(
            "/compact shortens it, /new begins another, and /model NAME goes on with a model that holds more",
        ),
        _ => None,
    }
}

fn greet(agent: &Agent) {
    let hooks = match agent.engine.catalog().hooks().len() {
        0 => "no hooks".to_owned(),
        1 => "1 hook".to_owned(),
        hooks => format!("{hooks} hooks"),
    };
    ui::note(format!(
        "{} {}",
        styled(HEADING, "tenter chat"),
        styled(FAINT, format!("· {} · {hooks} · /help", one_line(agent.model.name(), 80)))
    ));
}
