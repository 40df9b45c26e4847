//! The built-in hook, as listings show it. It has no file.

use tenter_engine::builtin;
use tenter_engine::hook::{FailMode, Layer};

use super::entry::{HookEntry, TrustStatus};
use crate::failure::Failure;

/// Its entry, with the threshold from which it requests a summary; none if it is off.
pub(super) fn entry(threshold: Option<f64>) -> HookEntry<'static> {
    let event = builtin::EVENT.as_str();
    let off = || "is off: conversations are not compacted automatically".to_owned();
    HookEntry {
        name: builtin::NAME,
        event: event.to_owned(),
        events: vec![event],
        layer: Layer::BuiltIn.as_str(),
        path: None,
        trust: TrustStatus::NotNeeded,
        status: if threshold.is_some() { "active" } else { "off" },
        active: threshold.is_some(),
        reason: threshold.is_none().then(off),
        shadowed_by: None,
        hash: None,
        priority: None,
        timeout_ms: None,
        fail: FailMode::Open,
        asynchronous: false,
        protocol: Some("builtin"),
        action: None,
        description: Some(about(threshold)),
        threshold,
        listed: None,
    }
}

/// What it does, as the end of a sentence.
fn about(threshold: Option<f64>) -> String {
    let fullness = match threshold {
        Some(threshold) => {
            format!("{} of the context window is used", builtin::percent(threshold))
        }
        None => "the context window is nearly full".to_owned(),
    };
    format!("asks for the recipe {} when {fullness}", builtin::RECIPE)
}

/// Fails if `name` is that of the built-in hook.
pub(super) fn refuse(name: &str) -> Result<(), Failure> {
    if name != builtin::NAME {
        return Ok(());
    }
    let failure = Failure::new(format!("{name} is built in and has no file"));
    Err(failure.help(
        "turn it off with `--disable-auto-compact`, or with compact.auto = false in the configuration",
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_entry_of_a_disabled_hook_says_so_and_has_no_threshold() {
        let expected = json!({
            "name": "builtin:compact-trigger", "event": "after_turn", "events": ["after_turn"],
            "layer": "builtin", "path": null, "trust": "not needed", "status": "off", "active": false,
            "reason": "is off: conversations are not compacted automatically", "hash": null, "priority": null,
            "timeout_ms": null, "fail": "open", "async": false, "protocol": "builtin",
            "description": "asks for the recipe compact when the context window is nearly full",
        });
        assert_eq!(serde_json::to_value(entry(None)).unwrap(), expected);
    }
}
