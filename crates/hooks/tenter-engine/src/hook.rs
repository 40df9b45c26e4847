//! A hook that can run: its identity, its origin, when and how it runs.

use std::path::{Path, PathBuf};

use tenter_proc::Cancel;
use tenter_protocol::executable::Subscription;
use tenter_protocol::manifest::{Extensions, HttpEndpoint};
use tenter_protocol::runtime::{Runtime, Service};
use tenter_protocol::{EventName, EventRef};

use crate::matcher::{HookRules, Matcher};
use crate::native::NativeHandle;
use crate::static_action::StaticAction;
use crate::trust::{self, Changed, Pin, TrustEntry, Verified};

pub use crate::claude_code::ClaudeCodeHook;
pub use crate::hook_policy::{FailMode, HookPolicy, ModelBudget, PRIORITIES, TIMEOUTS_MS};
pub use crate::layer::Layer;
pub use crate::source::EntryPoint;
pub use crate::trust::Fingerprint;

/// A hook that can run. Its identity is its full name and its fingerprint, never its place in a list.
#[derive(Debug, Clone)]
pub struct Hook {
    /// The full name: a file name, or `org/repo/name` for a plugin's hook.
    pub name: String,
    /// The layer that it was found in.
    pub layer: Layer,
    /// The root of the project that it belongs to, if that is a project around the engine's (R89).
    pub outer: Option<PathBuf>,
    /// The file of an executable, the directory of a manifest hook.
    pub path: PathBuf,
    /// How it exchanges payloads and replies.
    pub protocol: Protocol,
    /// How it is called many times, if it is a runtime hook.
    pub runtime: Option<RuntimeHook>,
    /// The events that it subscribes to, in its own spelling.
    pub subscriptions: Vec<Subscription>,
    /// The hash of its content.
    pub fingerprint: Fingerprint,
    /// What it is compared with right before it runs, if it must be trusted: a project's hook, unless the trust gate is off
    /// (R45, R47).
    pub pin: Option<Pin>,
    /// Its limits and its priority.
    pub policy: HookPolicy,
    /// Withheld environment variables that the user passes to it, in addition to those that its manifest requests (R40).
    pub env: Vec<String>,
}

impl Hook {
    /// The root of the project that it runs in, given the engine's own.
    pub(crate) fn project_in<'h>(&'h self, own: &'h Path) -> &'h Path {
        self.outer.as_deref().unwrap_or(own)
    }

    /// The subscription for an event, if the hook has one.
    pub fn subscription(&self, event: EventName) -> Option<Subscription> {
        self.subscriptions.iter().find(|subscription| subscription.event == event).copied()
    }

    /// The variables that its manifest requests, and those that the user passes to it.
    pub(crate) fn requested_env(&self) -> Vec<String> {
        let of_manifest = match &self.protocol {
            Protocol::Manifest(manifest) => manifest.env.as_slice(),
            Protocol::Executable => &[],
        };
        [of_manifest, &self.env].concat()
    }

    /// The plugin that it belongs to, `org/repo`.
    pub fn plugin(&self) -> Option<&str> {
        let is_of_plugin = matches!(self.layer, Layer::ProjectPlugin | Layer::UserPlugin);
        self.name.rsplit_once('/').filter(|_| is_of_plugin).map(|(plugin, _)| plugin)
    }

    /// Its action, if it is static.
    pub fn static_action(&self) -> Option<&StaticAction> {
        match &self.protocol {
            Protocol::Manifest(manifest) => match &manifest.implementation {
                Implementation::Static(declared) => Some(declared),
                _ => None,
            },
            Protocol::Executable => None,
        }
    }

    /// Whether it may deny or ask: it runs code, or its action or rules do.
    pub(crate) fn may_deny(&self) -> bool {
        self.static_action().is_none_or(|action| matches!(action.action(), "deny" | "ask"))
    }

    /// Its URL and headers, if it is behind HTTP.
    pub fn endpoint(&self) -> Option<&HttpEndpoint> {
        match &self.protocol {
            Protocol::Manifest(manifest) => manifest.endpoint(),
            Protocol::Executable => None,
        }
    }

    /// The rules about commands and paths that say which calls it is about; `None` if it has none.
    pub fn rules(&self) -> Option<&HookRules> {
        match &self.protocol {
            Protocol::Executable => None,
            Protocol::Manifest(manifest) => manifest.rules.as_ref(),
        }
    }

    /// The rules that apply at an event: at those without a tool call, none does.
    pub(crate) fn rules_at(&self, event: EventName) -> Option<&HookRules> {
        self.rules().filter(|_| event.lifecycle().matcher)
    }

    /// Returns true if it replies without a process: it is static, or its rules decide.
    pub fn is_static(&self) -> bool {
        match &self.protocol {
            Protocol::Executable => false,
            Protocol::Manifest(manifest) => {
                matches!(manifest.implementation, Implementation::Static(_) | Implementation::Rules)
            }
        }
    }

    /// Checks that the hook is still what was trusted. If only the user and root can write its files, this reads the metadata of
    /// each, and their content only if the metadata changed. Otherwise they are always read. A hook that needs no trust is not
    /// checked.
    ///
    /// # Errors
    /// Why it must not run.
    pub fn verify_unchanged(&self, cancel: &Cancel) -> Result<(), Changed> {
        self.verify(None, cancel).map(drop)
    }

    /// Identifies what a process of the hook is started from: its content and, if it is pinned, the stamp of its files, since it may
    /// have been something else in between.
    pub(crate) fn version(&self) -> Fingerprint {
        match &self.pin {
            Some(pin) => Fingerprint(format!("{}-{}", self.fingerprint.0, pin.stamp_digest())),
            None => self.fingerprint.clone(),
        }
    }

    /// Like [`Self::verify_unchanged`], and says what to run: a private copy in the directory `copies` if others can change the
    /// hook.
    pub(crate) fn verify(
        &self,
        copies: Option<&Path>,
        cancel: &Cancel,
    ) -> Result<Verified, Changed> {
        let Some(pin) = &self.pin else { return Ok(Verified::default()) };
        pin.verify(&self.fingerprint, self.policy.fail, copies, cancel)
    }

    /// Whether its payloads have the history, where the agent provides it (R57).
    pub fn reads_history(&self) -> bool {
        match &self.protocol {
            Protocol::Executable => true,
            Protocol::Manifest(manifest) => !manifest.light_payload,
        }
    }

    pub(crate) fn matcher_mut(&mut self) -> Option<&mut Matcher> {
        match &mut self.protocol {
            Protocol::Executable => None,
            Protocol::Manifest(manifest) => manifest.matcher.as_mut(),
        }
    }

    /// Whether it runs at this event, as far as that does not depend on the call of a tool.
    pub(crate) fn applies(&self, event: EventRef<'_>) -> bool {
        self.claude_code().is_none_or(|hook| hook.applies(event))
    }

    /// What is special about it if its script is written for Claude Code.
    pub fn claude_code(&self) -> Option<&ClaudeCodeHook> {
        match &self.protocol {
            Protocol::Executable => None,
            Protocol::Manifest(manifest) => manifest.claude_code.as_ref(),
        }
    }

    /// Its matcher, if it has one and the event is about a tool: at other events a matcher is ignored (R19).
    pub(crate) fn matcher_at(&self, event: EventName) -> Option<&Matcher> {
        self.matcher().filter(|_| event.lifecycle().matcher)
    }

    /// Its matcher, if it has one.
    pub fn matcher(&self) -> Option<&Matcher> {
        match &self.protocol {
            Protocol::Executable => None,
            Protocol::Manifest(manifest) => manifest.matcher.as_ref(),
        }
    }
}

impl From<&Hook> for TrustEntry {
    fn from(hook: &Hook) -> Self {
        Self {
            events: trust::spellings(&hook.subscriptions),
            ..Self::new(&hook.name, hook.fingerprint.clone(), &hook.path)
        }
    }
}

/// A hook that can be started once and called many times (S1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeHook {
    /// Whether it also has a one-shot form.
    pub runtime: Runtime,
    /// The services that it may request.
    pub services: Vec<Service>,
}

impl RuntimeHook {
    /// An executable that says `serve`.
    pub(crate) fn executable() -> Self {
        Self { runtime: Runtime::Serve, services: Service::OF_EXECUTABLES.to_vec() }
    }

    /// What a manifest says, if it has `runtime`.
    pub(crate) fn of(extensions: &Extensions) -> Option<Self> {
        let runtime = extensions.runtime?;
        Some(Self { runtime, services: extensions.services.clone() })
    }

    /// Whether it can only be called many times.
    pub fn is_serve_only(&self) -> bool {
        self.runtime == Runtime::ServeOnly
    }
}

/// How a hook exchanges payloads and replies.
#[derive(Debug, Clone)]
pub enum Protocol {
    /// A program with the commands `hook` and `run`.
    Executable,
    /// A directory with a `HOOK.md`, and a script unless the hook is static or behind HTTP.
    Manifest(Box<ManifestHook>),
}

impl Protocol {
    /// The word for it in listings.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Executable => "executable",
            Self::Manifest(manifest) => match manifest.implementation {
                Implementation::Script(_) => "manifest",
                Implementation::Http(_) => "http",
                Implementation::Native(_) => "native",
                Implementation::Static(_) | Implementation::Rules => "static",
            },
        }
    }
}

/// What a manifest says about its hook, except for its events.
#[derive(Debug, Clone)]
pub struct ManifestHook {
    /// What the hook is for, in the words of its author.
    pub description: String,
    /// What it does.
    pub implementation: Implementation,
    /// Which tool calls it runs on; all of them if there is none.
    pub matcher: Option<Matcher>,
    /// Rules about the commands and paths of the calls that it runs on, besides `matcher`.
    pub rules: Option<HookRules>,
    /// Whether it starts in its own directory instead of the project's (R40).
    pub starts_in_own_directory: bool,
    /// Whether its payload lacks the history (R57).
    pub light_payload: bool,
    /// Environment variables that it receives although they look like model keys (R40).
    pub env: Vec<String>,
    /// Whether no hook of a higher layer shadows it (R9).
    pub protected: bool,
    /// What is special about a script that is written for Claude Code.
    pub claude_code: Option<ClaudeCodeHook>,
}

impl ManifestHook {
    /// The URL and headers of a hook behind HTTP.
    pub fn endpoint(&self) -> Option<&HttpEndpoint> {
        match &self.implementation {
            Implementation::Http(endpoint) => Some(endpoint),
            _ => None,
        }
    }
}

/// What a manifest hook does.
#[derive(Debug, Clone)]
pub enum Implementation {
    /// A script.
    Script(EntryPoint),
    /// A server that payloads are posted to.
    Http(Box<HttpEndpoint>),
    /// An action in the manifest: no process is started.
    Static(Box<StaticAction>),
    /// The decisions of its rules: no process is started.
    Rules,
    /// A function of the embedding program.
    Native(NativeHandle),
}
