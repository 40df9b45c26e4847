//! A hook rejects the message: the model must not read it.

use tenter_model_server::ModelReply;
use tenter_protocol::EventName;

use super::{Plan, touch};
use crate::client::Client;
use crate::hook_file::HookFile;

/// The hook, and its reason.
pub(crate) const HOOK: &str = "reject-message";
pub(crate) const REASON: &str = "REASON-OF-REJECTION";
/// The file that the model would make.
pub(crate) const FILE: &str = "prompted.txt";

pub(super) fn plan(client: &Client) -> Plan {
    let call = (client.shell)(ModelReply::new(), &touch(FILE));
    let hook = HookFile::deny(HOOK, EventName::BeforeAgent, REASON);
    Plan::new(vec![hook], vec![call, ModelReply::text("All finished.")])
}
