//! The permission rules of a settings file.

use serde_json::Value;
use tenter_protocol::EventName;
use tenter_protocol::manifest::MatcherText;
use tenter_protocol::manifest::rule::RuleVerdict;

use super::{Import, ImportedAction, ImportedHook, commands, slug};
use crate::digest::digest;
use crate::rule_matcher::{self, RuleMatcher};

const COMMAND_REMARK: &str = "it applies to the command however it is written and whatever runs it, also with other options; an alias or a script that runs it is not recognised";

/// Reads the rules that deny and that ask. Allow rules are not imported: a hook's allow answers no question of an agent.
pub(super) fn read(settings: &Value, import: &mut Import) {
    let Some(permissions) = settings.get("permissions") else { return };
    for action in ["deny", "ask"] {
        let rules = permissions.get(action).and_then(Value::as_array);
        for rule in rules.into_iter().flatten().filter_map(Value::as_str) {
            match hook(action, rule) {
                Ok(hook) => import.hooks.push(hook),
                Err(why) => import.left_out.push(format!("permissions.{action} {rule}: {why}")),
            }
        }
    }
    let allowed = permissions.get("allow").and_then(Value::as_array);
    if allowed.is_some_and(|rules| !rules.is_empty()) {
        let why = "permissions.allow: a hook's allow does not answer an agent's own question";
        import.left_out.push(why.to_owned());
    }
}

fn hook(action: &'static str, rule: &str) -> Result<ImportedHook, String> {
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
        names: vec![format!("claude-{action}-{}", slug(rule, 40)).trim_end_matches('-').to_owned()],
        about: format!("permissions.{action} {rule}"),
        remarks: remark.into_iter().map(str::to_owned).collect(),
        trigger: EventName::BeforeTool,
        matcher,
        action: action_of_hook,
    })
}
