//! The checks of Claude Code before it reads a settings file. It ignores every hook and rule of a file that it rejects.

use serde_json::Value;
use tenter_base::{did_you_mean, or_list};
use tenter_protocol::Diagnostic;

use super::json;

/// The values of `permissions.defaultMode`.
const MODES: [&str; 7] =
    ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions", "manual"];

/// A value that Claude Code rejects.
struct RejectedValue {
    /// The keys and indices that lead to it.
    path: Vec<String>,
    message: String,
    help: String,
}

/// Returns the value for which Claude Code rejects a settings file as a whole, with its position; `None` if it reads the file, or if
/// it is not JSON. A file without a value is one without settings.
pub(crate) fn rejected(text: &str) -> Option<Diagnostic> {
    let settings = json::value(text).ok().filter(|settings| !settings.is_null())?;
    let RejectedValue { path, message, help } = problems(&settings).err()?;
    let place =
        if path.is_empty() { "the file".to_owned() } else { format!("`{}`", path.join(".")) };
    Some(json::problem(text, &path, format!("{place} {message}")).help(help))
}

fn problems(settings: &Value) -> Result<(), RejectedValue> {
    let root = At { path: Vec::new(), value: settings };
    root.is(Value::is_object, "an object")?;
    root.optional("disableAllHooks", |it| it.is(Value::is_boolean, "true or false"))?;
    root.optional("env", variables)?;
    root.optional("permissions", permissions)?;
    root.optional("hooks", hooks)
}

fn variables(env: &At<'_>) -> Result<(), RejectedValue> {
    env.is(Value::is_object, "an object with the values of variables")?;
    let is_value = |value: &Value| value.is_string() || value.is_number() || value.is_boolean();
    env.each(|value| value.is(is_value, "text"))
}

fn permissions(permissions: &At<'_>) -> Result<(), RejectedValue> {
    permissions.is(Value::is_object, "an object")?;
    for list in ["allow", "deny", "ask"] {
        permissions.optional(list, |rules| {
            rules.is(Value::is_array, "a list of rules")?;
            rules.each(|rule| rule.is(Value::is_string, "text, such as \"Bash(git push:*)\""))
        })?;
    }
    permissions.optional("defaultMode", |mode| {
        mode.is(Value::is_string, "text")?;
        let word = mode.value.as_str().unwrap_or_default();
        if MODES.contains(&word) {
            return Ok(());
        }
        let help = did_you_mean(word, &MODES, || format!("write {}", or_list(&MODES)));
        Err(mode.problem(format!("is {word:?}, which is no mode"), help))
    })
}

fn hooks(hooks: &At<'_>) -> Result<(), RejectedValue> {
    hooks.is(Value::is_object, "an object with a list for each event")?;
    hooks.each(|groups| {
        groups.is(Value::is_array, "a list")?;
        groups.each(|group| {
            group.is(Value::is_object, "an object with `matcher` and `hooks`")?;
            group.optional("matcher", |it| it.is(Value::is_string, "text"))?;
            let handlers = group.at("hooks");
            if handlers.value.is_null() && group.value.get("command").is_some() {
                let help =
                    "write `{\"hooks\": […]}` around the hook, with the matcher beside `hooks`";
                return Err(group.problem("is a hook in no group".to_owned(), help.to_owned()));
            }
            handlers.is(Value::is_array, "a list of hooks")?;
            handlers.each(handler)
        })
    })
}

fn handler(handler: &At<'_>) -> Result<(), RejectedValue> {
    handler
        .is(Value::is_object, "an object, such as {\"type\": \"command\", \"command\": \"…\"}")?;
    let is_positive = |value: &Value| value.as_f64().is_some_and(|seconds| seconds > 0.0);
    handler.optional("timeout", |it| it.is(is_positive, "a number of seconds above 0"))?;
    for field in ["type", "command", "url", "prompt", "if"] {
        handler.optional(field, |it| it.is(Value::is_string, "text"))?;
    }
    Ok(())
}

/// A value and its place.
struct At<'v> {
    path: Vec<String>,
    value: &'v Value,
}

impl At<'_> {
    /// Returns the member with this name; null if there is none.
    fn at(&self, key: &str) -> At<'_> {
        let path = [&self.path[..], &[key.to_owned()]].concat();
        At { path, value: self.value.get(key).unwrap_or(&Value::Null) }
    }

    fn optional(
        &self,
        key: &str,
        check: impl Fn(&At<'_>) -> Result<(), RejectedValue>,
    ) -> Result<(), RejectedValue> {
        if self.value.get(key).is_none() { Ok(()) } else { check(&self.at(key)) }
    }

    /// Checks every member or element.
    fn each(
        &self,
        check: impl Fn(&At<'_>) -> Result<(), RejectedValue>,
    ) -> Result<(), RejectedValue> {
        let inside =
            |step: String, value| check(&At { path: [&self.path[..], &[step]].concat(), value });
        match self.value {
            Value::Object(members) => {
                members.iter().try_for_each(|(key, value)| inside(key.clone(), value))
            }
            Value::Array(elements) => elements
                .iter()
                .enumerate()
                .try_for_each(|(at, value)| inside(at.to_string(), value)),
            _ => Ok(()),
        }
    }

    fn is(&self, is_right: impl Fn(&Value) -> bool, expected: &str) -> Result<(), RejectedValue> {
        if is_right(self.value) {
            return Ok(());
        }
        Err(self.problem(format!("is not {expected}"), format!("write {expected}, or remove it")))
    }

    fn problem(&self, message: String, help: String) -> RejectedValue {
        RejectedValue { path: self.path.clone(), message, help }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_problem_is_named_with_its_place() {
        for (settings, place, expected) in [
            (
                json!({"permissions": {"defaultMode": "allowEdits"}}),
                "permissions.defaultMode",
                "is \"allowEdits\", which is no mode",
            ),
            (
                json!({"permissions": {"deny": "Bash(ls)"}}),
                "permissions.deny",
                "is not a list of rules",
            ),
            (json!({"hooks": {"Stop": {}}}), "hooks.Stop", "is not a list"),
            (
                json!({"hooks": {"Stop": [{"matcher": ""}]}}),
                "hooks.Stop.0.hooks",
                "is not a list of hooks",
            ),
            (
                json!({"hooks": {"Stop": [{"type": "command", "command": "x"}]}}),
                "hooks.Stop.0",
                "is a hook in no group",
            ),
            (
                json!({"hooks": {"Stop": [{"hooks": [{"timeout": -1}]}]}}),
                "hooks.Stop.0.hooks.0.timeout",
                "is not a number of seconds above 0",
            ),
            (json!({"env": {"A": [1]}}), "env.A", "is not text"),
            (json!([]), "", "is not an object"),
        ] {
            let problem = problems(&settings).unwrap_err();
            assert_eq!(
                (problem.path.join(".").as_str(), problem.message.as_str()),
                (place, expected)
            );
        }
    }
}
