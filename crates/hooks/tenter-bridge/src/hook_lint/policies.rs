//! Policy files of Gemini CLI, which drops a whole file if one rule in it does not have the fields that it requires.

use std::path::Path;

use serde_json::Value;

use super::Problem;
use crate::host::Host;

/// The decisions of a rule.
const DECISIONS: [&str; 3] = ["allow", "deny", "ask_user"];
/// The highest priority of a rule.
const HIGHEST_PRIORITY: i64 = 999;

/// Returns whether a file is one of Gemini CLI's policies.
pub fn is_policy(host: &Host, path: &Path) -> bool {
    host.id == "gemini" && path.extension().is_some_and(|ending| ending == "toml")
}

/// Returns the place of each rule for which Gemini CLI drops the whole file, and its problem.
pub(super) fn problems(policy: &Value) -> Vec<(String, Problem)> {
    let rules = policy.get("rule").and_then(Value::as_array).into_iter().flatten();
    rules
        .enumerate()
        .filter_map(|(index, rule)| {
            let (why, help) = invalid_field(rule)?;
            let message = format!("{why}, so Gemini CLI drops the whole file, with all its rules");
            Some((format!("rule {}", index + 1), Problem::new(message, help)))
        })
        .collect()
}

/// Returns the first field that a rule lacks or whose value is not valid, and what to write.
fn invalid_field(rule: &Value) -> Option<(&'static str, &'static str)> {
    let is_name = matches!(rule.get("toolName"), Some(Value::String(_) | Value::Array(_)));
    if !is_name {
        return Some(("it has no `toolName`", "write the tool, such as `toolName = \"*\"`"));
    }
    let decision = rule.get("decision").and_then(Value::as_str);
    if !decision.is_some_and(|decision| DECISIONS.contains(&decision)) {
        return Some(("it has no valid `decision`", "write `allow`, `deny` or `ask_user`"));
    }
    let help = "add a whole number from 0 to 999, such as `priority = 100`";
    let Some(priority) = rule.get("priority") else {
        return Some(("it has no `priority`", help));
    };
    let is_valid = priority.as_i64().is_some_and(|it| (0..=HIGHEST_PRIORITY).contains(&it));
    (!is_valid).then_some(("its `priority` is not valid", help))
}
