//! One call of a tool, for what depends on the registration only.

use tenter_model_server::ModelReply;
use tenter_protocol::EventName;

use super::{Plan, touch};
use crate::client::Client;
use crate::hook_file::HookFile;
use crate::observed::{Fact, Run};
use crate::sandbox::Registered;

/// The file of the call that hooks let pass.
pub(crate) const FILE: &str = "passed.txt";
/// The file of the call that a hook denies, the hook, and the reason.
pub(crate) const DENIED: &str = "guarded.txt";
pub(crate) const HOOK: &str = "guard";
pub(crate) const REASON: &str = "REASON-OF-GUARD";

pub(super) fn plan(client: &Client, registered: Registered) -> Plan {
    let call = |file: &str| (client.shell)(ModelReply::new(), &touch(file));
    let hook = HookFile::deny(HOOK, EventName::BeforeTool, REASON).only("Bash", DENIED);
    let replies = vec![call(FILE), call(DENIED), ModelReply::text("All finished.")];
    Plan { registration: registered, ..Plan::new(vec![hook], replies) }
}

/// Returns the facts that show whether hooks held although the user disables them.
pub(crate) fn managed_facts(run: &Run, client: &Client) -> Vec<Fact> {
    let setting = client.off_switch.unwrap_or_default();
    let fact = run.not_made(DENIED);
    let fact = Fact::new(fact.holds, format!("with {setting}, {}", fact.text));
    vec![fact, run.read(REASON), run.made(FILE)]
}

/// Returns the facts that show whether hooks that are registered twice run once.
pub(crate) fn twice_facts(run: &Run) -> Vec<Fact> {
    let count = run.calls_seen(FILE);
    let once = Fact::new(count == 1, format!("hooks saw the call {count} times"));
    vec![run.made(FILE), run.not_made(DENIED), once]
}
