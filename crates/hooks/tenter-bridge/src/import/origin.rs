//! Which imported hooks Claude Code runs itself: those that their origin still registers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::files::short;
use super::handlers;

/// The keys of the commands that a settings file registers, as manifests contain them. A file that Claude Code ignores, because it
/// is not JSON without comments or because hooks are switched off, registers none.
pub fn registered_keys(settings: &str) -> BTreeSet<String> {
    let settings: Value = serde_json::from_str(settings).unwrap_or_default();
    let mut keys = BTreeSet::new();
    if settings.get("disableAllHooks") == Some(&Value::Bool(true)) {
        return keys;
    }
    let events = settings.get("hooks").and_then(Value::as_object);
    for (event, groups) in events.into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            let matcher = group.get("matcher").and_then(Value::as_str);
            let handlers = group.get("hooks").and_then(Value::as_array);
            let found = handlers.into_iter().flatten().filter_map(|handler| {
                handlers::key(event, matcher, handler).map(|key| short(&key).to_owned())
            });
            keys.extend(found);
        }
    }
    keys
}
