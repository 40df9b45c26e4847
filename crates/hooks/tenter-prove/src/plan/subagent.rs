//! A subagent calls tools; one of its calls is denied.

use tenter_model_server::{Lane, ModelReply};
use tenter_protocol::EventName;

use super::{Plan, touch};
use crate::client::{Client, Subagent};
use crate::hook_file::HookFile;

/// The files of the subagent's calls, of which the second is denied, the hook, and its reason.
pub(crate) const FILE: &str = "by-subagent.txt";
pub(crate) const DENIED: &str = "denied-to-subagent.txt";
pub(crate) const HOOK: &str = "deny-subagent";
pub(crate) const REASON: &str = "REASON-FOR-SUBAGENT";

pub(super) fn plan(client: &Client) -> Plan {
    let call = |file: &str| (client.shell)(ModelReply::new(), &touch(file));
    let hook = HookFile::deny(HOOK, EventName::BeforeTool, REASON).only("Bash", DENIED);
    let task = format!("{}: make two files, please.", Subagent::TASK);
    let mut plan = Plan::new(vec![hook], Vec::new());
    if let Some(subagent) = &client.subagent {
        plan.replies.push((subagent.call)(ModelReply::new(), &task));
        plan.replies.extend(subagent.wait.map(|wait| wait(ModelReply::new())));
        let turns = vec![call(FILE), call(DENIED), ModelReply::text("The subtask is done.")];
        plan.lanes.push(Lane::new("subagent", (subagent.requests)(), turns));
    }
    plan.replies.push(ModelReply::text("All finished."));
    plan
}
