//! Policy files of Gemini CLI, which drops a whole file if one rule in it does not have the fields that it requires.

use std::path::Path;

use serde_json::Value;

use super::Problem;
use crate::host::Host;
use crate::user_rules::invalid_gemini_rule;

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
            let (why, help) = invalid_gemini_rule(rule)?;
            let message = format!("{why}, so Gemini CLI drops the whole file, with all its rules");
            Some((format!("rule {}", index + 1), Problem::new(message, help)))
        })
        .collect()
}
