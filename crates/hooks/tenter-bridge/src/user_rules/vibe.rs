//! Rules of Mistral Vibe: `denylist` and the like of a tool in `config.toml`.

use std::path::Path;

use toml::{Table, Value};

use super::places::toml;
use super::{Effect, Places, RuleCheck, RuleMaker, UserRule, UserRules};
use crate::rule_matcher::CommandPattern;

/// The tool that runs commands.
const SHELL: &str = "bash";

impl RuleCheck {
    pub(crate) const VIBE: Self = Self {
        checks: super::Checks::Rewritten,
        where_read: "Rules are read from `config.toml` of the user and the project.",
        read,
    };
}

fn read(places: &Places) -> UserRules {
    let user = places.directory("VIBE_HOME", ".vibe");
    let project = places.project_directories();
    let directories = [user].into_iter().chain(project.iter().map(|one| one.join(".vibe")));
    let rules = directories.flat_map(|directory| file_rules(&directory.join("config.toml")));
    UserRules::strictest(rules.collect())
}

fn file_rules(file: &Path) -> Vec<UserRule> {
    let settings = match toml(file) {
        Ok(settings) => settings.unwrap_or_default(),
        Err(rule) => return vec![rule],
    };
    let file = file.display().to_string();
    let maker = RuleMaker::new(&file);
    let tools = settings.get("tools").and_then(Value::as_table);
    let tools =
        tools.into_iter().flatten().filter_map(|(name, tool)| Some((name, tool.as_table()?)));
    tools.flat_map(|(name, tool)| tool_rules(name, tool, &maker)).collect()
}

fn tool_rules(name: &str, tool: &Table, maker: &RuleMaker) -> Vec<UserRule> {
    let list = |key: &str| {
        let values = tool.get(key).and_then(Value::as_array);
        values.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>()
    };
    if name != SHELL {
        // Patterns of paths.
        let lists = [list("denylist"), list("sensitive_patterns")].concat();
        return lists
            .into_iter()
            .map(|text| maker.unknown(text, Some("file_.*|grep|glob")))
            .collect();
    }
    let rule = |effect: Effect| {
        move |text: &str| maker.command(effect, text, CommandPattern::from_words(&[vec![text]]))
    };
    let alone = |text: &str| maker.command(Effect::Deny, text, CommandPattern::from_rule(text));
    let deny = list("denylist").into_iter().map(rule(Effect::Deny));
    let ask = list("sensitive_patterns").into_iter().map(rule(Effect::Ask));
    deny.chain(ask).chain(list("denylist_standalone").into_iter().map(alone)).collect()
}
