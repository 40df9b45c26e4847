//! Rules of Gemini CLI: policies, of which the one with the highest priority counts, and `tools.exclude`.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use toml::{Table, Value};

use super::places::{files, json, texts, toml};
use super::{Effect, Places, RuleCheck, RuleMaker, UserRule, UserRules, command_line};
use crate::rule_matcher::CommandPattern;

/// The directories of a machine's settings.
const MACHINE: [&str; 2] = ["/etc/gemini-cli", "/Library/Application Support/GeminiCli"];
/// The decisions of a rule.
const DECISIONS: [&str; 3] = ["allow", "deny", "ask_user"];
/// The highest priority of a rule.
const HIGHEST_PRIORITY: i64 = 999;
const SHELL: &str = "run_shell_command";
/// Fields that restrict a rule to calls that Tenter does not tell from others.
const CONDITIONS: [&str; 5] =
    ["modes", "interactive", "subagent", "toolAnnotations", "argsPattern"];

impl RuleCheck {
    pub(crate) const GEMINI: Self = Self {
        checks: super::Checks::Rewritten,
        where_read: "Rules are read from the policies and `tools.exclude` of the user, the project and the machine, and on Linux from the option `--policy`; not from extensions. A rule counts only if it restricts where it has a condition that Tenter cannot judge, or where Gemini CLI drops its file.",
        read,
    };
}

fn read(places: &Places) -> UserRules {
    let user = places.home.join(".gemini");
    let mut directories = vec![user.clone()];
    directories.extend(places.project_directories().iter().map(|one| one.join(".gemini")));
    directories.extend(MACHINE.map(PathBuf::from));
    let mut rules = Vec::new();
    let mut policies = vec![(Tier::User, user.join("policies"))];
    policies.extend(MACHINE.map(|one| (Tier::Machine, Path::new(one).join("policies"))));
    let options = command_line::host_options(&["--policy", "--admin-policy"]);
    let paths = options.iter().flat_map(|option| &option.values);
    policies.extend(paths.map(|path| (Tier::User, places.cwd.join(path))));
    for directory in directories {
        match json(&directory.join("settings.json")) {
            Ok(settings) => {
                let settings = settings.unwrap_or_default();
                rules.extend(settings_rules(&settings, &directory.join("settings.json")));
                let paths = ["policyPaths", "adminPolicyPaths"].map(|key| texts(settings.get(key)));
                policies.extend(
                    paths.concat().into_iter().map(|path| (Tier::User, directory.join(path))),
                );
            }
            Err(rule) => rules.push((Priority::HIGHEST, rule)),
        }
    }
    rules.extend(policies.iter().flat_map(|(tier, path)| policies_rules(*tier, path)));
    // Among rules of equal priority, the strictest is the last.
    rules.sort_by_key(|(priority, rule)| (*priority, rule.effect()));
    UserRules::last(rules.into_iter().map(|(_, rule)| rule).collect())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    User,
    Machine,
}

/// The priority of a rule. Of the rules that match, the one with the highest priority counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Priority(Tier, i64);

impl Priority {
    const HIGHEST: Self = Self(Tier::Machine, i64::MAX);
    /// The priority of `tools.exclude`.
    const SETTINGS: Self = Self(Tier::User, 400);
}

type PolicyRule = (Priority, UserRule);

/// Returns rules for the tools that settings exclude: as a whole, or only for some commands.
fn settings_rules(settings: &Json, file: &Path) -> Vec<PolicyRule> {
    let file = file.display().to_string();
    let maker = RuleMaker::new(&file);
    let lists = [settings.pointer("/tools/exclude"), settings.get("excludeTools")];
    let patterns = lists.into_iter().flat_map(texts).filter_map(|text| {
        let (tool, command) = text.strip_suffix(')')?.split_once('(')?;
        let is_shell = [SHELL, "ShellTool"].contains(&tool);
        let pattern = CommandPattern::from_words(&[vec![command.trim_end_matches(":*")]]);
        is_shell.then(|| (Priority::SETTINGS, maker.command(Effect::Deny, text, pattern)))
    });
    patterns.collect()
}

fn policies_rules(tier: Tier, path: &Path) -> Vec<PolicyRule> {
    let files = if path.is_dir() { files(path, "toml") } else { Ok(vec![path.to_owned()]) };
    match files {
        Ok(files) => files.iter().flat_map(|file| policy_rules(tier, file)).collect(),
        Err(rule) => vec![(Priority::HIGHEST, rule)],
    }
}

fn policy_rules(tier: Tier, file: &Path) -> Vec<PolicyRule> {
    let policy = match toml(file) {
        Ok(policy) => policy.unwrap_or_default(),
        Err(rule) => return vec![(Priority::HIGHEST, rule)],
    };
    let file = file.display().to_string();
    let maker = RuleMaker::new(&file);
    let rules = policy.get("rule").and_then(Value::as_array);
    let rules: Vec<&Table> = rules.into_iter().flatten().filter_map(Value::as_table).collect();
    let is_invalid = |rule: &&Table| {
        serde_json::to_value(rule).map_or(true, |rule| invalid_rule(&rule).is_some())
    };
    let is_dropped = rules.iter().any(is_invalid);
    let prioritized = rules.into_iter().flat_map(|rule| {
        let priority = rule.get("priority").and_then(Value::as_integer).unwrap_or_default();
        let rules = table_rules(rule, &maker);
        rules.into_iter().map(move |rule| (Priority(tier, priority), rule))
    });
    prioritized.filter(|(_, rule)| !is_dropped || rule.effect() != Effect::Allow).collect()
}

/// Returns the first field that a rule lacks or whose value is not valid, and what to write. Gemini CLI then drops the whole file.
pub(crate) fn invalid_rule(rule: &Json) -> Option<(&'static str, &'static str)> {
    let is_name = matches!(rule.get("toolName"), Some(Json::String(_) | Json::Array(_)));
    if !is_name {
        return Some(("it has no `toolName`", "write the tool, such as `toolName = \"*\"`"));
    }
    let decision = rule.get("decision").and_then(Json::as_str);
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

/// Reads the rules of one table, which may name several tools and commands.
fn table_rules(rule: &Table, maker: &RuleMaker) -> Vec<UserRule> {
    let text = rule.to_string().trim().replace('\n', ", ");
    let effect = rule.get("decision").and_then(Value::as_str).and_then(Effect::from_word);
    let Some(effect) = effect else { return vec![maker.unknown(&text, None)] };
    let is_conditional = CONDITIONS.iter().any(|key| rule.contains_key(*key));
    if is_conditional && effect == Effect::Allow {
        return Vec::new();
    }
    let tools = list(rule, "toolName");
    let is_shell = tools.is_empty() || tools.iter().any(|tool| matches_tool(tool, SHELL));
    if rule.contains_key("argsPattern") {
        return vec![maker.unknown(&text, (!is_shell).then_some(r"[^b].*|b[^a].*"))];
    }
    let prefixes = list(rule, "commandPrefix").into_iter();
    let prefixes = prefixes.map(|prefix| CommandPattern::from_words(&[vec![prefix]]));
    let expressions = list(rule, "commandRegex").into_iter().map(CommandPattern::from_expression);
    let commands: Vec<CommandPattern> = prefixes.chain(expressions).collect();
    if !commands.is_empty() {
        let rules = commands.into_iter().map(|command| maker.command(effect, &text, command));
        return rules.collect();
    }
    // It applies to every call of a tool.
    let any = CommandPattern::from_expression("");
    let applies = is_shell && !rule.contains_key("mcpName");
    applies.then(|| maker.command(effect, &text, any)).into_iter().collect()
}

fn matches_tool(pattern: &str, tool: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == tool,
        Some((start, end)) => tool.starts_with(start) && tool.ends_with(end),
    }
}

/// Returns the texts of a field that has one or several.
fn list<'t>(rule: &'t Table, key: &str) -> Vec<&'t str> {
    match rule.get(key) {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_gemini_drops_allows_nothing() {
        let rule = |decision: &str, rest: &str| {
            format!(
                "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"rm\"\ndecision = \"{decision}\"\n{rest}\n"
            )
        };
        let directory = tempfile::tempdir().unwrap();
        let effects = |rules: [String; 2]| -> Vec<Effect> {
            let file = directory.path().join("own.toml");
            std::fs::write(&file, rules.concat()).unwrap();
            policies_rules(Tier::User, &file).iter().map(|(_, rule)| rule.effect()).collect()
        };
        let valid = "priority = 100";
        assert_eq!(
            effects([rule("allow", valid), rule("deny", valid)]),
            [Effect::Allow, Effect::Deny]
        );
        assert_eq!(effects([rule("allow", valid), rule("deny", "")]), [Effect::Deny]);
    }
}
