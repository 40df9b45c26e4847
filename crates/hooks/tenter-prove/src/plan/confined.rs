//! A hook confines one of three parallel calls: it writes the project only.

use tenter_bridge::host::InputRewrite;
use tenter_bridge::{Host, hosts};
use tenter_model_server::ModelReply;
use tenter_protocol::EventName;

use super::{Plan, touch};
use crate::client::Client;
use crate::hook_file::HookFile;
use crate::observed::{Fact, Run};
use crate::sandbox::Registered;

/// The hook.
const HOOK: &str = "confine";
/// The files of calls without a confinement.
const FREE: [&str; 2] = ["free-first.txt", "free-last.txt"];
/// The file that the confined call writes in the project.
const INSIDE: &str = "confined-inside.txt";
/// The file that it writes if it cannot write outside of the project.
const REFUSED: &str = "confined-refused.txt";
/// The file that it tries to write outside of the project.
const OUTSIDE: &str = "confined-outside.txt";
/// Its exit code.
const EXIT_CODE: i64 = 7;
/// The text that it prints.
const PRINTED: &str = "CONFINED-42-END";
/// The reply of the hook.
pub(super) const REPLY: &str =
    r#"{"decision": "confine", "confine": {"write": ["project"], "otherwise": "run"}}"#;
/// A part of the reason with which the model is asked to make the confined call.
const REASON: &str = "must run confined";

/// The promise in other agents.
pub(crate) const EMULATED: &str = "denied, and the model is asked to make the confined call";

/// Returns true if the agent itself runs the confined call, instead of the model that is asked to make it.
pub(crate) fn is_run(host: &Host) -> bool {
    host.input_rewrite != InputRewrite::Demanded
}

pub(super) fn plan(client: &Client) -> Plan {
    let confined = format!(
        "{} && echo CONFINED-$((40+2))-END; touch \"${{PWD%/*}}/{OUTSIDE}\" || {}; exit {EXIT_CODE}",
        touch(INSIDE),
        touch(REFUSED)
    );
    let calls = [touch(FREE[0]), confined, touch(FREE[1])];
    let calls = calls.iter().fold(ModelReply::new(), |reply, call| (client.shell)(reply, call));
    let hook = HookFile::printing(HOOK, EventName::BeforeTool, REPLY).only("Bash", INSIDE);
    let plan = Plan::new(vec![hook], vec![calls, ModelReply::text("All finished.")]);
    Plan { registration: Registered::Confining, ..plan }
}

/// Returns the facts that show whether the confinement held.
pub(crate) fn facts(run: &Run, client: &Client) -> Vec<Fact> {
    let is_run = hosts::find(client.host).is_some_and(is_run);
    let free = FREE.into_iter().filter(|_| !client.deny_ends_run || is_run);
    let free = free.map(|file| run.made(file));
    let confinement = if is_run {
        let files = [INSIDE, REFUSED].map(|file| run.made(file));
        let facts = [run.not_made_outside(OUTSIDE), run.read(PRINTED)];
        files.into_iter().chain(facts).chain(run.ended_with(PRINTED, EXIT_CODE)).collect()
    } else if client.deny_ends_run {
        vec![run.not_made(INSIDE)]
    } else {
        vec![run.not_made(INSIDE), run.read(REASON)]
    };
    free.chain(confinement).collect()
}
