//! `tenter chat`: a conversation in the terminal under the project's hooks.
//!
//! A chat is a sequence of sessions: a change of the agent (its model, its hooks, its conversation) ends the session and starts
//! another, so that hooks see every change as `session_end` and `session_start`.

mod completion;
mod composer;
mod dialogue;
mod editor;
mod external_editor;
mod file_names;
mod input;
mod keyboard;
mod mentions;
mod questions;
mod recap;
mod recipe_session;
mod shell_command;
mod slash;
mod snapshots;
mod words;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use tenter_agent::session::{Session, Status, UserMessage};
use tenter_agent::store::{StoreError, StoredConversation};
use tenter_agent::{Agent, AgentError, Conversation, Model, ModelError};
use tenter_base::{format_count, one_line, sanitize};
use tenter_commands::project::Project;
use tenter_engine::inspect::Catalog;
use tenter_proc::Cancel;
use tenter_protocol::Diagnostic;
use tenter_protocol::event::ExitReason;
use tenter_terminal::screen::screen;
use tenter_terminal::signals::Interrupts;
use tenter_terminal::{CommandResult, Env, Exit, FAINT, Failure, HEADING, notify, styled, ui};

use crate::agent::{self, AgentArgs, BuiltAgent};
use crate::render::{self, Show as _};
use completion::CommandCompletion;
use composer::TypedText;
use dialogue::ChatDialogue;
use editor::{IdlePrompt, LineEditor, ReadResult, SpecialKey};
use input::ChatInput;
use keyboard::Keyboard;
use questions::ChatAsker;
use recipe_session::RecipeTask;
use shell_command::{RanCommand, below_commands};
use slash::AttachedImage;
use snapshots::Snapshots;
use words::PathBases;

/// Chat with an agent in the terminal.
///
/// Ctrl-C stops an answer, Ctrl-D ends the chat, /help lists the commands.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The first message.
    #[arg(value_name = "MESSAGE")]
    message: Vec<String>,
    /// Begin in plan mode: nothing changes until you approve a plan.
    #[arg(long)]
    plan: bool,
    #[command(flatten)]
    agent: AgentArgs,
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    if !Env::has_terminal() {
        return Err(Failure::usage("a chat needs a terminal for input and output").help(
            "for one message, or in a script, use: tenter run \"what does this project do?\"",
        ));
    }
    let mut project = Project::open(env, project)?;
    let cancel = Cancel::new();
    let interrupts = Interrupts::catch(&cancel)?;
    let show =
        Arc::new(render::ChatDisplay::new(project.root(), env.text("TENTER_LOG") == Some("debug")));
    let starting = screen().work();
    let catalog = agent::hooks_to_run(&mut project, &args.agent, show.as_ref(), &cancel)?;
    agent::mcp::settle(&mut project, &args.agent, show.as_ref())
        .map_err(|failure| failure.or_interrupted(&cancel))?;
    let observer = Arc::clone(&show) as _;
    let mut agent = agent::build(&project, &args.agent, catalog, observer, &cancel)?;
    agent.agent.settings.ui = "chat";
    let mode = args.agent.permissions.unwrap_or(project.settings.permissions.chat);
    agent.agent.permissions.set_mode(mode);
    agent.agent.permissions.set_planning(args.plan);
    project.findings().chain(&agent.findings).for_each(|finding| show.finding(finding));
    drop(starting);
    notify::set_up(env, project.settings.notify);
    let editor = LineEditor::open(&env.state_dir(), args.agent.no_save)?;
    let keyboard = editor.edits().then(|| Keyboard::hold(&interrupts).ok()).flatten();
    if let Some(keyboard) = &keyboard {
        let display = Arc::clone(&show);
        keyboard.on_expand(move || display.expand());
    }
    let dialogue = ChatDialogue { interrupts, keyboard };
    let questions = dialogue.clone();
    // It is set only here.
    let _ = project.read_line.set(Box::new(move |prompt| questions.question(prompt)));
    if Env::can_ask() {
        agent.agent.asker = Arc::new(ChatAsker::new(dialogue.clone()));
    }
    let first = args.agent.message(env, args.message.join(" "))?;
    let images = AttachedImage::from_flags(&args.agent.images, first.images);
    let snapshots = Snapshots::open(&project, &args.agent, &agent.agent.workspace);
    agent.agent.snapshots = snapshots.recorder();
    let (args, commands) = (&args.agent, Vec::new());
    let queue = VecDeque::new();
    let mut chat =
        Chat { project, args, dialogue, show, editor, images, snapshots, commands, queue };
    greet(&agent.agent);
    agent.recap.iter().for_each(recap::show);
    let result = chat.run_sessions(&mut agent, first.text);
    agent.close_journal(&chat.project);
    result
}

/// A chat, without its agent.
struct Chat<'c> {
    project: Project<'c>,
    args: &'c AgentArgs,
    dialogue: ChatDialogue,
    show: Arc<render::ChatDisplay>,
    editor: LineEditor,
    /// Images to attach to the next message.
    images: Vec<AttachedImage>,
    snapshots: Snapshots,
    /// Commands that the user ran, for the next message.
    commands: Vec<RanCommand>,
    /// Messages and commands that follow without being read.
    queue: VecDeque<String>,
}

/// The hint that follows an answer in plan mode.
const PLAN_HINT: &str = "plan mode: /go carries the plan out, Shift-Tab ends plan mode";

/// Returns the prompt for messages.
fn prompt(agent: &Agent) -> &'static str {
    if agent.permissions.is_planning() { "plan> " } else { "> " }
}

/// The reason why a session ended.
enum ChatEnd {
    /// The chat ends, for this reason.
    Exit(ExitReason),
    /// Another session follows.
    Change(SessionChange),
}

/// The difference between a session and the next one.
enum SessionChange {
    /// Another model.
    Model(Arc<dyn Model>),
    /// Newly trusted parts of the project, with the reloaded hooks.
    Trust(Box<Catalog>),
    /// As [`Trust`](Self::Trust), with newly trusted MCP servers.
    Servers(Box<Catalog>),
    /// Another conversation.
    Conversation(Box<StoredConversation>),
    /// A new conversation.
    New,
    /// A recipe, for one message.
    Recipe(Box<RecipeTask>),
}

impl Chat<'_> {
    /// Runs one session after another until the user exits.
    fn run_sessions(&mut self, agent: &mut BuiltAgent, first: String) -> CommandResult {
        let mut conversation = agent.conversation();
        let mut first = Some(first).filter(|first| !first.trim().is_empty());
        loop {
            let working = screen().work();
            let result = Session::start(&agent.agent, conversation, self.new_cancel());
            drop(working);
            let Ok(mut session) = result else {
                return Ok(Exit::Blocked);
            };
            let end = self.talk(&mut session, &agent.agent, first.take());
            let id = session.conversation_id().to_owned();
            let (status, reason) = match &end {
                ChatEnd::Exit(ExitReason::Interrupted) => {
                    (Status::Interrupted, ExitReason::Interrupted)
                }
                _ => (Status::Done, ExitReason::UserExit),
            };
            let working = screen().work();
            session.end(status, reason);
            drop(working);
            match end {
                ChatEnd::Exit(_) => return Ok(self.exit(&agent.agent, &id, status)),
                ChatEnd::Change(change) => conversation = self.prepare(agent, change, &id)?,
            }
        }
    }

    /// Handles messages and commands until the session ends.
    fn talk(&mut self, session: &mut Session<'_>, agent: &Agent, first: Option<String>) -> ChatEnd {
        let mut next = first;
        loop {
            let line = match next.take().or_else(|| self.next_queued(agent)) {
                Some(line) => line,
                None => match self.read(session, agent) {
                    Ok(line) => line,
                    Err(reason) => return ChatEnd::Exit(reason),
                },
            };
            match ChatInput::parse(&line) {
                ChatInput::Empty => {}
                ChatInput::Message(message) => {
                    self.answer_typed(session, &message);
                    if agent.permissions.is_planning() {
                        ui::note(styled(FAINT, PLAN_HINT));
                    }
                }
                ChatInput::Shell { command, is_shared } => self.run_command(command, is_shared),
                ChatInput::Command { name, argument } => {
                    let mut context = slash::CommandContext { chat: self, session, agent };
                    match slash::run(&mut context, name, argument) {
                        Ok(None) => {}
                        Ok(Some(end)) => return end,
                        Err(failure) => ui::failure(&failure),
                    }
                }
            }
        }
    }

    /// Takes the next line of the queue, and shows it as if it was typed at the prompt.
    fn next_queued(&mut self, agent: &Agent) -> Option<String> {
        let new_line = || self.dialogue.keyboard.as_ref()?.next_line();
        let line = self.queue.pop_front().or_else(new_line)?;
        ui::out(format!("{}{}", prompt(agent), sanitize(&line)));
        Some(line)
    }

    /// Reads the next line.
    ///
    /// # Errors
    /// The chat ends, for this reason.
    fn read(&mut self, session: &Session<'_>, agent: &Agent) -> Result<String, ExitReason> {
        let mut interrupted = false;
        let mut draft = TypedText::default();
        loop {
            self.new_cancel();
            let completion = CommandCompletion::new(agent, &self.project);
            let prompt =
                IdlePrompt { text: prompt(agent), status: slash::status_line(session, agent) };
            let result = self.editor.read(&self.dialogue, completion, &prompt, &draft);
            draft = TypedText::default();
            if self.dialogue.interrupts.terminated() {
                return Err(ExitReason::Interrupted);
            }
            match result {
                ReadResult::Line(line) => return Ok(line),
                ReadResult::SentAhead => {
                    if let Some(line) = self.next_queued(agent) {
                        return Ok(line);
                    }
                }
                ReadResult::Key(key, text) => draft = self.on_key(agent, key, text),
                ReadResult::Interrupted { dropped } if dropped || !interrupted => {
                    ui::note(styled(FAINT, "press Ctrl-C again, or Ctrl-D, to end the chat"));
                    interrupted = true;
                }
                ReadResult::Interrupted { .. } | ReadResult::Closed => {
                    return Err(ExitReason::UserExit);
                }
                ReadResult::Gone => return Err(ExitReason::Interrupted),
            }
        }
    }

    /// Does what a special key means while `text` is typed, and returns the text to continue with.
    fn on_key(&mut self, agent: &Agent, key: SpecialKey, text: TypedText) -> TypedText {
        match key {
            SpecialKey::Plan => {
                agent.permissions.set_planning(!agent.permissions.is_planning());
                text
            }
            SpecialKey::Editor => match external_editor::edited(self, &text.join_text()) {
                Ok(head) => TypedText { head, tail: String::new() },
                Err(failure) => {
                    ui::failure(&failure);
                    text
                }
            },
            SpecialKey::Expand => {
                let lines = self.show.list_folded();
                self.dialogue.page(&self.project, &lines);
                text
            }
        }
    }

    /// Answers what the user typed, with the files that it mentions and the commands that the user ran.
    fn answer_typed(&mut self, session: &mut Session<'_>, message: &str) {
        let places = PathBases::new(self.project.env);
        let mentioned = mentions::attach(message, &places, self.project.root());
        let (text, images) = mentioned.below(message);
        let text = below_commands(std::mem::take(&mut self.commands), &text);
        self.answer(session, message, UserMessage { text, images, ..UserMessage::default() });
    }

    /// Answers a message, which is called `label` in the list of changes. It may be text of a file: nothing that it mentions is
    /// attached.
    fn answer(&mut self, session: &mut Session<'_>, label: &str, mut message: UserMessage) {
        session.renew(self.new_cancel());
        let before = *session.usage();
        self.show.asked();
        let working = screen().work();
        let attached = std::mem::take(&mut self.images);
        message.images.extend(attached.iter().map(|image| image.block.clone()));
        message.notes = self.snapshots.begin(session.conversation_id(), label);
        notify::work_begins();
        let finish = session.send(&message);
        notify::work_ends(agent::finish_words(finish.status));
        self.snapshots.end(session.conversation_id(), finish.denial.is_none());
        if finish.denial.is_some() {
            self.images = attached;
        }
        if let Some(error) = &finish.error {
            let finding = error.diagnostic();
            let help = help(error).map(str::to_owned).or_else(|| finding.help.clone());
            session.diagnose(&Diagnostic { help, ..finding });
        }
        drop(working);
        self.show.answered(&finish, &before, session.usage());
        if finish.status != Status::Done {
            // It was typed for an answer that did not come, so the user sees it again before it is sent.
            self.queue.clear();
            self.dialogue.keyboard.iter().for_each(Keyboard::unsend);
        }
    }

    /// Returns a new switch, which the next signal cancels.
    fn new_cancel(&self) -> Cancel {
        let cancel = Cancel::new();
        self.dialogue.interrupts.aim(&cancel);
        cancel
    }

    /// Makes the change, and returns the conversation of the next session: `id`, unless the change is another conversation.
    fn prepare(
        &mut self,
        agent: &mut BuiltAgent,
        change: SessionChange,
        id: &str,
    ) -> Result<Conversation, Failure> {
        let show = Arc::clone(&self.show) as _;
        match change {
            SessionChange::Recipe(task) => {
                let id = self.run_recipe(agent, *task, id)?;
                return reload(agent, &id);
            }
            SessionChange::Model(model) => agent.change_model(&self.project, model, show),
            SessionChange::Trust(catalog) => {
                agent.change_trust(&self.project, self.args, *catalog, show);
            }
            SessionChange::Servers(catalog) => {
                ui::diagnostics(&agent.change_servers(&self.project, self.args)?);
                agent.change_trust(&self.project, self.args, *catalog, show);
            }
            SessionChange::Conversation(stored) => {
                reset(&mut agent.agent);
                return Ok(Conversation::resumed(*stored));
            }
            SessionChange::New => {
                self.commands.clear();
                reset(&mut agent.agent);
                return Ok(agent.conversation());
            }
        }
        reload(agent, id)
    }

    fn exit(&self, agent: &Agent, id: &str, status: Status) -> Exit {
        if !self.args.no_save && agent.store.find(id).is_ok() {
            let id = sanitize(id);
            ui::note(styled(FAINT, format!("continue with: tenter chat --resume {id}")));
        }
        if status == Status::Interrupted {
            agent.workspace.end_background();
            return agent::exit_after(status);
        }
        Exit::Done
    }
}

/// Returns the conversation of this id as it is stored; a new one if nothing is stored yet.
fn reload(agent: &BuiltAgent, id: &str) -> Result<Conversation, Failure> {
    match agent.agent.store.load(id) {
        Ok(conversation) => Ok(Conversation::resumed(conversation)),
        // Nothing is stored before the first message.
        Err(StoreError::NotFound { .. }) => Ok(agent.conversation()),
        Err(error) => Err(Failure::caused_by(error)),
    }
}

/// Resets what belongs to a conversation: permissions, files that were read, and the todo list.
fn reset(agent: &mut Agent) {
    agent.permissions = agent.permissions.for_another_conversation();
    agent.workspace = Arc::new(agent.workspace.for_another_conversation());
}

/// Returns the help for an error in a chat, if it differs from other commands.
fn help(error: &AgentError) -> Option<&'static str> {
    match error {
        AgentError::Model(ModelError::Transient { .. }) | AgentError::GaveUp { .. } => Some(
            "your next message continues from here, now or later; /model NAME switches to another model",
        ),
        AgentError::Model(ModelError::TooLong { .. }) => Some(
            "/compact shortens it, /new starts another, and /model NAME switches to a model with a larger context window",
        ),
        _ => None,
    }
}

fn greet(agent: &Agent) {
    let hooks = match agent.engine.catalog().hooks().len() {
        0 => "no hooks".to_owned(),
        hooks => format_count(hooks, "hook", "hooks"),
    };
    ui::note(format!(
        "{} {}",
        styled(HEADING, "tenter chat"),
        styled(FAINT, format!("· {} · {hooks} · /help", one_line(agent.model.name(), 80)))
    ));
}
