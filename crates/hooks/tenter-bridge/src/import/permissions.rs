//! The permission rules of a settings file.

use serde_json::Value;
use tenter_protocol::EventName;
use tenter_protocol::manifest::MatcherText;
use tenter_protocol::manifest::rule::RuleVerdict;

use super::{Import, ImportedAction, ImportedHook, commands, slug};
use crate::digest::digest;
use crate::rule_matcher::{self, RuleMatcher};

const COMMAND_REMARK: &str = "it applies to the command however it is written and whatever runs it, also with other options; an alias or a script that runs it is not recognised";

/// The reason why rules that allow are not imported.
pub(super) const ALLOWED: &str = "a hook's allow does not answer an agent's own question";

/// Reads the rules that deny and that ask. Allow rules are not imported: a hook's allow answers no question of an agent.
pub(super) fn read(settings: &Value, import: &mut Import) {
    let Some(permissions) = settings.get("permissions") else { return };
    for action in ["deny", "ask"] {
        let rules = permissions.get(action).and_then(Value::as_array);
        for rule in rules.into_iter().flatten().filter_map(Value::as_str) {
            add("claude", action, (rule, &format!("permissions.{action} {rule}")), import);
        }
    }
    let patterns = permissions.get("allow").and_then(Value::as_array);
    if patterns.is_some_and(|rules| !rules.is_empty()) {
        import.left_out.push(format!("permissions.allow: {ALLOWED}"));
    }
}

/// Adds the hook for a rule in the form of Claude Code, and its text with its place in the settings.
pub(super) fn add(
    prefix: &str,
    action: &'static str,
    (rule, place): (&str, &str),
    import: &mut Import,
) {
    match hook(prefix, action, rule) {
        Ok(hook) => import.hooks.push(ImportedHook { about: place.to_owned(), ..hook }),
        Err(why) => import.left_out.push(format!("{place}: {why}")),
    }
}

fn hook(prefix: &str, action: &'static str, rule: &str) -> Result<ImportedHook, String> {
    let matcher = rule_matcher::matcher(rule)?;
    let verb = if action == "deny" { "denies" } else { "asks about" };
    let reason = |rule: &str| format!("the permission rule {rule} {verb} this call");
    let verdict = if action == "deny" { RuleVerdict::Deny } else { RuleVerdict::Ask };
    let command = rule_matcher::command_of(rule);
    let about_commands =
        command.and_then(|command| commands::rules(command, verdict, &reason(rule)));
    let (matcher, remark, action_of_hook) = if let Some(rules) = about_commands {
        (MatcherText::default(), Some(COMMAND_REMARK), ImportedAction::Rules(rules))
    } else {
        // In a template, braces would be a value to fill in.
        let reason = reason(&rule.replace("{{", "{ {"));
        let RuleMatcher { tool, pattern, remark } = matcher;
        let matcher = MatcherText { tool: Some(tool), pattern };
        (matcher, remark, ImportedAction::Decide { action, reason })
    };
    Ok(ImportedHook {
        key: digest(&[action, rule]),
        names: vec![
            format!("{prefix}-{action}-{}", slug(rule, 40)).trim_end_matches('-').to_owned(),
        ],
        about: format!("permissions.{action} {rule}"),
        remarks: remark.into_iter().map(str::to_owned).collect(),
        trigger: EventName::BeforeTool,
        matcher,
        action: action_of_hook,
    })
}
