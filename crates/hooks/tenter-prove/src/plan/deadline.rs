//! A hook exceeds the time limit of the agent: Tenter must answer before the agent stops waiting, and lets the call pass.

use tenter_model_server::ModelReply;
use tenter_protocol::EventName;

use super::{Plan, touch};
use crate::client::Client;
use crate::hook_file::HookFile;
use crate::sandbox::Registered;

/// The hook, and the file of the call that it guards.
pub(crate) const HOOK: &str = "slow";
pub(crate) const FILE: &str = "late.txt";

/// The hook's own timeout, in milliseconds: longer than any agent's.
const TIMEOUT: u32 = 600_000;

pub(super) fn plan(client: &Client) -> Plan {
    let hook = HookFile::script(HOOK, EventName::BeforeTool, "sleep 100\n")
        .only("Bash", FILE)
        .timeout(TIMEOUT);
    let replies =
        vec![(client.shell)(ModelReply::new(), &touch(FILE)), ModelReply::text("All finished.")];
    Plan { registration: Registered::Impatiently, ..Plan::new(vec![hook], replies) }
}
