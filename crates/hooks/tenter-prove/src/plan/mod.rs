//! The contents of scenarios: hooks, and the model's replies.
//!
//! Each file has one scenario, or several that are alike, with the names of files and the words by which its checks recognize what happened.

pub(crate) mod compaction;
pub(crate) mod confined;
pub(crate) mod deadline;
pub(crate) mod decisions;
pub(crate) mod failures;
pub(crate) mod mcp;
pub(crate) mod own_sandbox;
pub(crate) mod prompt;
pub(crate) mod resume;
pub(crate) mod single;
pub(crate) mod skill;
pub(crate) mod subagent;
pub(crate) mod tools;
pub(crate) mod user_rule;

use std::ffi::OsStr;

use tenter_bridge::Host;
use tenter_bridge::registration::{EntryFormat, FailClosed};
use tenter_bridge::user_rules::Checks;
use tenter_model_server::{Lane, ModelReply};

use crate::client::Client;
use crate::hook_file::HookFile;
use crate::other_program;
use crate::sandbox::{Registered, Sandbox};
use crate::scenario::Scenario;

/// Messages of the user, one for each process.
const TWO: &[&str] = &["Please run the test.", "And again, please."];

/// The contents of a scenario.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The hooks, without the observer.
    pub(crate) hooks: Vec<HookFile>,
    /// The model's replies to the main agent.
    pub(crate) replies: Vec<ModelReply>,
    /// The model's replies to others.
    pub(crate) lanes: Vec<Lane>,
    /// Set if replies are counted, because the client does not repeat its whole history.
    pub(crate) counts: bool,
    /// The user's messages, one for each process.
    pub(crate) prompts: &'static [&'static str],
    /// The registration of the hooks.
    pub(crate) registration: Registered,
}

impl Plan {
    /// Returns the plan of one session with these hooks and replies.
    pub(crate) fn new(hooks: Vec<HookFile>, replies: Vec<ModelReply>) -> Self {
        Self {
            hooks,
            replies,
            lanes: Vec::new(),
            counts: false,
            prompts: &TWO[..1],
            registration: Registered::ForUser,
        }
    }
}

/// Returns the reason why a client cannot be run for a scenario, if there is one.
/// `path` is the `PATH` that it gets.
pub(crate) fn impossible(
    scenario: Scenario,
    (host, client): (&Host, &Client),
    path: &OsStr,
) -> Option<&'static str> {
    let registration = &host.registration;
    let has_files = registration.personal_file.is_some() || registration.shared_file.is_some();
    let can_block = |entries: &EntryFormat| entries.fail_closed != FailClosed::Impossible;
    let (is_possible, why) = match scenario {
        Scenario::Compaction => (
            client.compaction.is_some(),
            "without a terminal, nothing makes it replace the history by a summary",
        ),
        Scenario::Subagent => (client.subagent.is_some(), "it has no subagents"),
        Scenario::Mcp => (client.mcp_tool.is_some(), "it has no MCP servers"),
        Scenario::Skill => {
            (client.skill.is_some(), "no event is known there for commands in the text of a skill")
        }
        Scenario::Others => (
            other_program::is_possible(host, client),
            "the hooks of an event are one file there, so there is one program",
        ),
        Scenario::Resume => {
            (client.resume.is_some(), "it cannot continue a session without a terminal")
        }
        Scenario::Twice => (has_files, "it has no settings for one project"),
        Scenario::UserRule => (
            !matches!(host.user_rules.checks, Checks::Neither | Checks::Unread),
            "no rules about the inputs of calls are known there",
        ),
        Scenario::Deadline => (registration.entries().is_some(), "it registers no timeout"),
        Scenario::MissingClosed => {
            (registration.entries().is_none_or(can_block), "it cannot block then")
        }
        Scenario::OwnSandbox => match &client.own_sandbox {
            Some(sandbox) => (sandbox.has_programs(path), sandbox.without_programs),
            None => (
                false,
                "it has no sandbox for commands that works without a terminal and a container",
            ),
        },
        Scenario::Managed => (
            client.off_switch.is_some(),
            "the place where its administrators register hooks is not known",
        ),
        Scenario::Confined => (cfg!(target_os = "linux"), "only Linux confines commands"),
        Scenario::Tools
        | Scenario::Decisions
        | Scenario::Failures
        | Scenario::Prompt
        | Scenario::Registered
        | Scenario::Missing => (true, ""),
    };
    (!is_possible).then_some(why)
}

/// Returns the contents of a scenario for a client in a sandbox.
pub(crate) fn contents(scenario: Scenario, client: &Client, sandbox: &Sandbox) -> Plan {
    let missing = |fail_closed| Registered::WithoutProgram { fail_closed };
    match scenario {
        Scenario::Tools => tools::plan(client, sandbox),
        Scenario::Decisions => decisions::plan(client, sandbox),
        Scenario::Mcp => mcp::plan(client),
        Scenario::Skill => skill::plan(client),
        Scenario::Others => single::plan(client, Registered::AmongOthers),
        Scenario::Failures => failures::plan(client),
        Scenario::Deadline => deadline::plan(client),
        Scenario::Compaction => compaction::plan(client),
        Scenario::Subagent => subagent::plan(client),
        Scenario::Resume => resume::plan(),
        Scenario::Prompt => prompt::plan(client),
        Scenario::Registered => single::plan(client, Registered::ForUser),
        Scenario::UserRule => user_rule::plan(client),
        Scenario::Confined => confined::plan(client),
        Scenario::OwnSandbox => own_sandbox::plan(client),
        Scenario::Twice => single::plan(client, Registered::Twice),
        Scenario::Managed => single::plan(client, Registered::Managed),
        Scenario::Missing => single::plan(client, missing(false)),
        Scenario::MissingClosed => single::plan(client, missing(true)),
    }
}

/// Returns the user's messages: a second one if contexts reach the model only with it.
fn prompts(client: &Client) -> &'static [&'static str] {
    if client.defers_contexts() && client.resume.is_some() { TWO } else { &TWO[..1] }
}

/// Returns the shell command that makes a file in the project, in which every client starts.
pub(crate) fn touch(file: &str) -> String {
    format!("touch {file}")
}
