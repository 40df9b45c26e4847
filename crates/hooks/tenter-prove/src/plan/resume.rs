//! A session continues in a second process.

use tenter_model_server::ModelReply;
use tenter_protocol::EventName;

use super::tools::context_hook;
use super::{Plan, TWO};
use crate::observed::{Fact, Run, is_of};

/// The answer in the first process, which the second one knows.
const FIRST_ANSWER: &str = "The first answer is 42.";

/// Events whose contexts an agent may read only with the next message.
const CONTEXTS: [EventName; 2] = [EventName::AfterTurn, EventName::BeforeStop];

pub(super) fn plan() -> Plan {
    let hooks = CONTEXTS.iter().map(|event| context_hook(*event, "")).collect();
    let replies =
        vec![ModelReply::text(FIRST_ANSWER), ModelReply::text("This is the second answer.")];
    Plan { prompts: TWO, ..Plan::new(hooks, replies) }
}

/// Returns the facts that show whether the session started once.
pub(crate) fn facts(run: &Run) -> Vec<Fact> {
    let starts = |process: usize| {
        let process = run.processes.get(process);
        let payloads = process.into_iter().flat_map(|process| &process.payloads);
        payloads.filter(|one| is_of(one, EventName::SessionStart)).count()
    };
    let (first, second) = (starts(0), starts(1));
    // Some agents fire no event for messages.
    let events = [EventName::BeforeAgent, EventName::AfterTurn];
    let mut sessions: Vec<&str> = events
        .into_iter()
        .flat_map(|event| run.payloads(event))
        .filter_map(|payload| payload.get("session_id")?.as_str())
        .collect();
    sessions.sort_unstable();
    sessions.dedup();
    vec![
        run.read(FIRST_ANSWER),
        Fact::new(first == 1, format!("session_start fired {first} times in the first process")),
        Fact::new(second <= 1, format!("{second} times in the second")),
        Fact::new(sessions.len() == 1, format!("{} session ids", sessions.len())),
    ]
}
