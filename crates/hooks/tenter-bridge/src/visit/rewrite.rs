//! Rewritten inputs. In hosts that do not accept them, the call is denied, and the model is asked to make the rewritten call (B18).

use serde_json::Value;
use tenter_protocol::{EventName, Object, ToolCall};

use super::Visit;
use crate::digest::digest;
use crate::host::{HostVersion, InputRewrite};
use crate::occurrence::NativeCall;
use crate::registration::Registry;
use crate::reply::HostVerdict;
use crate::{tool_call, transcript};

/// Maximum number of rewritten calls that a hook may ask for per message of the user.
const MAX_DEMANDS: u32 = 3;

impl Visit<'_> {
    /// Runs the call with the changed input, or asks the model to make the changed call. `after` is in Tenter's names.
    pub(super) fn rewrite_input(&mut self, native: &NativeCall, before: &ToolCall, after: &Object) {
        self.keep_user_rules(before, after);
        if self.reply.denial().is_some() {
            return;
        }
        let host = self.visitor.host;
        let input = tool_call::native_input(host, native, &before.input, after);
        let can_rewrite = match host.input_rewrite {
            InputRewrite::Native => true,
            InputRewrite::WithAllow { since } => {
                let skips_question = native.unasked || self.configuration.bridge.allow_skips_prompt;
                skips_question && self.is_at_least(since)
            }
            InputRewrite::OfSingleCommand => native
                .input
                .get("commands")
                .and_then(Value::as_array)
                .is_none_or(|all| all.len() < 2),
            InputRewrite::Demanded => false,
        };
        if can_rewrite {
            self.reply.input = Some(input);
        } else {
            self.demand(native, &input);
        }
    }

    /// Returns whether the host has this version or a later one, according to its transcript, else to the record of the registration.
    pub(super) fn is_at_least(&self, since: HostVersion) -> bool {
        if since == HostVersion::EARLIEST {
            return true;
        }
        let host = self.visitor.host;
        let transcript = self.transcript_path.as_deref();
        let session_version = transcript.and_then(|path| transcript::host_version(host, path));
        let registered_version = || {
            let records = Registry::in_home(&self.visitor.directories.home).records_of(host);
            let versions =
                records.iter().map(|record| HostVersion::parse(record.version.as_ref()?));
            // An unknown version counts as the earliest.
            versions.min().flatten()
        };
        session_version.or_else(registered_version).is_some_and(|version| version >= since)
    }

    fn demand(&mut self, native: &NativeCall, input: &Object) {
        let hooks = self.runs.all_with(EventName::BeforeTool, tenter_engine::DecisionKind::Rewrite);
        let state = self.session.get();
        let demand = state.demanded.get(&call_digest(&native.tool, &native.input));
        if demand.is_some_and(|demanding| hooks.iter().all(|hook| demanding.contains(hook))) {
            return;
        }
        let names = super::plain(&hooks.iter().cloned().collect::<Vec<_>>().join(", "));
        let host = self.visitor.host.name;
        let demands = |hook: &String| state.demands.get(hook).copied().unwrap_or_default();
        if hooks.iter().map(demands).max().unwrap_or_default() >= MAX_DEMANDS {
            self.reply.verdict = Some(HostVerdict::Deny(format!(
                "hook {names}: it changes this call each time, and {host} cannot run the changed call. The call cannot be made."
            )));
            return;
        }
        let call = call_digest(&native.tool, input);
        self.session.update(|state| {
            for hook in &hooks {
                *state.demands.entry(hook.clone()).or_default() += 1;
            }
            state.demanded.insert(call, hooks);
        });
        let input = Value::Object(input.clone());
        self.reply.verdict = Some(HostVerdict::Deny(format!(
            "hook {names}: it changed this call, and {host} cannot run the changed call. Make this call of {} instead: {}",
            native.tool,
            super::plain(&input.to_string())
        )));
    }
}

fn call_digest(tool: &str, input: &Object) -> String {
    let fields: std::collections::BTreeMap<&String, &Value> = input.iter().collect();
    let input = serde_json::to_string(&fields).unwrap_or_default();
    digest(&[tool, &input])
}
