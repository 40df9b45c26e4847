//! The permissions of an agent: the mode and the rules, from flags, configuration and what was kept for the project.

use std::sync::Arc;

use tenter_agent::permission::{
    PermissionMode, Permissions, Rule, RuleError, RuleSource, RuleStore, Rules,
};
use tenter_commands::project::Project;
use tenter_protocol::{Diagnostic, Severity};

use super::AgentArgs;
use super::rule_store::StoredRules;

/// The permissions in `mode`, unless a flag sets another; with the diagnostics of invalid rules.
pub(super) fn permissions(
    project: &Project,
    args: &AgentArgs,
    mode: PermissionMode,
) -> (Permissions, Vec<Diagnostic>) {
    let store = StoredRules::new(project.env, project.root());
    let (stored, mut findings) = store.read();
    let flags = args.allow.iter().map(|rule| (rule.clone(), RuleSource::Flag));
    let configured = configured_rules(project, &mut findings).into_iter();
    let configured = configured.map(|rule| (rule, RuleSource::Configuration));
    let stored = stored.into_iter().map(|rule| (rule, RuleSource::Project));
    let rules = flags.chain(configured).chain(stored).collect();
    let rules = Rules::new(rules, Some(Arc::new(store) as Arc<dyn RuleStore>));
    (Permissions::new(args.permissions.unwrap_or(mode), rules), findings)
}

/// Returns the rules of the user's file. An invalid one is a warning, and allows nothing.
fn configured_rules(project: &Project, findings: &mut Vec<Diagnostic>) -> Vec<Rule> {
    let mut rules = Vec::new();
    for rule in &project.settings.permissions.allow {
        match rule.parse() {
            Ok(rule) => rules.push(rule),
            Err(error) => findings.push(invalid(project, &error)),
        }
    }
    rules
}

fn invalid(project: &Project, error: &RuleError) -> Diagnostic {
    let message = format!("permissions.allow: {error}; it allows nothing");
    Diagnostic::new("permission-rule", Severity::Warning, message)
        .at(project.env.config_file())
        .help("`tenter help permissions` describes rules")
}
