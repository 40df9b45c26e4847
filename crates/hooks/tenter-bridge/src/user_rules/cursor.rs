//! Rules of Cursor: `permissions.deny`, such as `Shell(git)`.

use std::path::Path;

use super::places::{json, texts};
use super::{Effect, Places, RuleCheck, RuleMaker, UserRule, UserRules};

impl RuleCheck {
    pub(crate) const CURSOR: Self = Self {
        checks: super::Checks::Unknown,
        where_read: "Rules are read from `cli-config.json` of the user and `.cursor/cli.json` of the project; not from the editor's settings.",
        read,
    };
}

fn read(places: &Places) -> UserRules {
    let user = places.directory("CURSOR_CONFIG_DIR", ".cursor").join("cli-config.json");
    let directories = places.project_directories();
    let files = directories.iter().map(|one| one.join(".cursor/cli.json"));
    let all = [user].into_iter().chain(files);
    UserRules::strictest(all.flat_map(|file| file_rules(&file)).collect())
}

fn file_rules(file: &Path) -> Vec<UserRule> {
    let settings = match json(file) {
        Ok(settings) => settings.unwrap_or_default(),
        Err(rule) => return vec![rule],
    };
    let file = file.display().to_string();
    let maker = RuleMaker::new(&file);
    let rules = texts(settings.pointer("/permissions/deny"));
    rules.into_iter().map(|text| maker.claude(Effect::Deny, &as_claude_code(text))).collect()
}

/// Converts a rule to the form of Claude Code: `Shell(git)` is the program with any arguments.
fn as_claude_code(rule: &str) -> String {
    match rule.trim().strip_prefix("Shell(").and_then(|rest| rest.strip_suffix(')')) {
        Some(command) if command.contains('*') => format!("Bash({})", command.replace(':', " ")),
        Some(command) => format!("Bash({command}:*)"),
        None => rule.to_owned(),
    }
}
