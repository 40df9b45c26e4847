//! Dispatches events: the subscribed hooks run in order, and their replies are folded into one outcome.
//!
//! `chain` runs the hooks of one event on `candidates`, the hooks that may be about its tool. `fold` combines their replies; it
//! is pure and knows no process. `explain` says which hooks would run, by the same selection. `report` notifies the observers of
//! every run. `background` runs asynchronous hooks, and `late` keeps what they reply. `renewal` reloads hooks that changed.
//! `test_run` runs one hook for its author.

mod background;
mod candidates;
mod chain;
mod confinement;
mod decision_parts;
mod explain;
mod fold;
mod late;
mod renewal;
mod report;
mod test_run;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jiff::Timestamp;
use tenter_protocol::{Body, Event, EventName, ToolCall};

use crate::catalog::{Catalog, Untrusted};
use crate::hook::Hook;
use crate::run_context::RunContext;
use crate::settings::{AsynchronousHooks, EngineSettings};
use background::BackgroundHooks;
use chain::Chain;
use renewal::Current;

pub use explain::{ConsideredHook, Selection, SelectionSubject};
pub use fold::{Attributed, Outcome};
pub use late::LateReply;
pub use renewal::Reload;
pub use test_run::{HookTest, TestRun};

/// Dispatches events to the hooks of one catalog.
pub struct Engine {
    current: Current,
    settings: Arc<EngineSettings>,
    background: BackgroundHooks,
    /// True if the observers were notified of the hooks that cannot run.
    reported_missing: AtomicBool,
    /// The names of hooks that do not run.
    left_out: BTreeSet<String>,
}

impl Engine {
    /// Creates an engine over a loaded catalog.
    pub(crate) fn new(catalog: Catalog, settings: EngineSettings) -> Self {
        let settings = Arc::new_cyclic(|this| EngineSettings { this: this.clone(), ..settings });
        Self {
            current: Current::new(catalog),
            settings,
            background: BackgroundHooks::default(),
            reported_missing: AtomicBool::new(false),
            left_out: BTreeSet::new(),
        }
    }

    /// Returns the same engine, which reloads a hook that changed, provided that it is trusted in its new state (R75).
    pub(crate) fn reloading(self, reload: Arc<dyn Reload>) -> Self {
        Self { current: self.current.reloading(reload), ..self }
    }

    pub(crate) fn settings(&self) -> &EngineSettings {
        &self.settings
    }

    /// Returns the project root.
    pub fn project(&self) -> &Path {
        &self.settings.project
    }

    /// Returns the present time, by the engine's clock.
    pub fn now(&self) -> Timestamp {
        (self.settings.clock)()
    }

    /// Returns whether asynchronous hooks subscribe to the event and match its tool call.
    pub(crate) fn has_asynchronous(&self, event: EventName, call: Option<&ToolCall>) -> bool {
        let state = self.current.get();
        let candidates = state.candidates.get(&state.catalog, event, call);
        let runs = |hook: &Hook| !self.left_out.contains(&hook.name);
        let mut background = candidates.background.iter();
        background.any(|candidate| runs(&candidate.hook) && candidate.select(call).is_some())
    }

    /// Returns the project hooks that would run if the user trusted them.
    pub fn untrusted(&self) -> Vec<Untrusted> {
        self.catalog().untrusted().to_vec()
    }

    /// Waits for the asynchronous hooks, up to `patience`, and kills those that still run after that (R22). Their replies can
    /// be taken afterwards. Then ends the processes of runtime hooks, which have half a second (S5); a hook that is called
    /// afterwards is started again.
    pub fn drain(&self, patience: Duration) {
        self.background.drain(patience);
        self.settings.serving.shut_down();
    }
}

// For the programs that use `inspect`.
#[doc(hidden)]
impl Engine {
    /// Returns the same engine, in which the hooks with these names do not run. They stay in the catalog.
    #[must_use]
    pub fn leaving_out(self, names: BTreeSet<String>) -> Self {
        Self { left_out: names, ..self }
    }

    /// Returns an engine of the same project without hooks and observers.
    #[must_use]
    pub fn without_hooks(&self) -> Self {
        let clock = self.settings.clock;
        Self::builder(self.project()).clock(clock).build(Catalog::default())
    }

    /// Returns the same engine, in which only managed hooks run: no user disables them.
    #[must_use]
    pub fn only_managed(self) -> Self {
        let catalog = self.catalog().only_managed();
        Self { current: self.current.with_catalog(catalog), ..self }
    }

    /// Returns the hooks that this engine dispatches to at present.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.current.get().catalog)
    }

    /// Runs the hooks that subscribe to `event` and whose matchers match, one after another, each on the event as the hooks
    /// before it left it (R24), until one denies (R23). The built-in hook runs last, whatever the others decided, and also if
    /// there are none (R31, R49). If no hook denied, the asynchronous hooks are started and not awaited (R22). An event
    /// without hooks costs next to nothing and is not reported to the observers.
    ///
    /// Cancelling kills the running hook and skips the rest (R39); the outcome then holds what was decided so far.
    pub fn dispatch<'c>(&self, event: Event, context: impl Into<RunContext<'c>>) -> Outcome {
        let state = self.current.get();
        let (name, call) = (event.body.name(), event.body.tool_call());
        let candidates = state.candidates.get(&state.catalog, name, call);
        let mut chain = Chain::new(self, event, context.into());
        if self.settings.asynchronous == AsynchronousHooks::Only {
            return chain.finish(&candidates.background);
        }
        chain.check_catalog(&state.catalog);
        chain.run_awaited(&candidates);
        chain.check_rewritten(&state.catalog);
        chain.run_built_in();
        let is_skipped = self.settings.asynchronous == AsynchronousHooks::Skip;
        chain.finish(if is_skipped { &[] } else { &candidates.background })
    }

    /// Takes the replies that asynchronous hooks of this conversation have given since the last call, in the order in which
    /// they came. Each is returned once; the caller applies or drops it.
    pub fn take_late_replies(&self, conversation_id: &str) -> Vec<LateReply> {
        self.background.late().take(conversation_id)
    }
}

/// Returns the part of the body that a rewrite at this event replaces, as JSON.
fn subject(body: &Body) -> serde_json::Value {
    match body {
        Body::BeforeAgent { message } => serde_json::Value::String(message.clone()),
        Body::BeforeTool(call) => serde_json::Value::Object(call.input.clone()),
        Body::AfterTool { result, .. } => serde_json::to_value(result).unwrap_or_default(),
        _ => serde_json::Value::Null,
    }
}
