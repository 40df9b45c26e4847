//! Handlers in TOML: each is a table `[[hooks]]`.

use ::toml::Value as TomlValue;
use serde_json::Value;
use tenter_protocol::Diagnostic;

use super::super::entry::{EventHandler, Handler, Installed};
use super::document::Document;

const HOOKS: &str = "hooks";

/// Returns the handlers in `text` that `is_ours` accepts, in order. `event` is the key of the event.
pub(in super::super) fn find(
    text: &str,
    event: &str,
    is_ours: impl Fn(&Value) -> bool,
) -> Result<Vec<Handler>, Diagnostic> {
    let document = Document::parse(text)?;
    let values = values(&document).into_iter().enumerate().filter(|(_, value)| is_ours(value));
    let handlers = values.map(|(index, mut value)| {
        let is_unconditional = value.get("matcher").is_none() && value.get("match").is_none();
        let event = value.as_object_mut().and_then(|members| members.shift_remove(event));
        let event = event.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
        Handler { event, group: 0, index, value, is_unconditional }
    });
    Ok(handlers.collect())
}

/// Appends a table for each of these handlers.
pub(in super::super) fn install(
    text: &str,
    event: &str,
    handlers: &[EventHandler],
) -> Result<Installed, Diagnostic> {
    let table = |(name, handler): &EventHandler| {
        let members = handler.as_object().into_iter().flatten();
        let members = members.map(|(key, value)| format!("{key} = {}\n", written(value)));
        let event = format!("{event} = {}\n", written(&Value::from(*name)));
        format!("[[{HOOKS}]]\n{event}{}", members.collect::<String>())
    };
    Document::parse(text)?.append(&handlers.iter().map(table).collect::<Vec<_>>())
}

/// Removes the handlers that `is_ours` accepts.
pub(in super::super) fn remove(
    text: &str,
    is_ours: impl Fn(&Value) -> bool,
) -> Result<String, Diagnostic> {
    let document = Document::parse(text)?;
    let values = values(&document);
    let of_hooks = document.tables.iter().enumerate();
    let of_hooks = of_hooks.filter(|(_, table)| table.is_element && table.keys == [HOOKS]);
    let of_hooks: Vec<usize> = of_hooks.map(|(index, _)| index).collect();
    let is_gone = |index: usize| {
        let handler = of_hooks.iter().position(|of_hooks| *of_hooks == index);
        handler.and_then(|handler| values.get(handler)).is_some_and(&is_ours)
    };
    Ok(document.without(|index, _| is_gone(index)))
}

/// The elements of `hooks`.
fn values(document: &Document) -> Vec<Value> {
    let hooks = document.root.get(HOOKS).and_then(TomlValue::as_array);
    let values = hooks.into_iter().flatten();
    values.map(|value| serde_json::to_value(value).unwrap_or_default()).collect()
}

/// A text, number or truth value in TOML.
pub(super) fn written(value: &Value) -> String {
    match value.as_str() {
        Some(text) => TomlValue::from(text).to_string(),
        None => value.to_string(),
    }
}
