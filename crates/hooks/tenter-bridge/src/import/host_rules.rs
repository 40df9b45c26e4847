//! The permission rules of other hosts than Claude Code, in its form.

use serde_json::Value;

use super::other_hosts::claude_name;
use super::{Import, permissions};
use crate::host::Host;

/// The names that hosts give their shell in rules.
const SHELLS: [&str; 5] = ["Shell", "ShellTool", "shell", "bash", "Bash"];

/// A list of rules in a host's settings.
struct RuleList {
    host: &'static str,
    /// The keys that lead to it.
    place: &'static [&'static str],
    action: &'static str,
    /// True if the rules are commands, without the name of a tool.
    are_commands: bool,
}

const fn list(
    host: &'static str,
    place: &'static [&'static str],
    action: &'static str,
    are_commands: bool,
) -> RuleList {
    RuleList { host, place, action, are_commands }
}

const LISTS: [RuleList; 10] = [
    list("qwen", &["permissions", "deny"], "deny", false),
    list("qwen", &["permissions", "ask"], "ask", false),
    list("qwen", &["tools", "exclude"], "deny", false),
    list("gemini", &["tools", "exclude"], "deny", false),
    list("gemini", &["excludeTools"], "deny", false),
    list("cursor", &["permissions", "deny"], "deny", false),
    list("droid", &["commandBlocklist"], "deny", true),
    list("droid", &["commandDenylist"], "ask", true),
    list("droid", &["general", "commandBlocklist"], "deny", true),
    list("droid", &["general", "commandDenylist"], "ask", true),
];

/// The reason why a list of the tools that a host offers is not imported.
const ONLY_THESE: &str = "it names the tools that the agent offers, and hooks can only deny tools";

/// Settings with rules that are not carried over, and why.
const REFUSED: [(&str, &str, &str); 8] = [
    ("gemini", "tools.core", ONLY_THESE),
    ("gemini", "coreTools", ONLY_THESE),
    ("gemini", "tools.allowed", permissions::ALLOWED),
    ("gemini", "allowedTools", permissions::ALLOWED),
    ("droid", "permissionRules", "their conditions are those of Factory Droid"),
    ("qwen", "permissions.allow", permissions::ALLOWED),
    ("cursor", "permissions.allow", permissions::ALLOWED),
    ("droid", "commandAllowlist", permissions::ALLOWED),
];

/// The permissions of OpenCode and its relatives, and the tools of Claude Code that they apply to.
const PERMISSIONS: [(&str, &str); 6] = [
    ("bash", "Bash"),
    ("edit", "Edit"),
    ("read", "Read"),
    ("webfetch", "WebFetch"),
    ("glob", "Glob"),
    ("grep", "Grep"),
];

/// Reads the permission rules of a host's settings.
pub(super) fn read(host: &Host, settings: &Value, import: &mut Import) {
    let lookup = |place: &[&str]| place.iter().try_fold(settings, |value, key| value.get(key));
    for list in LISTS.iter().filter(|list| list.host == host.id) {
        let rules = lookup(list.place).and_then(Value::as_array);
        for rule in rules.into_iter().flatten().filter_map(Value::as_str) {
            let claude = if list.are_commands { prefix(rule) } else { as_claude_code(host, rule) };
            let place = format!("{} {rule}", list.place.join("."));
            permissions::add(host.id, list.action, (&claude, &place), import);
        }
    }
    for (_, place, why) in REFUSED.iter().filter(|(id, ..)| *id == host.id) {
        let keys: Vec<&str> = place.split('.').collect();
        if lookup(&keys).is_some() {
            import.left_out.push(format!("{place}: {why}"));
        }
    }
    if ["opencode", "kilo"].contains(&host.id)
        && let Some(permission) = settings.get("permission")
    {
        permission_block(host, permission, import);
    }
}

/// Reads the block `permission`: a word for each tool, or a word for each pattern of its input.
fn permission_block(host: &Host, permission: &Value, import: &mut Import) {
    let Some(tools) = permission.as_object() else {
        let why = "one word for all tools; write the tools";
        import.left_out.push(format!("permission: {why}"));
        return;
    };
    for (key, value) in tools {
        let place = format!("permission.{key}");
        let Some((_, tool)) = PERMISSIONS.iter().find(|(name, _)| name == key) else {
            import.left_out.push(format!("{place}: Tenter has no such permission"));
            continue;
        };
        let patterns: Vec<(&str, &Value)> = match value.as_object() {
            Some(patterns) => patterns.iter().map(|(text, word)| (text.as_str(), word)).collect(),
            None => vec![("*", value)],
        };
        for (pattern, word) in patterns {
            let place = if pattern == "*" { place.clone() } else { format!("{place} {pattern}") };
            let rule =
                if pattern == "*" { (*tool).to_owned() } else { format!("{tool}({pattern})") };
            match word.as_str() {
                Some(word @ ("deny" | "ask")) => {
                    let action = if word == "deny" { "deny" } else { "ask" };
                    permissions::add(host.id, action, (&rule, &place), import);
                }
                Some("allow") => import.left_out.push(format!("{place}: {}", permissions::ALLOWED)),
                _ => import.left_out.push(format!("{place}: it is neither allow nor ask nor deny")),
            }
        }
    }
}

/// Returns the rule for all commands that begin with a text.
pub(super) fn prefix(command: &str) -> String {
    let command = command.trim();
    if command.ends_with(":*") || command.contains('*') {
        format!("Bash({command})")
    } else {
        format!("Bash({command}:*)")
    }
}

/// Converts a rule such as `run_shell_command(git push)` or `Shell(git)` to the form of Claude Code.
pub(super) fn as_claude_code(host: &Host, rule: &str) -> String {
    let (tool, specifier) =
        match rule.trim().strip_suffix(')').and_then(|rule| rule.split_once('(')) {
            Some((tool, specifier)) => (tool, Some(specifier)),
            None => (rule.trim(), None),
        };
    let native = host.tools.iter().find(|native| native.name == tool);
    let name = match native.and_then(|native| claude_name(native.canonical)) {
        Some(name) => name,
        None if SHELLS.contains(&tool) => "Bash",
        None if tool == "web_fetch" => "WebFetch",
        None if tool == "google_web_search" => "WebSearch",
        None => tool,
    };
    match (name, specifier) {
        (name, None) => name.to_owned(),
        ("Bash", Some(command)) => prefix(command),
        ("WebFetch", Some(domain)) if !domain.contains(':') => format!("WebFetch(domain:{domain})"),
        ("Mcp", Some(names)) => format!("mcp__{}", names.replace(':', "__")),
        (name, Some(specifier)) => format!("{name}({specifier})"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::hosts;

    #[test]
    fn rules_of_every_host_become_rules_or_are_named() {
        for (host, settings, hooks, left_out) in [
            (
                "qwen",
                json!({"permissions": {"deny": ["run_shell_command(git push)", "write_file"], "allow": ["read_file"]}}),
                2,
                1,
            ),
            (
                "gemini",
                json!({
                    "tools": {"exclude": ["run_shell_command(rm -rf)"], "core": ["read_file"], "allowed": ["glob"]},
                    "excludeTools": ["web_fetch"],
                }),
                2,
                2,
            ),
            (
                "cursor",
                json!({"permissions": {"deny": ["Shell(rm)", "Read(.env*)", "Write(**/*.key)"]}}),
                3,
                0,
            ),
            (
                "droid",
                json!({"commandDenylist": ["git push"], "general": {"commandBlocklist": ["shutdown"]}, "permissionRules": []}),
                2,
                1,
            ),
            (
                "opencode",
                json!({"permission": {"edit": "ask", "bash": {"git push *": "deny", "*": "allow"}, "doom_loop": "ask"}}),
                2,
                2,
            ),
        ] {
            let mut import = Import::default();
            read(hosts::find(host).unwrap(), &settings, &mut import);
            assert_eq!(
                (import.hooks.len(), import.left_out.len()),
                (hooks, left_out),
                "{host}: {import:#?}"
            );
        }
    }

    #[test]
    fn names_of_tools_become_those_of_claude_code() {
        for (host, rule, expected) in [
            ("qwen", "run_shell_command(git push)", "Bash(git push:*)"),
            ("gemini", "write_file", "Write"),
            ("cursor", "Shell(curl*)", "Bash(curl*)"),
            ("cursor", "WebFetch(example.com)", "WebFetch(domain:example.com)"),
            ("cursor", "Mcp(github:create)", "mcp__github__create"),
        ] {
            assert_eq!(as_claude_code(hosts::find(host).unwrap(), rule), expected, "{rule}");
        }
    }
}
