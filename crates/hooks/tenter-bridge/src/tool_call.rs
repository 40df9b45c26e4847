//! Tool calls between a host's names and Tenter's (B8).

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tenter_base::hex;
use tenter_protocol::{Object, ToolCall};

use crate::Host;
use crate::occurrence::NativeCall;

/// Prefix of the ids of calls for which the host has none.
const MADE_UP: &str = "tenter-";

/// Returns the call in Tenter's names. Fields that only the host has stay as they are.
pub(crate) fn canonical(host: &Host, call: &NativeCall) -> ToolCall {
    let id = call.id.clone().unwrap_or_else(|| made_up_id(call));
    let Some(tool) = host.tool(call) else {
        let name = (host.mcp_name)(call).unwrap_or_else(|| call.tool.clone());
        return ToolCall { id, name, input: call.input.clone() };
    };
    ToolCall { id, name: tool.canonical.to_owned(), input: tool.canonical_input(&call.input) }
}

/// Returns the whole native input for a call whose input hooks changed from `before` to `after`. Native fields that they did not
/// touch stay as they are (B18).
pub(crate) fn native_input(
    host: &Host,
    call: &NativeCall,
    before: &Object,
    after: &Object,
) -> Object {
    let tool = host.tool(call);
    let native = |name: &str| tool.map_or(name, |tool| tool.native_field(name)).to_owned();
    let mut input = call.input.clone();
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        input.shift_remove(&native(name));
    }
    for (name, value) in after {
        if before.get(name) != Some(value) {
            input.insert(native(name), value.clone());
        }
    }
    input
}

/// Returns an id that is the same before and after the call: it depends on nothing but the call (B9).
fn made_up_id(call: &NativeCall) -> String {
    let mut hasher = Sha256::new();
    hasher.update(call.tool.as_bytes());
    hasher.update([0]);
    hasher.update(Value::Object(call.input.clone()).to_string());
    format!("{MADE_UP}{}", &hex(&hasher.finalize())[..16])
}
