//! A manifest as data.

use serde_json::{Value, json};

use crate::Object;
use crate::manifest::{Manifest, MatcherText};

/// Returns the output of `read-properties`: the properties in the reference implementation's order, without those that are not
/// set.
pub fn properties(manifest: &Manifest) -> Value {
    let mut properties = Object::new();
    let mut set = |key: &str, value: Value| properties.insert(key.to_owned(), value);
    set("name", json!(manifest.name));
    set("description", json!(manifest.description));
    set("trigger", json!(manifest.trigger.spelling));
    set("timeout", json!(manifest.timeout_ms));
    set("async", json!(manifest.asynchronous));
    set("priority", json!(manifest.priority));
    let matcher = matcher(&manifest.matcher);
    if !matcher.is_empty() {
        set("matcher", Value::Object(matcher));
    }
    if !manifest.metadata.is_empty() {
        set("metadata", Value::Object(manifest.metadata.clone()));
    }
    Value::Object(properties)
}

fn matcher(matcher: &MatcherText) -> Object {
    let fields = [("tool", &matcher.tool), ("pattern", &matcher.pattern)];
    let set = fields.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?)));
    set.map(|(key, text)| (key.to_owned(), Value::String(text.clone()))).collect()
}
