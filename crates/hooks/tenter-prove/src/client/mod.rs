//! How each agent is run without a terminal, against a model server: data and a few functions, one file per agent.

mod claude_code;
mod cline;
mod codex;
mod copilot;
mod droid;
mod gemini;
mod kilo;
mod kimi_code;
mod opencode;
mod pi;
mod qwen;
mod vibe;

use std::path::{Path, PathBuf};

use tenter_bridge::host::Moment;
use tenter_bridge::{Host, hosts};
use tenter_model_server::{Format, Match, Reply};

use crate::scenario::Scenario;

/// How an agent is run without a terminal.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub struct Client {
    /// The id of the agent.
    pub host: &'static str,
    /// The API by which it talks to its model.
    pub format: Format,
    /// The arguments of its program.
    pub arguments: fn(&Launch) -> Vec<String>,
    /// Environment variables, besides those that every client gets.
    pub environment: fn(&Launch) -> Vec<(&'static str, String)>,
    /// Its settings, written before the hooks are registered.
    pub files: fn(&Launch) -> Vec<(PathBuf, String)>,
    /// The arguments of a run of its program that must precede the others, such as one that stores a key.
    pub setup: Option<fn(&Launch) -> Vec<String>>,
    /// Adds a call of the tool that runs a shell command.
    pub shell: fn(Reply, &str) -> Reply,
    /// Adds a call of the tool that writes a text to a file, whose path is absolute.
    pub write: fn(Reply, &Path, &str) -> Reply,
    /// Adds a call that fails and whose input contains a word.
    pub failing_call: fn(Reply, &str) -> Reply,
    /// How it starts subagents; `None` if it has none without a terminal.
    pub subagent: Option<Subagent>,
    /// When it replaces its history by a summary; `None` if it does not without a terminal.
    pub compaction: Option<Compaction>,
    /// Whether it can continue a session in another process.
    pub resumes: bool,
    /// Whether its program unpacks itself into the user's cache when it is run for the first time.
    pub unpacks_itself: bool,
    /// Whether a denied call ends the whole run: the rest of a scenario then gets a run of its own.
    pub deny_ends_run: bool,
    /// Whether an answer after which hooks make the agent continue is taken out of the history.
    pub takes_answers_back: bool,
    /// What the agent does not do without a terminal, although it does otherwise: the id of a check, and why it does not hold.
    pub limits: &'static [(&'static str, &'static str)],
}

/// How a client starts a subagent.
#[derive(Debug)]
pub struct Subagent {
    /// Adds a call of the tool, with this task.
    pub call: fn(Reply, &str) -> Reply,
    /// Which requests are the subagent's. Its task contains [`Subagent::TASK`].
    pub requests: fn() -> Match,
    /// Adds a call with which the main agent waits for the subagent, if the tool does not.
    pub wait: Option<fn(Reply) -> Reply>,
}

impl Subagent {
    /// A word in the task of every subagent.
    pub const TASK: &str = "SUBTASK";
}

/// When a client replaces its history by a summary.
#[derive(Debug)]
pub struct Compaction {
    /// The tokens that the model has to report, to be near the context window.
    pub tokens: u64,
    /// Which requests ask for the summary.
    pub requests: fn() -> Match,
}

/// A process of a client.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'l> {
    /// The scratch home directory.
    pub home: &'l Path,
    /// The scratch project.
    pub project: &'l Path,
    /// The address of the model server, as the format's clients expect it.
    pub url: &'l str,
    /// The user's message.
    pub prompt: &'l str,
    /// Whether the process continues the session of the one before it.
    pub continues: bool,
    /// What it is run for.
    pub scenario: Scenario,
}

impl Launch<'_> {
    /// The program that the user's rules deny, if there is to be such a rule.
    fn denied_program(&self) -> Option<&'static str> {
        (self.scenario == Scenario::UserRule).then_some(DENIED_PROGRAM)
    }
}

impl Client {
    /// Every client.
    pub const ALL: &[&Self] = &[
        &claude_code::CLIENT,
        &codex::CLIENT,
        &gemini::CLIENT,
        &opencode::CLIENT,
        &copilot::CLIENT,
        &qwen::CLIENT,
        &kimi_code::CLIENT,
        &cline::CLIENT,
        &pi::CLIENT,
        &kilo::CLIENT,
        &droid::CLIENT,
        &vibe::CLIENT,
    ];

    /// The client of an agent; `None` if it is not known how to run it without a terminal.
    pub fn of(host: &Host) -> Option<&'static Self> {
        Self::ALL.iter().find(|client| client.host == host.id).copied()
    }

    /// Whether contexts reach the model only with the next message.
    pub(crate) fn defers_contexts(&self) -> bool {
        hosts::find(self.host).is_some_and(|host| !(host.takes_context)(Moment::AfterTool))
    }

    /// Whether hooks see that the agent stops again after they made it continue.
    pub(crate) fn shows_second_stop(&self) -> bool {
        hosts::find(self.host).is_none_or(|host| host.max_continuations > 1)
    }

    /// Why a check is known not to hold without a terminal.
    pub(crate) fn limit(&self, check: &str) -> Option<&'static str> {
        self.limits.iter().find(|(id, _)| *id == check).map(|(_, why)| *why)
    }
}

/// The key that clients send to the model server.
const KEY: &str = "no-key-needed";

/// The program that the rules of each client deny in the scenario [`Scenario::UserRule`].
const DENIED_PROGRAM: &str = "touch";
