//! Rules of Factory Droid: `commandBlocklist` denies, `commandDenylist` asks.

use std::path::Path;

use super::places::{json, texts};
use super::{Effect, Places, RuleCheck, RuleMaker, UserRule, UserRules};
use crate::rule_matcher::CommandPattern;

impl RuleCheck {
    pub(crate) const DROID: Self = Self {
        checks: super::Checks::Original,
        where_read: "Rules are read from the settings of the user and the project: `commandBlocklist` and `commandDenylist`; of `permissionRules` each counts as one that asks about every call.",
        read,
    };
}

fn read(places: &Places) -> UserRules {
    let directories = [places.home.to_owned()].into_iter().chain(places.project_directories());
    let rules = directories.flat_map(|directory| {
        let files = ["settings.json", "settings.local.json"];
        files.map(|name| file_rules(&directory.join(".factory").join(name)))
    });
    UserRules::strictest(rules.flatten().collect())
}

fn file_rules(file: &Path) -> Vec<UserRule> {
    let settings = match json(file) {
        Ok(settings) => settings.unwrap_or_default(),
        Err(rule) => return vec![rule],
    };
    let file = file.display().to_string();
    let maker = RuleMaker::new(&file);
    let scopes = [Some(&settings), settings.get("general")];
    let rules = |effect: Effect, key: &str| {
        let lists = scopes.iter().flatten().flat_map(|scope| texts(scope.get(key)));
        lists.map(|text| command_rule(effect, text, &maker)).collect::<Vec<_>>()
    };
    let mut rules =
        [rules(Effect::Deny, "commandBlocklist"), rules(Effect::Ask, "commandDenylist")].concat();
    if scopes.iter().flatten().any(|scope| scope.get("permissionRules").is_some()) {
        rules.push(maker.unknown("permissionRules", None));
    }
    rules
}

fn command_rule(effect: Effect, text: &str, maker: &RuleMaker) -> UserRule {
    let pattern = if text.contains('*') {
        CommandPattern::from_wildcards(text)
    } else {
        CommandPattern::from_words(&[vec![text]])
    };
    maker.command(effect, text, pattern)
}
