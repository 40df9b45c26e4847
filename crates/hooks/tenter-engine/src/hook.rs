//! A hook that can run: its identity, its origin, when and how it runs.

use std::path::{Path, PathBuf};

use tenter_proc::Cancel;
use tenter_protocol::executable::Subscription;
use tenter_protocol::manifest::setting::HookSetting;
use tenter_protocol::manifest::{Extensions, HttpEndpoint};
use tenter_protocol::runtime::{Runtime, Service};
use tenter_protocol::{EventName, EventRef};

use crate::claude_code::ClaudeCodeHook;
use crate::hook_policy::HookPolicy;
use crate::layer::Layer;
use crate::matcher::{HookRules, Matcher};
use crate::native::NativeHandle;
use crate::ready_made::ReadyMade;
use crate::source::EntryPoint;
use crate::static_action::StaticAction;
use crate::trust::{self, Changed, Fingerprint, Pin, TrustEntry, Verified};

/// A hook that can run. Its identity is its full name and its fingerprint, never its place in a list.
#[derive(Debug, Clone)]
pub struct Hook {
    /// The full name: a file name, or `org/repo/name` for a plugin's hook.
    pub name: String,
    /// The layer that it was found in.
    pub layer: Layer,
    /// The root of the project that it belongs to, if that is a project around the engine's (R89).
    pub outer: Option<PathBuf>,
    /// The file of an executable, the directory of a hook with a manifest; `None` for a native hook.
    pub path: Option<PathBuf>,
    /// The kind of the hook, with the code or the action that runs at an event.
    pub kind: HookKind,
    /// The settings of its manifest.
    pub options: Box<HookOptions>,
    /// The calls that one process answers, if it is a runtime hook.
    pub runtime: Option<RuntimeHook>,
    /// The events that it subscribes to, in its own spelling.
    pub subscriptions: Vec<Subscription>,
    /// The hash of its content.
    pub fingerprint: Fingerprint,
    /// The stamp that is compared right before it runs, if it must be trusted: a project's hook, unless the trust gate is off
    /// (R45, R47).
    pub pin: Option<Pin>,
    /// Its limits and its priority.
    pub policy: HookPolicy,
    /// Withheld environment variables that the user passes to it, in addition to those that its manifest requests (R40).
    pub env: Vec<String>,
}

/// The kind of a hook: what runs at an event.
#[derive(Debug, Clone)]
pub enum HookKind {
    /// A program with the commands `hook` and `run`, without a manifest.
    Executable,
    /// The script of a hook with a manifest.
    Program(EntryPoint),
    /// A server that payloads are posted to.
    Http(Box<HttpEndpoint>),
    /// An action in the manifest, or `None` if its rules decide: no process is started.
    Static(Option<Box<StaticAction>>),
    /// A ready-made hook: a function of this crate.
    ReadyMade(ReadyMade),
    /// A function of the embedding program.
    Native(NativeHandle),
}

impl HookKind {
    /// Returns the word for it in listings.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Executable => "executable",
            Self::Program(_) => "manifest",
            Self::Http(_) => "http",
            Self::Static(_) => "static",
            Self::ReadyMade(_) => "ready-made",
            Self::Native(_) => "native",
        }
    }

    /// Returns whether it replies without a process.
    pub fn is_static(&self) -> bool {
        matches!(self, Self::Static(_))
    }

    /// Returns the URL and headers of a hook behind HTTP.
    pub fn endpoint(&self) -> Option<&HttpEndpoint> {
        match self {
            Self::Http(endpoint) => Some(endpoint),
            Self::Executable
            | Self::Program(_)
            | Self::Static(_)
            | Self::ReadyMade(_)
            | Self::Native(_) => None,
        }
    }
}

/// The settings of a manifest, except for events and limits. An executable and a native hook have the defaults.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent settings")]
pub struct HookOptions {
    /// The author's description of the hook; `None` without a manifest.
    pub description: Option<String>,
    /// The tool calls that it runs on; all of them without a matcher.
    pub matcher: Option<Matcher>,
    /// Rules about the commands and paths of the calls that it runs on, besides `matcher`.
    pub rules: Option<HookRules>,
    /// True if it starts in its own directory instead of the project's (R40).
    pub starts_in_own_directory: bool,
    /// True if it runs without network, secrets and writes (F11).
    pub is_pure: bool,
    /// True if its payload lacks the history, where the agent provides one (R57).
    pub light_payload: bool,
    /// Environment variables that it receives although they look like model keys (R40).
    pub env: Vec<String>,
    /// True if no hook of a higher layer shadows it (R9).
    pub protected: bool,
    /// The additional settings of a script that is written for Claude Code.
    pub claude_code: Option<ClaudeCodeHook>,
    /// The settings that its manifest declares.
    pub settings: Vec<HookSetting>,
}

impl Hook {
    /// Returns the file of an executable, or the directory of a hook with a manifest; `None` for a native hook.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns whether a file in its directory exists, by its path there; `None` if it has no directory, or loading it did not look.
    pub fn has_file(&self, name: &str) -> Option<bool> {
        self.pin.as_ref()?.own().has_file(Path::new(name))
    }

    /// Returns what a trust store records of it; `None` for a native hook, which needs no trust.
    pub fn trust_entry(&self) -> Option<TrustEntry> {
        let entry = TrustEntry::new(&self.name, self.fingerprint.clone(), self.path()?);
        Some(TrustEntry { events: trust::spellings(&self.subscriptions), ..entry })
    }

    /// Returns the root of the project that it runs in, given the engine's own.
    pub(crate) fn project_in<'h>(&'h self, own: &'h Path) -> &'h Path {
        self.outer.as_deref().unwrap_or(own)
    }

    /// Returns its subscription to an event.
    pub fn subscription(&self, event: EventName) -> Option<Subscription> {
        self.subscriptions.iter().find(|subscription| subscription.event == event).copied()
    }

    /// Returns the variables that its manifest requests, and those that the user passes to it.
    pub(crate) fn requested_env(&self) -> Vec<String> {
        [&self.options.env[..], &self.env].concat()
    }

    /// Returns the plugin that it belongs to, `org/repo`.
    pub fn plugin(&self) -> Option<&str> {
        let is_of_plugin = matches!(self.layer, Layer::ProjectPlugin | Layer::UserPlugin);
        self.name.rsplit_once('/').filter(|_| is_of_plugin).map(|(plugin, _)| plugin)
    }

    /// Returns its action, if it is static.
    pub fn static_action(&self) -> Option<&StaticAction> {
        match &self.kind {
            HookKind::Static(action) => action.as_deref(),
            _ => None,
        }
    }

    /// Returns whether it replies without a process.
    pub fn is_static(&self) -> bool {
        self.kind.is_static()
    }

    /// Returns whether it is an executable, which has no manifest.
    pub fn is_executable(&self) -> bool {
        matches!(self.kind, HookKind::Executable)
    }

    /// Returns whether it may deny or ask: it runs code, or its action or rules do.
    pub(crate) fn may_deny(&self) -> bool {
        self.static_action().is_none_or(|action| matches!(action.action(), "deny" | "ask"))
    }

    /// Returns the rules that apply at an event: none at events without a tool call.
    pub(crate) fn rules_at(&self, event: EventName) -> Option<&HookRules> {
        self.options.rules.as_ref().filter(|_| event.lifecycle().matcher)
    }

    /// Returns the matcher that applies at an event: none at events without a tool call (R19).
    pub(crate) fn matcher_at(&self, event: EventName) -> Option<&Matcher> {
        self.options.matcher.as_ref().filter(|_| event.lifecycle().matcher)
    }

    /// Returns whether it runs at this event, as far as that does not depend on a tool call.
    pub(crate) fn applies(&self, event: EventRef<'_>) -> bool {
        self.options.claude_code.as_ref().is_none_or(|hook| hook.applies(event))
    }

    /// Checks that the hook is still the one that was trusted. If only the user and root can write its files, this reads the metadata of
    /// each, and their content only if the metadata changed. Otherwise they are always read. A hook that needs no trust is not
    /// checked.
    ///
    /// # Errors
    /// The hook changed, and must not run.
    pub fn verify_unchanged(&self, cancel: &Cancel) -> Result<(), Changed> {
        self.verify(None, cancel).map(drop)
    }

    /// Identifies the files that a process of the hook is started from: by their content and, if the hook is pinned, by their stamp,
    /// since the content may have been different in between.
    pub(crate) fn version(&self) -> Fingerprint {
        match &self.pin {
            Some(pin) => Fingerprint(format!("{}-{}", self.fingerprint.0, pin.stamp_digest())),
            None => self.fingerprint.clone(),
        }
    }

    /// Does what [`Self::verify_unchanged`] does, and returns what to run: a private copy in the directory `copies` if others can
    /// change the hook.
    pub(crate) fn verify(
        &self,
        copies: Option<&Path>,
        cancel: &Cancel,
    ) -> Result<Verified, Changed> {
        let Some(pin) = &self.pin else { return Ok(Verified::default()) };
        pin.verify(&self.fingerprint, self.policy.fail, copies, cancel)
    }
}

/// A hook that can be started once and called many times (S1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeHook {
    /// True if it also has a one-shot form.
    pub runtime: Runtime,
    /// The services that it may request.
    pub services: Vec<Service>,
}

impl RuntimeHook {
    /// Creates the runtime settings of an executable that prints `serve`.
    pub(crate) fn executable() -> Self {
        Self { runtime: Runtime::Serve, services: Service::OF_EXECUTABLES.to_vec() }
    }

    /// Creates the runtime settings of a manifest, if it has `runtime`.
    pub(crate) fn from_manifest(extensions: &Extensions) -> Option<Self> {
        let runtime = extensions.runtime?;
        Some(Self { runtime, services: extensions.services.clone() })
    }

    /// Returns whether it has no one-shot form.
    pub fn is_serve_only(&self) -> bool {
        self.runtime == Runtime::ServeOnly
    }
}
