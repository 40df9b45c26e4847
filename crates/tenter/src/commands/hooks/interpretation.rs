//! How a hook's answer is understood: the decision and everything that goes with it, or why there is none.

use serde::Serialize;
use serde_json::{Value, json};
use tenter_engine::observe::Change;
use tenter_engine::{DecisionKind, TestRun};
use tenter_protocol::{HistoryAction, Object, Reply, Rewrite, ToolResult, Verdict};

/// The decision of a hook that is not run, because its matcher is about other calls.
pub(super) const UNMATCHED: &str = "unmatched";

/// How a hook's answer is understood. The fields are those of the JSON form.
#[derive(Debug, Serialize)]
pub(super) struct Interpretation {
    /// The decision by its weightiest part, or [`UNMATCHED`].
    pub(super) decision: &'static str,
    /// Why it blocks or does not.
    pub(super) reason: Option<String>,
    /// What it changes.
    pub(super) rewrite: Option<Change>,
    /// What the model reads besides.
    pub(super) context: Option<String>,
    /// Messages on which the agent goes on.
    pub(super) follow_ups: Vec<String>,
    /// What is done to the history.
    pub(super) history: Option<Value>,
    /// What went wrong.
    pub(super) error: Option<String>,
}

impl Interpretation {
    /// What the answer to `payload` comes to.
    pub(super) fn new(payload: &Object, trial: &TestRun) -> Self {
        let answer = trial.answer.as_ref().map_err(Clone::clone);
        match answer.and_then(|reply| Ok((reply, change(payload, reply)?))) {
            Ok((reply, rewrite)) => Self {
                decision: DecisionKind::of(reply).as_str(),
                reason: reply.verdict.as_ref().and_then(|verdict| verdict.reason.clone()),
                rewrite,
                context: reply.context.clone(),
                follow_ups: reply.follow_ups.clone(),
                history: reply.history.as_ref().map(history),
                error: None,
            },
            Err(error) => Self::failed(error),
        }
    }

    /// A hook that failed.
    pub(super) fn failed(error: String) -> Self {
        Self { error: Some(error), ..Self::without_answer(DecisionKind::Failed.as_str()) }
    }

    /// A hook that is not run.
    pub(super) fn unmatched() -> Self {
        Self::without_answer(UNMATCHED)
    }

    fn without_answer(decision: &'static str) -> Self {
        Self {
            decision,
            reason: None,
            rewrite: None,
            context: None,
            follow_ups: Vec::new(),
            history: None,
            error: None,
        }
    }
}

/// What the reply changes of what the payload is about; a deny changes nothing (R24).
fn change(payload: &Object, reply: &Reply) -> Result<Option<Change>, String> {
    let is_denied = reply.verdict.as_ref().is_some_and(Verdict::is_deny);
    let Some(rewrite) = reply.rewrite.as_ref().filter(|_| !is_denied) else { return Ok(None) };
    let subject = |field: &str| payload.get(field).cloned().unwrap_or_default();
    let (before, after) = match rewrite {
        // Executables and manifest hooks have different words for it.
        Rewrite::Message(message) => {
            let field = if payload.contains_key("prompt") { "prompt" } else { "message" };
            (subject(field), json!(message))
        }
        Rewrite::Input(input) => (subject("tool_input"), json!(input)),
        Rewrite::Output(output) => {
            let before = subject("tool_output");
            let after = rewritten(&before, output)?;
            (before, after)
        }
    };
    Ok((before != after).then_some(Change { before, after }))
}

fn rewritten(before: &Value, output: &Object) -> Result<Value, String> {
    let result: ToolResult = serde_json::from_value(before.clone()).map_err(|error| {
        format!("the payload's tool_output is not the result of a tool: {error}")
    })?;
    let after =
        result.rewritten(output).map_err(|error| format!("its rewrite cannot be used: {error}"))?;
    Ok(json!(after))
}

fn history(action: &HistoryAction) -> Value {
    match action {
        HistoryAction::Mutate(messages) => json!({"action": "mutate", "messages": messages}),
        HistoryAction::Callback { recipe, args } => {
            json!({"action": "callback", "recipe": recipe, "args": args})
        }
    }
}
