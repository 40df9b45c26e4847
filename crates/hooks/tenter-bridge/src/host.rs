//! A host as data, with the few functions in which hosts differ (B6).

mod format;
mod powers;
mod settings;
mod version;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tenter_engine::FailMode;
use tenter_engine::inspect::Hook;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::tool_effects::last_segment;
use tenter_protocol::{EventName, ToolCall, ToolResult};

use crate::occurrence::{NativeCall, Occurrence, ToolEnd};
use crate::payload::{Payload, PayloadError};
use crate::reply::HostReply;
use crate::tool_call;
use crate::user_rules::RuleCheck;

pub(crate) use format::OWN_FILE_MARK;
pub use format::{
    EntryFormat, EntryLayout, FailClosed, FileContext, FileFormat, OwnFile, Reads, Registration,
    RegistrationFormat, RegistrationScope, Silencer, SwitchValue, TimeoutUnit,
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
    /// The places and the format of registrations.
    pub registration: Registration,
    /// The settings that decide what the host loads, runs and allows, besides the files of registrations (B49).
    pub settings: &'static [SettingsPaths],
    /// The powers of hooks at each of Tenter's events. An event without a row does not fire.
    pub powers: &'static [EventPowers],
    /// Actions that the host never shows to hooks, as sentences (B3).
    pub blind_spots: &'static [&'static str],
    /// Remarks for users, as sentences.
    pub notes: &'static [&'static str],
    /// Maximum length of a context that the host passes on to the model, in characters (B20).
    pub context_limit: usize,
    /// Maximum number of times in a row that the host lets hooks make an agent continue (B21).
    pub max_continuations: u32,
    /// True if payloads identify the subagent that causes the event.
    pub marks_subagents: bool,
    /// True if the agent can send input to a command that already runs, and no event shows it.
    pub has_unseen_input: bool,
    /// The way in which the host accepts a rewritten input of a tool.
    pub input_rewrite: InputRewrite,
    /// The first version that holds back a call that a hook asks about in a session in which the host asks the user nothing (B17).
    pub asks_unasked_since: HostVersion,
    /// The check of the user's own permission rules when a hook rewrites a call.
    pub user_rules: RuleCheck,
    /// The variables by which hooks could use the host itself; hooks do not get them (B43).
    pub withheld: &'static [&'static str],
    /// Reads a payload of a native event.
    pub read: fn(&NativeEvent, &Payload) -> Result<Occurrence, PayloadError>,
    /// Writes the native answer, one line; `None` is no opinion: nothing on stdout and exit code 0 (B14).
    pub answer: fn(&NativeEvent, &HostReply) -> Option<String>,
    /// Returns the native result for the model, after hooks changed Tenter's form of it; `None` if the host cannot replace results (B19).
    pub rewrite_output: fn(&ToolEnd, &ToolResult) -> Option<Value>,
    /// Returns the name of an MCP tool, `mcp__SERVER__TOOL`; `None` for other tools (B8).
    pub mcp_name: fn(&NativeCall) -> Option<String>,
    /// Returns whether the model reads text that an answer adds at this moment.
    pub takes_context: fn(Moment) -> bool,
    /// Returns whether the user reads a notice in an answer at this moment.
    pub takes_notice: fn(Moment) -> bool,
}

impl Host {
    /// Returns the settings paths of the host for a user. A relative path means that path in every directory.
    pub fn settings_paths(&self, user: UserDirectories<'_>) -> impl Iterator<Item = PathBuf> {
        let variable = self.registration.directory_variable;
        let patterns = self.settings.iter().flat_map(|paths| paths.written());
        patterns.flat_map(move |pattern| user.paths(&pattern, variable))
    }

    /// Returns the native event of this name, if the bridge registers for it.
    pub fn event(&self, name: &str) -> Option<&'static NativeEvent> {
        self.events.iter().find(|event| event.name == name)
    }

    /// Returns how the host supports a power at one of Tenter's events.
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

    /// Returns a call in Tenter's names, as hooks read it. Fields that only the host has stay as they are.
    pub fn canonical_call(&self, call: &NativeCall) -> ToolCall {
        tool_call::canonical(self, call)
    }

    /// Returns the tool of a call, if its name or fields differ from Tenter's. A host may put a namespace before its names. A tool of
    /// an MCP server is never a tool of the host.
    pub fn tool(&self, call: &NativeCall) -> Option<&'static NativeTool> {
        let find = |name: &str| self.tools.iter().find(|tool| tool.is_of(name, &call.input));
        let is_mcp_tool = || call.server.is_some() || call.tool.starts_with("mcp__");
        find(&call.tool).or_else(|| {
            let may_be = !is_mcp_tool() && (self.mcp_name)(call).is_none();
            may_be.then(|| find(last_segment(&call.tool))).flatten()
        })
    }

    /// Returns the native events that a version knows.
    pub fn events_of(&self, version: HostVersion) -> impl Iterator<Item = &'static NativeEvent> {
        self.events.iter().filter(move |event| event.since <= version)
    }

    /// Returns whether the host has a native event for this moment.
    pub fn fires(&self, moment: Moment) -> bool {
        self.events.iter().any(|event| event.moment == moment)
    }

    /// Returns whether the model reads text that hooks add at any of the host's events.
    pub fn carries_contexts(&self) -> bool {
        self.events.iter().any(|event| (self.takes_context)(event.moment))
    }

    /// Returns whether a hook that fails closed may rewrite results, which this host does not support. Calls that it matches are denied
    /// instead (B19).
    pub fn cannot_guard_results(&self, hook: &Hook) -> bool {
        let is_replaceable =
            self.support(EventName::AfterTool, Power::RewriteOutput) != Support::Unsupported;
        let sees_results = hook.subscription(EventName::AfterTool).is_some();
        let can_rewrite = !hook.is_static() && !hook.policy.asynchronous;
        !is_replaceable && sees_results && can_rewrite && hook.policy.fail == FailMode::Closed
    }

    /// Returns whether the host shows notices to the user at any of its events.
    pub fn shows_notices(&self) -> bool {
        self.events.iter().any(|event| (self.takes_notice)(event.moment))
    }
}

/// The way in which a host accepts a rewritten input of a tool (B18).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputRewrite {
    /// The call runs with it, and the host asks the user as it always does.
    Native,
    /// Only together with an allow, which skips the host's question to the user. Where the host would ask, the model is asked to make the
    /// rewritten call.
    WithAllow {
        /// The first version that runs the rewritten call. Earlier versions run the original, so the model is asked to make the rewritten
        /// call there, and where the version is unknown.
        since: HostVersion,
    },
    /// As `Native`, unless a call has several commands, which hooks see as one text.
    OfSingleCommand,
    /// Not at all: the call is denied, and the model is asked to make the rewritten one.
    Demanded,
}

/// A native event that the bridge registers for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NativeEvent {
    /// The host's name for it.
    pub name: &'static str,
    /// The moment at which it fires.
    pub moment: Moment,
    /// The registered timeout, after which the host lets the call pass (B24).
    pub timeout: Duration,
    /// The first version that knows the event. An earlier one may ignore every setting of a file that names it.
    pub since: HostVersion,
}

/// Creates a native event that is registered with a timeout of 10 minutes.
pub(crate) const fn event(name: &'static str, moment: Moment) -> NativeEvent {
    NativeEvent { name, moment, timeout: Duration::from_mins(10), since: HostVersion::EARLIEST }
}

/// Timeouts below this get the smaller margin.
const SHORT_TIMEOUT: Duration = Duration::from_secs(20);
/// The time between the answer and the host's timeout, for short timeouts and for others (B24).
const MARGINS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));

impl NativeEvent {
    /// Sets the timeout.
    pub(crate) const fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets the first version that knows the event.
    pub(crate) const fn since(self, major: u32, minor: u32, patch: u32) -> Self {
        Self { since: HostVersion::new(major, minor, patch), ..self }
    }

    /// Limits the timeout of the event.
    #[must_use]
    pub fn within(self, timeout: Duration) -> Self {
        Self { timeout: self.timeout.min(timeout), ..self }
    }

    /// Returns the time that hooks have from the start of the process: less than the host waits.
    pub fn time_for_hooks(&self) -> Duration {
        let margin = if self.timeout < SHORT_TIMEOUT { MARGINS.0 } else { MARGINS.1 };
        self.timeout.saturating_sub(margin)
    }
}

/// A moment in a host at which a native event fires. One native event may fire several of Tenter's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Moment {
    /// A session starts or resumes, or a summary replaced its history.
    SessionStart,
    /// The user sends a message.
    Prompt,
    /// The host has assembled the text that the model reads of a message.
    PromptSent,
    /// Before a tool runs.
    BeforeTool,
    /// A tool succeeded; also if it failed, where the host has no event for that.
    AfterTool,
    /// A tool failed.
    AfterToolFailure,
    /// All tool calls of one model response have ended.
    AfterBatch,
    /// Before the agent stops.
    Stop,
    /// The agent stopped because of an error.
    StopFailure,
    /// A subagent started.
    SubagentStart,
    /// Before a subagent stops.
    SubagentStop,
    /// Before a summary replaces the history.
    PreCompact,
    /// A summary replaced the history.
    PostCompact,
    /// The session ends.
    SessionEnd,
}

impl Moment {
    /// Returns the event whose denial prevents the action that follows; `None` if no denial can.
    pub fn deniable(self) -> Option<EventName> {
        match self {
            Self::Prompt => Some(EventName::BeforeAgent),
            Self::BeforeTool => Some(EventName::BeforeTool),
            Self::PreCompact => Some(EventName::PreCompact),
            _ => None,
        }
    }
}
