//! `tenter log --from AGENT`: the calls in the transcripts of agents, beside what hooks decided about them. A call about which no hook
//! said anything has no record in the journal.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::path::Path;

use jiff::Timestamp;
use tenter_backtest::{CallEnd, RecordedCall, ScanOptions, scan};
use tenter_base::rfc3339;
use tenter_base::sanitize::one_line;
use tenter_engine::DecisionKind;
use tenter_engine::journal::{RecordKind, Redactor};
use tenter_inspect::facts::TranscriptCall;
use tenter_terminal::env::Env;
use tenter_terminal::failure::{CommandResult, Exit, Failure};
use tenter_terminal::ui::{self, BAD, FAINT, short_time, styled};

use crate::backtest;
use crate::project::Project;

/// Maximum number of calls that are shown, if no other number is given.
const MAX_CALLS: usize = 200;
/// Maximum number of characters of a call.
const MAX_LENGTH: usize = 160;

/// The calls that are shown.
pub(super) struct TranscriptQuery<'q> {
    pub(super) hosts: &'q [String],
    /// The start of the id of a session.
    pub(super) session: Option<&'q str>,
    pub(super) since: Option<Timestamp>,
    pub(super) is_everywhere: bool,
    pub(super) lines: Option<NonZeroUsize>,
    pub(super) json: bool,
}

/// The decisions of hooks, by the session and the id of the call.
pub(crate) type Decisions = HashMap<(String, String), (DecisionKind, Option<String>)>;

pub(super) fn run(env: &Env, project: Option<&Path>, query: &TranscriptQuery<'_>) -> CommandResult {
    let project = Project::open(env, project)?;
    let decisions = decisions(env)?;
    let redactor = Redactor::new(project.secrets());
    let limit = query.lines.map_or(MAX_CALLS, NonZeroUsize::get);
    let places = backtest::places(env);
    let (hosts, since) = (query.hosts, query.since);
    let options = ScanOptions { places: &places, hosts, since, max_calls: None };
    let mut newest: VecDeque<TranscriptCall> = VecDeque::new();
    let counts = scan(options, &mut |call| {
        let is_of_session = query.session.is_none_or(|start| call.session.starts_with(start));
        let is_here = query.is_everywhere || backtest::is_in(&project, call.cwd.as_deref());
        if is_of_session && is_here {
            let call = described(&call, &decisions, &redactor);
            let place = newest.partition_point(|other| other.time <= call.time);
            newest.insert(place, call);
            if newest.len() > limit {
                newest.pop_front();
            }
        }
    });
    if newest.is_empty() {
        ui::note("No transcript has such calls. --all shows other projects.");
    }
    for call in &newest {
        ui::out(if query.json {
            serde_json::to_string(call).unwrap_or_default()
        } else {
            row(call)
        });
    }
    backtest::print_notes(&counts);
    Ok(Exit::Done)
}

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
pub(crate) fn described(
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

fn row(call: &TranscriptCall) -> String {
    let decision = match (&call.decision, &call.by) {
        (Some(decision), Some(by)) => format!("{} by {}", decision.as_str(), one_line(by, 40)),
        (Some(decision), None) => decision.as_str().to_owned(),
        (None, _) => "-".to_owned(),
    };
    let style = if call.decision == Some(DecisionKind::Deny) { BAD } else { FAINT };
    let denied = if matches!(call.end, CallEnd::Denied(_)) {
        styled(BAD, " (did not run)")
    } else {
        String::new()
    };
    format!(
        "{}  {}  {}  {}{denied}",
        styled(FAINT, short_time(&call.time)),
        call.agent,
        styled(style, decision),
        one_line(&call.call, MAX_LENGTH)
    )
}
