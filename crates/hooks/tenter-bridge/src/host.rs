//! What the bridge knows about a host: data, and the few functions in which hosts differ (B6).

mod format;
mod powers;
mod settings;
mod version;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tenter_engine::hook::{FailMode, Hook};
use tenter_protocol::lifecycle::Power;
use tenter_protocol::tool_effects::last_segment;
use tenter_protocol::{EventName, ToolResult};

use crate::occurrence::{NativeCall, Occurrence, ToolEnd};
use crate::payload::{Payload, PayloadError};
use crate::reply::Reply;
use crate::user_rules::RuleCheck;

pub(crate) use format::OWN_FILE_MARK;
pub use format::{
    EntryFormat, FailClosed, FileContext, FileFormat, Layout, OwnFile, Reads, Registration,
    RegistrationFormat, Scope, Silencer, SwitchValue, TimeoutUnit,
};
pub use powers::{EventPowers, Support};
pub use tenter_protocol::native_tool::NativeTool;
pub use version::HostVersion;

pub use settings::{SettingsPaths, UserDirectories};

pub(crate) use powers::at;
pub(crate) use settings::{ANYWHERE, SYSTEM, within};
pub(crate) use tenter_protocol::native_tool::tool;

/// An agent in which Tenter's hooks can run.
#[derive(Debug)]
pub struct Host {
    /// The id in commands, such as `claude-code`.
    pub id: &'static str,
    /// The name for users.
    pub name: &'static str,
    /// The version that the facts in the host's file were measured with; `None` if they come from documentation only.
    pub measured_version: Option<&'static str>,
    /// The native events that the bridge registers for: all that the installed version knows (B45).
    pub events: &'static [NativeEvent],
    /// Tools whose names or fields differ from Tenter's.
    pub tools: &'static [NativeTool],
    /// Where and how the bridge registers.
    pub registration: Registration,
    /// What decides what the host loads, runs and allows, besides the files of registrations (B49).
    pub settings: &'static [SettingsPaths],
    /// What hooks can do at each of Tenter's events; an event without a row does not fire.
    pub powers: &'static [EventPowers],
    /// What the host never shows to hooks, as sentences (B3).
    pub blind_spots: &'static [&'static str],
    /// What else its users must know, as sentences.
    pub notes: &'static [&'static str],
    /// Maximum length of a context that the host passes on to the model, in characters (B20).
    pub context_limit: usize,
    /// How many times in a row the host lets hooks make an agent continue (B21).
    pub max_continuations: u32,
    /// Whether events tell which subagent causes them.
    pub marks_subagents: bool,
    /// How the host takes a rewritten input of a tool.
    pub input_rewrite: InputRewrite,
    /// What becomes of the user's own permission rules of the host when a hook rewrites a call.
    pub user_rules: RuleCheck,
    /// The variables by which hooks could use the host itself; hooks do not get them (B43).
    pub withheld: &'static [&'static str],
    /// Reads a payload of a native event.
    pub read: fn(&NativeEvent, &Payload) -> Result<Occurrence, PayloadError>,
    /// Writes the native answer, one line; `None` is no opinion: nothing on stdout and exit code 0 (B14).
    pub answer: fn(&NativeEvent, &Reply) -> Option<String>,
    /// The native result for the model to read, after hooks changed Tenter's form of how a tool ended; `None` if the host cannot
    /// replace it (B19).
    pub rewrite_output: fn(&ToolEnd, &ToolResult) -> Option<Value>,
    /// The name of a tool of an MCP server, `mcp__SERVER__TOOL`; `None` for other tools (B8).
    pub mcp_name: fn(&NativeCall) -> Option<String>,
    /// Whether the model reads text that an answer adds at this moment.
    pub takes_context: fn(Moment) -> bool,
    /// Whether the user reads a notice in an answer at this moment.
    pub takes_notice: fn(Moment) -> bool,
}

impl Host {
    /// The settings paths of the host for a user: a relative path means that path in every directory.
    pub fn settings_paths(&self, user: UserDirectories<'_>) -> impl Iterator<Item = PathBuf> {
        let registration = &self.registration;
        let own = registration.user_file.split('/').next();
        let variable = registration.directory_variable.zip(own);
        let written = self.settings.iter().flat_map(|paths| paths.written());
        written.flat_map(move |written| user.paths(&written, variable))
    }

    /// The native event of this name, if the bridge registers for it.
    pub fn event(&self, name: &str) -> Option<&'static NativeEvent> {
        self.events.iter().find(|event| event.name == name)
    }

    /// How a hook's reply at one of Tenter's events gets this power.
    pub fn support(&self, event: EventName, power: Power) -> Support {
        let Some(row) = self.powers.iter().find(|row| row.event == event) else {
            return Support::Unsupported;
        };
        if row.native.contains(&power) {
            return Support::Native;
        }
        let emulated = row.emulated.iter().find(|(emulated, _)| *emulated == power);
        emulated.map_or(Support::Unsupported, |(_, how)| Support::Emulated(how))
    }

    /// The tool that a call is of, if its name or fields differ from Tenter's. A host may put a namespace before its names; what
    /// an MCP server provides is never a tool of the host.
    pub fn tool(&self, call: &NativeCall) -> Option<&'static NativeTool> {
        let named = |name: &str| self.tools.iter().find(|tool| tool.is_of(name, &call.input));
        let is_of_server = || call.server.is_some() || call.tool.starts_with("mcp__");
        named(&call.tool).or_else(|| {
            let may_be = !is_of_server() && (self.mcp_name)(call).is_none();
            may_be.then(|| named(last_segment(&call.tool))).flatten()
        })
    }

    /// The native events that a version knows.
    pub fn events_of(&self, version: HostVersion) -> impl Iterator<Item = &'static NativeEvent> {
        self.events.iter().filter(move |event| event.since <= version)
    }

    /// Whether a native event stands for this moment.
    pub fn fires(&self, moment: Moment) -> bool {
        self.events.iter().any(|event| event.moment == moment)
    }

    /// Whether the model reads text that hooks add at any of the host's events.
    pub fn carries_contexts(&self) -> bool {
        self.events.iter().any(|event| (self.takes_context)(event.moment))
    }

    /// Whether a hook may hide parts of results from the model, must not be ignored, and cannot do so in this host: calls that it
    /// matches are denied instead (B19).
    pub fn cannot_guard_results(&self, hook: &Hook) -> bool {
        let is_replaceable =
            self.support(EventName::AfterTool, Power::RewriteOutput) != Support::Unsupported;
        let sees_results = hook.subscription(EventName::AfterTool).is_some();
        let can_rewrite = !hook.is_declared() && !hook.policy.asynchronous;
        !is_replaceable && sees_results && can_rewrite && hook.policy.fail == FailMode::Closed
    }

    /// Whether the host shows the user notices at any of its events.
    pub fn shows_notices(&self) -> bool {
        self.events.iter().any(|event| (self.takes_notice)(event.moment))
    }
}

/// How a host takes a rewritten input of a tool (B18).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputRewrite {
    /// The call runs with it, and the host asks the user as it always does.
    Native,
    /// Only with an allow, which would skip the host's question to the user: where the host would ask, the model is asked for it.
    WithAllow {
        /// The first version that runs the rewritten call. An earlier one runs the original, so the model is asked for the rewritten
        /// call, as it is where the version is unknown.
        since: HostVersion,
    },
    /// Natively, unless a call has several commands, for which hooks have one text.
    OfSingleCommand,
    /// Not at all: the call is denied, and the model is asked to make the rewritten one.
    Demanded,
}

/// A native event that the bridge registers for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NativeEvent {
    /// The host's name for it.
    pub name: &'static str,
    /// What happens at it.
    pub moment: Moment,
    /// The timeout that is registered, after which the host lets the call pass (B24).
    pub timeout: Duration,
    /// The first version that knows the event. An earlier one may ignore every setting of a file that names it.
    pub since: HostVersion,
}

/// A native event that is registered with this timeout.
pub(crate) const fn event(name: &'static str, moment: Moment, timeout: Duration) -> NativeEvent {
    NativeEvent { name, moment, timeout, since: HostVersion::EARLIEST }
}

/// Timeouts below this leave less margin.
const SHORT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long before the host's timeout the answer is written, for short timeouts and for others (B24).
const MARGINS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));

impl NativeEvent {
    /// The event, which hosts know since this version.
    pub(crate) const fn since(self, major: u32, minor: u32, patch: u32) -> Self {
        Self { since: HostVersion::new(major, minor, patch), ..self }
    }

    /// The event with a timeout that is at most this one.
    #[must_use]
    pub fn within(self, timeout: Duration) -> Self {
        Self { timeout: self.timeout.min(timeout), ..self }
    }

    /// How long hooks may run, from the start of the process: less than the host waits.
    pub fn time_for_hooks(&self) -> Duration {
        let margin = if self.timeout < SHORT_TIMEOUT { MARGINS.0 } else { MARGINS.1 };
        self.timeout.saturating_sub(margin)
    }
}

/// What happens in a host at a native event. One native event may fire several of Tenter's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Moment {
    /// A session starts or resumes, or its history was replaced by a summary.
    SessionStart,
    /// The user sends a message.
    Prompt,
    /// The host has put together what the model is to read of a message.
    PromptSent,
    /// A tool is about to run.
    BeforeTool,
    /// A tool succeeded, or also failed, if the host has no event for that.
    AfterTool,
    /// A tool failed.
    AfterToolFailure,
    /// All tool calls of one model response have ended.
    AfterBatch,
    /// The agent is about to stop.
    Stop,
    /// The agent stopped because of an error.
    StopFailure,
    /// A subagent started.
    SubagentStart,
    /// A subagent is about to stop.
    SubagentStop,
    /// The history is about to be replaced by a summary.
    PreCompact,
    /// The history was replaced by a summary.
    PostCompact,
    /// The session ends.
    SessionEnd,
}

impl Moment {
    /// The event whose denial keeps what is about to happen from happening; `None` if nothing can.
    pub fn deniable(self) -> Option<EventName> {
        match self {
            Self::Prompt => Some(EventName::BeforeAgent),
            Self::BeforeTool => Some(EventName::BeforeTool),
            Self::PreCompact => Some(EventName::PreCompact),
            _ => None,
        }
    }
}
