//! The history is replaced by a summary, because the model reports that its context window is almost full.

use tenter_model_server::{Lane, ModelReply};
use tenter_protocol::EventName;

use super::tools::context_hook;
use super::{Plan, prompts};
use crate::client::Client;

/// The text of the summary.
pub(crate) const SUMMARY: &str = "SUMMARY-OF-MODEL";

pub(super) fn plan(client: &Client) -> Plan {
    let shell = |command: &str| (client.shell)(ModelReply::new(), command);
    let mut plan = Plan::new(vec![context_hook(EventName::PreCompact, "")], Vec::new());
    plan.counts = true;
    plan.prompts = prompts(client);
    let Some(compaction) = &client.compaction else { return plan };
    let text = format!(
        "<analysis>short</analysis><summary>{SUMMARY} all is well.</summary><state_snapshot>{SUMMARY} all is well.</state_snapshot>"
    );
    let summary = ModelReply::text(&text).usage(compaction.tokens, 50, 0);
    plan.lanes.push(Lane::new("compaction", (compaction.requests)(), vec![]).after(summary));
    plan.replies = vec![
        shell("echo one"),
        shell("seq 1 3000"),
        shell("echo three").usage(compaction.tokens, 50, 0),
        shell("echo four"),
        ModelReply::text("All finished."),
    ];
    plan
}
