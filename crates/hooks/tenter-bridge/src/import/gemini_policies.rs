//! The policies of Gemini CLI: tables `[[rule]]` for tools and commands, as permission rules.

use serde_json::Value;

use super::host_rules::{as_claude_code, prefix};
use super::{Import, permissions};
use crate::host::Host;

/// Fields with conditions that a rule of Tenter does not have.
const CONDITIONS: [&str; 8] = *tenter_base::words!(
    "argsPattern commandRegex mcpName modes interactive subagent toolAnnotations allowRedirection"
);

/// Reads the rules of a file with policies.
pub(super) fn read(host: &Host, policy: &Value, import: &mut Import) {
    let rules = policy.get("rule").and_then(Value::as_array);
    for rule in rules.into_iter().flatten() {
        read_rule(host, rule, import);
    }
}

fn read_rule(host: &Host, rule: &Value, import: &mut Import) {
    let (tools, prefixes) = (texts(&rule["toolName"]), texts(&rule["commandPrefix"]));
    let word = rule["decision"].as_str().unwrap_or_default();
    let subject = if prefixes.is_empty() { tools.join("|") } else { prefixes.join("|") };
    let place = format!("rule {word} {subject}");
    let action = match word {
        "deny" => "deny",
        "ask_user" => "ask",
        "allow" => return import.left_out.push(format!("{place}: {}", permissions::ALLOWED)),
        _ => return import.left_out.push(format!("{place}: it has no decision")),
    };
    if let Some(condition) = CONDITIONS.iter().find(|key| rule.get(**key).is_some()) {
        let why = format!("Tenter has no condition {condition}");
        return import.left_out.push(format!("{place}: {why}"));
    }
    let rules: Vec<String> = if prefixes.is_empty() {
        tools.iter().map(|tool| as_claude_code(host, tool)).collect()
    } else {
        prefixes.iter().map(|command| prefix(command)).collect()
    };
    if rules.is_empty() {
        import.left_out.push(format!("{place}: it names no tool"));
    }
    for rule in rules {
        permissions::add(host.id, action, (&rule, &place), import);
    }
}

/// Returns the texts of a field that has one or several.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::hosts;

    #[test]
    fn every_rule_is_imported_or_named() {
        let policy = json!({"rule": [
            {"toolName": "run_shell_command", "commandPrefix": ["git push", "rm -rf"], "decision": "deny", "priority": 100},
            {"toolName": ["write_file", "web_fetch"], "decision": "ask_user", "priority": 10},
            {"toolName": "run_shell_command", "commandRegex": "git .*", "decision": "deny"},
            {"toolName": "read_file", "decision": "allow"},
            {"decision": "deny"},
        ]});
        let mut import = Import::default();
        read(hosts::find("gemini").unwrap(), &policy, &mut import);
        let names: Vec<&str> = import.hooks.iter().map(|hook| hook.names[0].as_str()).collect();
        let expected = [
            "gemini-deny-bash-git-push",
            "gemini-deny-bash-rm-rf",
            "gemini-ask-write",
            "gemini-ask-webfetch",
        ];
        assert_eq!(names, expected);
        assert_eq!(import.left_out.len(), 3, "{:?}", import.left_out);
    }
}
