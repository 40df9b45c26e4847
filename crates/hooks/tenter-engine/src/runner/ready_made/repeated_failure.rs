//! `repeated-failure`: notices that the same call fails again and again, and says so to the model.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tenter_base::hex;
use tenter_protocol::{Body, Reply, ToolCall, json};

use super::call::ReadyMadeCall;

/// Maximum number of calls that are remembered.
const MAX_CALLS: usize = 100;

/// The number of failures of each call since files changed last, by a digest of the call.
#[derive(Default, Serialize, Deserialize)]
struct Failures {
    counts: BTreeMap<String, u32>,
}

pub(super) fn reply(call: &ReadyMadeCall<'_>) -> Result<Reply, String> {
    let Body::AfterTool { call: tool, result } = call.body() else { return Ok(Reply::default()) };
    let digest = digest(tool);
    if !result.is_failure() {
        if call.changes_project() {
            // What failed may succeed now.
            call.change_state(|failures: &mut Failures| failures.counts.clear())?;
        }
        return Ok(Reply::default());
    }
    if result.is_blocked() {
        return Ok(Reply::default());
    }
    let times = call.change_state(|failures: &mut Failures| {
        if failures.counts.len() >= MAX_CALLS && !failures.counts.contains_key(&digest) {
            failures.counts.clear();
        }
        let count = failures.counts.entry(digest).or_default();
        *count += 1;
        *count
    })?;
    if times < call.number("times").max(1) {
        return Ok(Reply::default());
    }
    Ok(super::deny(format!(
        "this call has failed {times} times, and no file changed in between. Do not repeat it: find the cause, or try another way"
    )))
}

fn digest(tool: &ToolCall) -> String {
    let digest = Sha256::new()
        .chain_update(&tool.name)
        .chain_update([0])
        .chain_update(json::to_line(&tool.input));
    hex(&digest.finalize())[..16].to_owned()
}
