//! What a client is run for. A scenario is one session with the client: hooks, the model's replies, and what they show.
//!
//! Each file has one scenario, with the names of files and the words by which its checks recognize what happened.

pub(crate) mod compaction;
pub(crate) mod failures;
pub(crate) mod prompt;
pub(crate) mod resume;
pub(crate) mod single;
pub(crate) mod subagent;
pub(crate) mod tools;

use tenter_bridge::Host;
use tenter_bridge::registration::FailClosed;
use tenter_model_server::{Lane, Reply};

use crate::client::Client;
use crate::hook_file::HookFile;
use crate::sandbox::{Registered, Sandbox};

/// What a client is run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scenario {
    /// Hooks watch, deny and change calls of tools, add contexts, and make the agent continue.
    Tools,
    /// Hooks fail.
    Failures,
    /// The history is replaced by a summary.
    Compaction,
    /// A subagent calls a tool.
    Subagent,
    /// A session continues in a second process.
    Resume,
    /// The hooks are registered for the user and for the project.
    Twice,
    /// A hook rejects the message.
    Prompt,
    /// The program is missing.
    Missing,
    /// The program is missing, and the agent is to block then.
    MissingClosed,
}

/// What a scenario consists of.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The hooks, without the observer.
    pub(crate) hooks: Vec<HookFile>,
    /// The model's replies to the main agent.
    pub(crate) replies: Vec<Reply>,
    /// The model's replies to others.
    pub(crate) lanes: Vec<Lane>,
    /// Whether replies are counted, because the client does not repeat its whole history.
    pub(crate) counts: bool,
    /// The user's messages, one for each process.
    pub(crate) prompts: &'static [&'static str],
    /// How the hooks are registered.
    pub(crate) registered: Registered,
}

impl Plan {
    /// One session with these hooks and replies.
    fn new(hooks: Vec<HookFile>, replies: Vec<Reply>) -> Self {
        Self {
            hooks,
            replies,
            lanes: Vec::new(),
            counts: false,
            prompts: &["Please run the test."],
            registered: Registered::ForUser,
        }
    }
}

impl Scenario {
    /// Every scenario, the longest first.
    pub const ALL: [Self; 9] = [
        Self::Tools,
        Self::Failures,
        Self::Compaction,
        Self::Subagent,
        Self::Resume,
        Self::Twice,
        Self::Prompt,
        Self::Missing,
        Self::MissingClosed,
    ];

    /// The name, also that of its directory.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Failures => "failures",
            Self::Compaction => "compaction",
            Self::Subagent => "subagent",
            Self::Resume => "resume",
            Self::Twice => "twice",
            Self::Prompt => "prompt",
            Self::Missing => "missing",
            Self::MissingClosed => "missing-closed",
        }
    }

    /// Whether a client can be run for it.
    pub(crate) fn is_possible(self, host: &Host, client: &Client) -> bool {
        let registration = &host.registration;
        match self {
            Self::Compaction => client.compaction.is_some(),
            Self::Subagent => client.subagent.is_some(),
            Self::Resume => client.resumes,
            Self::Twice => {
                registration.personal_file.is_some() || registration.shared_file.is_some()
            }
            Self::MissingClosed => registration
                .entries()
                .is_none_or(|entries| entries.fail_closed != FailClosed::Impossible),
            Self::Tools | Self::Failures | Self::Prompt | Self::Missing => true,
        }
    }

    pub(crate) fn plan(self, client: &Client, sandbox: &Sandbox) -> Plan {
        match self {
            Self::Tools => tools::plan(client, sandbox),
            Self::Failures => failures::plan(client),
            Self::Compaction => compaction::plan(client),
            Self::Subagent => subagent::plan(client),
            Self::Resume => resume::plan(),
            Self::Prompt => prompt::plan(client),
            Self::Twice => single::plan(client, Registered::Twice),
            Self::Missing => {
                single::plan(client, Registered::WithoutProgram { fail_closed: false })
            }
            Self::MissingClosed => {
                single::plan(client, Registered::WithoutProgram { fail_closed: true })
            }
        }
    }
}

/// The shell command that makes a file in the project, in which every client starts.
pub(crate) fn touch(file: &str) -> String {
    format!("touch {file}")
}
