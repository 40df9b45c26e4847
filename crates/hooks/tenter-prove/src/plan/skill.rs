//! Two skills with a command in their text, one of which is denied.

use tenter_model_server::ModelReply;
use tenter_protocol::EventName;

use super::Plan;
use crate::client::{Client, GUARDED_SKILL, PASSED_SKILL, SkillCommand};
use crate::hook_file::HookFile;

/// The hook that denies, and its reason.
pub(crate) const HOOK: &str = "guard-skill";
pub(crate) const REASON: &str = "REASON-FOR-SKILL";

pub(super) fn plan(client: &Client) -> Plan {
    let load = |skill: SkillCommand| {
        let reply = ModelReply::new();
        client.skill.map_or_else(ModelReply::new, |call| call(reply, skill.name))
    };
    let hook = HookFile::deny(HOOK, EventName::BeforeTool, REASON).only("Bash", GUARDED_SKILL.file);
    let replies = vec![load(PASSED_SKILL), load(GUARDED_SKILL), ModelReply::text("All finished.")];
    Plan::new(vec![hook], replies)
}
