//! Past calls beside the decisions of hooks about them, as `tenter log` and `tenter inspect` show them.

use std::collections::HashMap;

use tenter_backtest::RecordedCall;
use tenter_base::rfc3339;
use tenter_engine::DecisionKind;
use tenter_engine::journal::{RecordKind, Redactor};
use tenter_inspect::facts::TranscriptCall;
use tenter_terminal::{Env, Failure};

/// The decisions of hooks, by the session and the id of the call.
pub(crate) type Decisions = HashMap<(String, String), (DecisionKind, Option<String>)>;

/// Reads what hooks decided about calls.
pub(crate) fn decisions(env: &Env) -> Result<Decisions, Failure> {
    let journals = env.journals();
    let mut decisions = Decisions::new();
    for conversation in journals.conversations().map_err(Failure::caused_by)? {
        let lines = journals.read(&conversation).map_err(Failure::caused_by)?.lines;
        for record in lines.into_iter().map(|line| line.record) {
            let RecordKind::Decision(decision) = record.kind else { continue };
            let Some(id) = record.tool_call_id.filter(|_| record.event == "before_tool") else {
                continue;
            };
            // The conversation of a subagent is `SESSION/AGENT`.
            let session = record.parent_conversation_id.unwrap_or(record.conversation_id);
            decisions.insert((session, id), (decision.decision, decision.by));
        }
    }
    Ok(decisions)
}

/// Describes a call, with what hooks decided about it.
pub(crate) fn describe(
    call: &RecordedCall,
    decisions: &Decisions,
    redactor: &Redactor,
) -> TranscriptCall {
    let id = call.native.id.clone().unwrap_or_default();
    let decision = decisions.get(&(call.session.clone(), id.clone()));
    TranscriptCall {
        time: call.time.map(rfc3339).unwrap_or_default(),
        agent: call.host,
        session: redactor.text(&call.session),
        subagent: call.agent.as_deref().map(|agent| redactor.text(agent)),
        id: redactor.text(&id),
        tool: redactor.text(&call.native.tool),
        call: redactor.text(&call.text()),
        end: call.end,
        decision: decision.map(|(decision, _)| *decision),
        by: decision.and_then(|(_, by)| by.clone()),
    }
}
