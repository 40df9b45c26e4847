//! A session continues in a second process.

use tenter_model_server::ModelReply;
use tenter_protocol::EventName;

use super::tools::context_hook;
use super::{Plan, TWO};

/// The answer in the first process, which the second one knows.
pub(crate) const FIRST_ANSWER: &str = "The first answer is 42.";

/// Events whose contexts an agent may read only with the next message.
const CONTEXTS: [EventName; 2] = [EventName::AfterTurn, EventName::BeforeStop];

pub(super) fn plan() -> Plan {
    let hooks = CONTEXTS.iter().map(|event| context_hook(*event, "")).collect();
    let replies =
        vec![ModelReply::text(FIRST_ANSWER), ModelReply::text("This is the second answer.")];
    Plan { prompts: TWO, ..Plan::new(hooks, replies) }
}
