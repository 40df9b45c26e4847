//! A variable in a host's settings, in the object `env` (F12).

use serde_json::Value;
use tenter_protocol::Diagnostic;

use super::json::{self, JsonDocument, raw, remove_node, trim_empty};

/// The key of the variables.
const ENV: &str = "env";

/// Returns the value of a variable that is a text.
///
/// # Errors
/// The text is not valid; the diagnostic has the position.
pub(super) fn find(text: &str, name: &str) -> Result<Option<String>, Diagnostic> {
    let settings = json::value(text)?;
    let variable = settings.get(ENV).and_then(|variables| variables.get(name));
    Ok(variable.and_then(Value::as_str).map(str::to_owned))
}

/// Returns the text with a variable, which it must not have.
///
/// # Errors
/// The text is not valid, or `env` is not an object.
pub(super) fn set(text: &str, name: &str, value: &str) -> Result<String, Diagnostic> {
    let document = JsonDocument::parse(text)?;
    let root = document.object()?.unwrap_or_else(|| document.root.object_value_or_set());
    let variables = match document.member(&root, &[ENV])? {
        None => root.object_value_or_set(ENV),
        Some(node) => node
            .as_object()
            .ok_or_else(|| document.unexpected(&[ENV], format!("{ENV:?} is not an object")))?,
    };
    variables.append(name, raw(Value::from(value)));
    Ok(document.text())
}

/// Returns the text without a variable, and without the object `env` if nothing else is in it.
///
/// # Errors
/// The text is not valid.
pub(super) fn remove(text: &str, name: &str) -> Result<String, Diagnostic> {
    let document = JsonDocument::parse(text)?;
    let member = document.object()?.and_then(|root| root.get(ENV));
    let variables = member.as_ref().and_then(|member| member.value()?.as_object());
    let (Some(member), Some(variables)) = (member, variables) else { return Ok(text.to_owned()) };
    if let Some(variable) = variables.get(name) {
        remove_node(&variable.into());
    }
    if trim_empty(&variables.into()) {
        remove_node(&member.into());
    }
    Ok(document.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_comes_and_goes_without_other_changes() {
        for text in [
            "{\n  \"model\": \"x\", // mine\n  \"env\": { \"A\": \"1\" }\n}\n",
            "{\n  \"model\": \"x\"\n}\n",
        ] {
            let with = set(text, "P", "/a b/c --x").unwrap();
            assert_eq!(find(&with, "P").unwrap().as_deref(), Some("/a b/c --x"), "{with}");
            let settings = json::value(&with).unwrap();
            assert_eq!(settings["model"], "x", "{with}");
            let without = remove(&with, "P").unwrap();
            assert_eq!(json::value(&without).unwrap(), json::value(text).unwrap(), "{without}");
            assert!(without.contains("// mine") == text.contains("// mine"), "{without}");
        }
        assert!(set(r#"{"env": []}"#, "P", "x").is_err());
        assert_eq!(find("", "P").unwrap(), None);
    }
}
