//! Hooks in Rust, which an embedding program registers with the engine's builder (S17).
//!
//! They run in the order of all hooks, their replies go through the same fold, and observers see their runs. They run on the thread that
//! dispatches, so a timeout is only reported. A panic is a failed run, unless the program is compiled with `panic = "abort"`.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tenter_proc::Cancel;
use tenter_protocol::facts::Facts;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::reply::VerdictKind;
use tenter_protocol::{
    Body, EventName, EventRef, HistoryAction, Reply, Rewrite, Scope, ToolCall, history,
};

use crate::facts::LazyFacts;

/// A hook in Rust. Functions of this form are hooks, too.
pub trait NativeHook: Send + Sync {
    /// Replies to an event; [`Reply::default`] changes nothing.
    ///
    /// # Errors
    /// The reason why the hook failed, as a sentence. What that means is up to its fail mode.
    fn reply(&self, event: &NativeEvent<'_>) -> Result<Reply, String>;
}

impl<F> NativeHook for F
where
    F: Fn(&NativeEvent<'_>) -> Result<Reply, String> + Send + Sync,
{
    fn reply(&self, event: &NativeEvent<'_>) -> Result<Reply, String> {
        self(event)
    }
}

/// An event, as the hooks before left it.
pub struct NativeEvent<'e> {
    event: EventRef<'e>,
    facts: &'e LazyFacts,
    cancel: &'e Cancel,
}

impl<'e> NativeEvent<'e> {
    pub(crate) fn new(event: EventRef<'e>, facts: &'e LazyFacts, cancel: &'e Cancel) -> Self {
        Self { event, facts, cancel }
    }

    /// Returns the name of the event.
    pub fn name(&self) -> EventName {
        self.event.body.name()
    }

    /// Returns the conversation and the agent.
    pub fn scope(&self) -> &'e Scope {
        self.event.scope
    }

    /// Returns the content of the event.
    pub fn body(&self) -> &'e Body {
        self.event.body
    }

    /// Returns the tool call of the event, if it has one.
    pub fn tool_call(&self) -> Option<&'e ToolCall> {
        self.event.body.tool_call()
    }

    /// Returns the commands and paths of the tool call; empty at other events.
    pub fn facts(&self) -> &Facts {
        &self.facts.get(self.event).facts
    }

    /// Returns the switch that ends the run. A hook that waits should check it.
    pub fn cancel(&self) -> &'e Cancel {
        self.cancel
    }
}

/// A native hook as the catalog holds it.
#[derive(Clone)]
pub struct NativeHandle(pub(crate) Arc<dyn NativeHook>);

impl fmt::Debug for NativeHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NativeHandle")
    }
}

impl NativeHandle {
    /// Runs the hook. Returns its reply, or why it failed, and how long it took.
    pub(crate) fn run(&self, event: &NativeEvent<'_>) -> (Result<Reply, String>, Duration) {
        let start = Instant::now();
        // A panic may leave the hook's own state inconsistent, which is up to the hook; the engine's is only read.
        let reply = catch_unwind(AssertUnwindSafe(|| self.0.reply(event)))
            .unwrap_or_else(|panic| Err(format!("it panicked: {}", message(&*panic))));
        (reply.and_then(|reply| check(event.name(), reply)), start.elapsed())
    }
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Returns the reply if the event allows each of its parts. A denial counts everywhere.
fn check(event: EventName, reply: Reply) -> Result<Reply, String> {
    let rewrite = reply.rewrite.as_ref().map(|rewrite| match rewrite {
        Rewrite::Message(_) => Power::RewriteMessage,
        Rewrite::Input(_) => Power::RewriteInput,
        Rewrite::Output(_) => Power::RewriteOutput,
    });
    let history = reply.history.as_ref().map(|action| match action {
        HistoryAction::Callback { .. } => Power::Callback,
        HistoryAction::Mutate(_) => Power::Mutate,
    });
    let asks = reply.verdict.as_ref().is_some_and(|verdict| verdict.kind == VerdictKind::Ask);
    let confines = !reply.confinements.is_empty()
        || reply.verdict.as_ref().is_some_and(|verdict| verdict.kind == VerdictKind::Confine);
    let powers = [
        rewrite,
        history,
        (asks || confines).then_some(Power::Ask),
        reply.context.is_some().then_some(Power::AddContext),
        (!reply.follow_ups.is_empty()).then_some(Power::Continue),
    ];
    if let Some(power) = powers.into_iter().flatten().find(|power| !event.may(*power)) {
        return Err(format!("its reply cannot {} at {event}", power.as_str()));
    }
    if let Some(HistoryAction::Mutate(messages)) = &reply.history {
        history::validate(messages).map_err(|why| format!("its history cannot be used: {why}"))?;
    }
    Ok(reply)
}
