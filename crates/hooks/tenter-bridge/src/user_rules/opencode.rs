//! Rules of OpenCode and Kilo: `permission` in their configuration, of which the last that matches counts.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tenter_protocol::Object;

use super::places::{files, parse, text};
use super::{Effect, Places, RuleCheck, RuleMaker, UserRule, UserRules, unreadable};
use crate::rule_matcher::CommandPattern;

const KEY: &str = "permission";
/// The permissions of the tools whose inputs Tenter compares, and the names of these tools.
const TOOLS: [(&str, &str); 6] = [
    ("bash", "bash"),
    ("edit", "file_edit|file_write|apply_patch"),
    ("read", "file_read"),
    ("glob", "glob"),
    ("grep", "grep"),
    ("webfetch", "web_?fetch"),
];

impl RuleCheck {
    pub(crate) const OPENCODE: Self = Self {
        checks: super::Checks::Rewritten,
        where_read: "Rules are read from the configuration of the user, the project and the machine and from the environment; rules of one agent count for all agents, and a rule in a Markdown file counts as one that asks about every call.",
        read: |places| read(places, &OPENCODE),
    };
    pub(crate) const KILO: Self = Self { read: |places| read(places, &KILO), ..Self::OPENCODE };
}

/// The names by which a host finds its configuration.
struct Names {
    /// Names of the files, without the ending.
    files: &'static [&'static str],
    /// The directories of the user, below `$XDG_CONFIG_HOME`.
    user: &'static [&'static str],
    project: &'static [&'static str],
    machine: &'static str,
    /// The beginning of the names of its variables.
    variables: &'static str,
}

const OPENCODE: Names = Names {
    files: &["config", "opencode"],
    user: &["opencode"],
    project: &[".opencode"],
    machine: "/etc/opencode",
    variables: "OPENCODE",
};
const KILO: Names = Names {
    files: &["config", "opencode", "kilo"],
    user: &["kilo", "opencode"],
    project: &[".kilo", ".kilocode", ".opencode"],
    machine: "/etc/kilo",
    variables: "KILO",
};

fn read(places: &Places, names: &Names) -> UserRules {
    let mut configuration = Configuration::default();
    for name in names.user {
        configuration.add_directory(&places.config_home.join(name), names);
    }
    let variable = |name: &str| places.var(&format!("{}_{name}", names.variables));
    if let Some(file) = variable("CONFIG") {
        configuration.add_file(&places.cwd.join(file));
    }
    for directory in places.project_directories() {
        configuration.add_directory(&directory, names);
        let below = names.project.iter().map(|name| directory.join(name));
        below.for_each(|directory| configuration.add_directory(&directory, names));
    }
    if let Some(directory) = variable("CONFIG_DIR") {
        configuration.add_directory(Path::new(&directory), names);
    }
    for (name, is_permission) in [("CONFIG_CONTENT", false), ("PERMISSION", true)] {
        let source = PathBuf::from(format!("${}_{name}", names.variables));
        if let Some(text) = variable(name) {
            configuration.add_text(&source, text, is_permission);
        }
    }
    configuration.add_directory(Path::new(names.machine), names);
    configuration.rules(places)
}

/// The configuration as the host merges its files.
#[derive(Default)]
struct Configuration {
    permission: Object,
    /// The permissions of single agents.
    agents: Vec<Value>,
    /// The last file with rules.
    file: PathBuf,
    unknown: Vec<UserRule>,
}

impl Configuration {
    fn add_directory(&mut self, directory: &Path, names: &Names) {
        for name in names.files {
            for ending in ["json", "jsonc"] {
                self.add_file(&directory.join(name).with_extension(ending));
            }
        }
        for agents in ["agent", "agents", "mode", "modes"] {
            self.add_agents(&directory.join(agents));
        }
    }

    /// Adds agents in Markdown files.
    fn add_agents(&mut self, directory: &Path) {
        let has_rules = |file: &PathBuf| {
            let text = text(file).ok().flatten();
            text.is_none_or(|text| text.lines().any(|line| line.starts_with(KEY)))
        };
        match files(directory, "md") {
            Ok(files) => {
                let files = files.into_iter().filter(has_rules);
                self.unknown.extend(files.map(|file| unreadable(&file, "rules of one agent")));
            }
            Err(rule) => self.unknown.push(rule),
        }
    }

    fn add_file(&mut self, file: &Path) {
        match text(file) {
            Ok(Some(text)) => self.add_text(file, &text, false),
            Ok(None) => {}
            Err(rule) => self.unknown.push(rule),
        }
    }

    fn add_text(&mut self, file: &Path, text: &str, is_permission: bool) {
        match parse(text) {
            Ok(value) if is_permission => self.add(file, &json!({ KEY: value })),
            Ok(value) => self.add(file, &value),
            Err(why) => self.unknown.push(unreadable(file, &why)),
        }
    }

    fn add(&mut self, file: &Path, configuration: &Value) {
        // The second version has a list of rules.
        if configuration.get("permissions").is_some() {
            self.unknown.push(unreadable(file, "`permissions` are not read"));
        }
        if let Some(permission) = configuration.get(KEY) {
            file.clone_into(&mut self.file);
            merge(&mut self.permission, permission);
        }
        for (tool, is_on) in
            configuration.get("tools").and_then(Value::as_object).into_iter().flatten()
        {
            if is_on == &Value::Bool(false) {
                file.clone_into(&mut self.file);
                merge(&mut self.permission, &json!({ tool: "deny" }));
            }
        }
        for agents in ["agent", "mode"] {
            let agents = configuration.get(agents).and_then(Value::as_object);
            let own = agents.into_iter().flatten().filter_map(|(_, agent)| agent.get(KEY));
            let before = self.agents.len();
            self.agents.extend(own.cloned());
            if self.agents.len() > before {
                file.clone_into(&mut self.file);
            }
        }
    }

    fn rules(self, places: &Places) -> UserRules {
        let file = self.file.display().to_string();
        let maker = RuleMaker::new(&file);
        let project = places.project.display().to_string();
        let mut rules = permission_rules(&self.permission, &maker, &project);
        for agent in &self.agents {
            let mut permission = Object::new();
            merge(&mut permission, agent);
            let own = permission_rules(&permission, &maker, &project);
            // A call does not say which agent makes it.
            rules.extend(own.into_iter().filter(|rule| rule.effect() > Effect::Allow));
        }
        rules.extend(self.unknown);
        UserRules::last(rules)
    }
}

/// Merges permissions: a pattern that exists keeps its place.
fn merge(configuration: &mut Object, permission: &Value) {
    match permission {
        Value::Object(permission) => {
            for (tool, patterns) in permission {
                let patterns = as_patterns(patterns);
                let before = configuration.entry(tool.clone()).or_insert_with(|| json!({}));
                if let (Value::Object(before), Value::Object(patterns)) = (before, patterns) {
                    patterns
                        .into_iter()
                        .for_each(|(pattern, word)| drop(before.insert(pattern, word)));
                }
            }
        }
        word => merge(configuration, &json!({ "*": word })),
    }
}

/// Turns a single word into patterns: it applies to every input.
fn as_patterns(patterns: &Value) -> Value {
    if patterns.is_object() { patterns.clone() } else { json!({ "*": patterns }) }
}

fn permission_rules(permission: &Object, maker: &RuleMaker, project: &str) -> Vec<UserRule> {
    let patterns = permission.iter().flat_map(|(tool, patterns)| {
        let patterns = patterns.as_object().into_iter().flatten();
        patterns.map(move |(pattern, word)| (tool.as_str(), pattern.as_str(), word))
    });
    patterns
        .flat_map(|(tool, pattern, word)| pattern_rules((tool, pattern), word, maker, project))
        .collect()
}

/// Returns the rules of a pattern. A permission with a wildcard applies to several tools.
fn pattern_rules(
    (tool, pattern): (&str, &str),
    word: &Value,
    maker: &RuleMaker,
    project: &str,
) -> Vec<UserRule> {
    let text = format!("{tool}: {pattern}: {}", word.as_str().unwrap_or_default());
    let applies = |name: &str| {
        let expression = CommandPattern::from_wildcards(tool);
        let matcher = maker.command(Effect::Allow, "", expression);
        matcher.applies_to(&super::calls::command(name))
    };
    let permissions = TOOLS.iter().filter(|(name, _)| applies(name));
    let Some(effect) = word.as_str().and_then(Effect::from_word) else {
        return permissions.map(|(_, tools)| maker.unknown(&text, Some(tools))).collect();
    };
    permissions
        .map(|(name, tools)| match *name {
            "bash" => maker.command(effect, &text, CommandPattern::from_wildcards(pattern)),
            _ => maker.calls(
                effect,
                &text,
                Some(format!("^(?:{tools})$")),
                path_expression(effect, pattern, project),
            ),
        })
        .collect()
}

/// Returns the expression for a path that is relative to the project. A rule that allows does not match in other directories.
fn path_expression(effect: Effect, pattern: &str, project: &str) -> Option<String> {
    let whole = CommandPattern::from_wildcards(pattern).whole;
    let body = whole.strip_prefix('^').unwrap_or(&whole);
    let start = match effect {
        Effect::Allow => CommandPattern::from_wildcards(&format!("{project}/")).whole,
        _ => "^(?s:.*)/$".to_owned(),
    };
    let start = start.trim_start_matches('^').trim_end_matches('$');
    (pattern != "*").then(|| format!("^(?:{start})?{body}"))
}
