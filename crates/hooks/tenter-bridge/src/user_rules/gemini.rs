//! Rules of Gemini CLI: policies, of which the one with the highest priority counts, and `tools.exclude`.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use toml::{Table, Value};

use super::command_line;
use super::places::{files, json, texts, toml};
use super::{Effect, Places, RuleCheck, RuleMaker, UserRule, UserRules};
use crate::rule_matcher::CommandPattern;

/// Where Gemini CLI has the settings of a machine.
const MACHINE: [&str; 2] = ["/etc/gemini-cli", "/Library/Application Support/GeminiCli"];
const SHELL: &str = "run_shell_command";
/// Fields that restrict a rule to calls that Tenter does not tell from others.
const CONDITIONS: [&str; 5] =
    ["modes", "interactive", "subagent", "toolAnnotations", "argsPattern"];

impl RuleCheck {
    pub(crate) const GEMINI: Self = Self {
        checks: super::Checks::Rewritten,
        where_read: "Rules are read from the policies and `tools.exclude` of the user, the project and the machine, and on Linux from the option `--policy`; not from extensions. A rule with a condition that Tenter cannot judge counts only if it restricts.",
        read,
    };
}

fn read(places: &Places) -> UserRules {
    let user = places.home.join(".gemini");
    let of_project = places.project_directories();
    let settings = of_project.iter().map(|one| one.join(".gemini"));
    let settings: Vec<PathBuf> =
        [user.clone()].into_iter().chain(settings).chain(MACHINE.map(PathBuf::from)).collect();
    let mut found = Vec::new();
    let mut policies = vec![(Tier::User, user.join("policies"))];
    policies.extend(MACHINE.map(|one| (Tier::Machine, Path::new(one).join("policies"))));
    let options = command_line::of_host(&["--policy", "--admin-policy"]);
    let named = options.iter().flat_map(|option| &option.values);
    policies.extend(named.map(|path| (Tier::User, places.cwd.join(path))));
    for directory in settings {
        match json(&directory.join("settings.json")) {
            Ok(settings) => {
                let settings = settings.unwrap_or_default();
                found.extend(of_settings(&settings, &directory.join("settings.json")));
                let named = ["policyPaths", "adminPolicyPaths"].map(|key| texts(settings.get(key)));
                policies.extend(
                    named.concat().into_iter().map(|path| (Tier::User, directory.join(path))),
                );
            }
            Err(rule) => found.push((Priority::HIGHEST, rule)),
        }
    }
    found.extend(policies.iter().flat_map(|(tier, path)| of_policies(*tier, path)));
    // Of equal ones, the strictest.
    found.sort_by_key(|(priority, rule)| (*priority, rule.effect()));
    UserRules::last(found.into_iter().map(|(_, rule)| rule).collect())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    User,
    Machine,
}

/// Which of the rules that match counts: the highest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Priority(Tier, i64);

impl Priority {
    const HIGHEST: Self = Self(Tier::Machine, i64::MAX);
    /// That of `tools.exclude`.
    const OF_SETTINGS: Self = Self(Tier::User, 400);
}

type Found = (Priority, UserRule);

/// The tools that settings exclude: as a whole, or only for some commands.
fn of_settings(settings: &Json, file: &Path) -> Vec<Found> {
    let shown = file.display().to_string();
    let maker = RuleMaker::new(&shown);
    let lists = [settings.pointer("/tools/exclude"), settings.get("excludeTools")];
    let excluded = lists.into_iter().flat_map(texts).filter_map(|text| {
        let (tool, command) = text.strip_suffix(')')?.split_once('(')?;
        let is_shell = [SHELL, "ShellTool"].contains(&tool);
        let pattern = CommandPattern::of_words(&[vec![command.trim_end_matches(":*")]]);
        is_shell.then(|| (Priority::OF_SETTINGS, maker.command(Effect::Deny, text, pattern)))
    });
    excluded.collect()
}

fn of_policies(tier: Tier, path: &Path) -> Vec<Found> {
    let listed = if path.is_dir() { files(path, "toml") } else { Ok(vec![path.to_owned()]) };
    match listed {
        Ok(files) => files.iter().flat_map(|file| of_policy(tier, file)).collect(),
        Err(rule) => vec![(Priority::HIGHEST, rule)],
    }
}

fn of_policy(tier: Tier, file: &Path) -> Vec<Found> {
    let policy = match toml(file) {
        Ok(policy) => policy.unwrap_or_default(),
        Err(rule) => return vec![(Priority::HIGHEST, rule)],
    };
    let shown = file.display().to_string();
    let maker = RuleMaker::new(&shown);
    let rules = policy.get("rule").and_then(Value::as_array);
    let rules = rules.into_iter().flatten().filter_map(Value::as_table);
    rules
        .flat_map(|rule| {
            let priority = rule.get("priority").and_then(Value::as_integer).unwrap_or_default();
            let found = of_rule(rule, &maker);
            found.into_iter().map(move |rule| (Priority(tier, priority), rule))
        })
        .collect()
}

/// The rules of one table: it may name several tools and commands.
fn of_rule(rule: &Table, maker: &RuleMaker) -> Vec<UserRule> {
    let shown = rule.to_string().trim().replace('\n', ", ");
    let effect = rule.get("decision").and_then(Value::as_str).and_then(Effect::of_word);
    let Some(effect) = effect else { return vec![maker.unknown(&shown, None)] };
    let is_conditional = CONDITIONS.iter().any(|key| rule.contains_key(*key));
    if is_conditional && effect == Effect::Allow {
        return Vec::new();
    }
    let tools = list(rule, "toolName");
    let is_shell = tools.is_empty() || tools.iter().any(|tool| matches_tool(tool, SHELL));
    if rule.contains_key("argsPattern") {
        return vec![maker.unknown(&shown, (!is_shell).then_some(r"[^b].*|b[^a].*"))];
    }
    let prefixes = list(rule, "commandPrefix").into_iter();
    let prefixes = prefixes.map(|prefix| CommandPattern::of_words(&[vec![prefix]]));
    let expressions = list(rule, "commandRegex").into_iter().map(CommandPattern::of_expression);
    let commands: Vec<CommandPattern> = prefixes.chain(expressions).collect();
    if !commands.is_empty() {
        let rules = commands.into_iter().map(|command| maker.command(effect, &shown, command));
        return rules.collect();
    }
    // About every call of a tool.
    let any = CommandPattern::of_expression("");
    let of_shell =
        (is_shell && !rule.contains_key("mcpName")).then(|| maker.command(effect, &shown, any));
    of_shell.into_iter().collect()
}

fn matches_tool(pattern: &str, tool: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == tool,
        Some((start, end)) => tool.starts_with(start) && tool.ends_with(end),
    }
}

/// The texts of a field that has one or several.
fn list<'t>(rule: &'t Table, key: &str) -> Vec<&'t str> {
    match rule.get(key) {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
