//! `tenter log --from AGENT`: the calls in the transcripts of agents, beside what hooks decided about them. A call about which no hook
//! said anything has no record in the journal.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::path::Path;

use jiff::Timestamp;
use tenter_backtest::{CallEnd, ScanOptions, scan};
use tenter_base::one_line;
use tenter_engine::DecisionKind;
use tenter_engine::journal::Redactor;
use tenter_inspect::facts::TranscriptCall;
use tenter_terminal::ui::short_time;
use tenter_terminal::{BAD, CommandResult, Env, Exit, FAINT, styled, ui};

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

pub(super) fn run(env: &Env, project: Option<&Path>, query: &TranscriptQuery<'_>) -> CommandResult {
    let project = Project::open(env, project)?;
    let decisions = backtest::decisions(env)?;
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
            let call = backtest::describe(&call, &decisions, &redactor);
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

fn row(call: &TranscriptCall) -> String {
    let decision = match (&call.decision, &call.by) {
        (Some(decision), Some(by)) => format!("{} by {}", decision.as_str(), one_line(by, 40)),
        (Some(decision), None) => decision.as_str().to_owned(),
        (None, _) => "-".to_owned(),
    };
    let style = if call.decision == Some(DecisionKind::Deny) { BAD } else { FAINT };
    let denial = if matches!(call.end, CallEnd::Denied(_)) {
        styled(BAD, " (did not run)")
    } else {
        String::new()
    };
    format!(
        "{}  {}  {}  {}{denial}",
        styled(FAINT, short_time(&call.time)),
        call.agent,
        styled(style, decision),
        one_line(&call.call, MAX_LENGTH)
    )
}
