//! Rules of Claude Code: `permissions.deny` and `permissions.ask`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::command_line::{self, HostOption};
use super::places::{files, json, parse, texts};
use super::{Effect, Places, RuleCheck, RuleMaker, UserRule, UserRules};

/// The directories of a machine's settings.
const MANAGED: [&str; 2] = ["/etc/claude-code", "/Library/Application Support/ClaudeCode"];

impl RuleCheck {
    pub(crate) const CLAUDE_CODE: Self = Self {
        checks: super::Checks::Rewritten,
        where_read: "Rules are read from the settings of the user, the project and the machine, and on Linux from the options `--disallowedTools` and `--settings`; not from settings that an organization sends.",
        read,
    };
}

fn read(places: &Places) -> UserRules {
    let mut rules: Vec<UserRule> =
        settings_files(places).iter().flat_map(|file| file_rules(file)).collect();
    let options =
        command_line::host_options(&["--disallowedTools", "--disallowed-tools", "--settings"]);
    for option in options {
        rules.extend(option_rules(&option, places));
    }
    UserRules::strictest(rules)
}

fn settings_files(places: &Places) -> Vec<PathBuf> {
    let user = places.directory("CLAUDE_CONFIG_DIR", ".claude");
    let mut directories = vec![user];
    directories.extend(places.project_directories().iter().map(|one| one.join(".claude")));
    directories.extend(places.var("CLAUDE_PROJECT_DIR").map(|one| Path::new(one).join(".claude")));
    let names = ["settings.json", "settings.local.json"];
    let mut settings: Vec<PathBuf> =
        directories.iter().flat_map(|one| names.map(|name| one.join(name))).collect();
    for directory in MANAGED.map(Path::new) {
        settings.push(directory.join("managed-settings.json"));
        settings.extend(files(&directory.join("managed-settings.d"), "json").unwrap_or_default());
    }
    settings.dedup();
    settings
}

fn file_rules(file: &Path) -> Vec<UserRule> {
    match json(file) {
        Ok(settings) => {
            settings.map_or_else(Vec::new, |all| settings_rules(&all, &file.display().to_string()))
        }
        Err(rule) => vec![rule],
    }
}

fn settings_rules(settings: &Value, file: &str) -> Vec<UserRule> {
    let maker = RuleMaker::new(file);
    let rules = |effect, word: &str| {
        let texts = texts(settings.pointer(&format!("/permissions/{word}")));
        texts.into_iter().map(|text| maker.claude(effect, text)).collect::<Vec<_>>()
    };
    [rules(Effect::Deny, "deny"), rules(Effect::Ask, "ask")].concat()
}

fn option_rules(option: &HostOption, places: &Places) -> Vec<UserRule> {
    let maker = RuleMaker::new("the command line");
    let values = option.values.iter();
    match option.name {
        "--settings" => values
            .flat_map(|value| match parse(value) {
                Ok(settings) if settings.is_object() => {
                    settings_rules(&settings, "the command line")
                }
                _ => file_rules(&places.cwd.join(value)),
            })
            .collect(),
        _ => values
            .flat_map(|value| split(value))
            .map(|rule| maker.claude(Effect::Deny, &rule))
            .collect(),
    }
}

/// Splits `Bash(git add:*),Edit Read(a b)` at commas and spaces outside of parentheses.
fn split(list: &str) -> Vec<String> {
    let mut rules = vec![String::new()];
    let mut depth = 0_u32;
    for c in list.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(c, ',' | ' ') {
            rules.push(String::new());
        } else if let Some(last) = rules.last_mut() {
            last.push(c);
        }
    }
    rules.retain(|rule| !rule.trim().is_empty());
    rules
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn a_list_of_rules_is_split_outside_of_parentheses() {
        assert_eq!(
            split("Bash(git add:*),Edit Read(a, b)"),
            ["Bash(git add:*)", "Edit", "Read(a, b)"]
        );
        assert!(split(" , ").is_empty());
    }
}
