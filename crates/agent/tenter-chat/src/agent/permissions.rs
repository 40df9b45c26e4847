//! The permissions of an agent: the mode and the rules, from flags, configuration and what was kept for the project.

use std::sync::Arc;

use tenter_agent::permission::{
    PermissionMode, Permissions, Restrictions, Rule, RuleError, RuleSource, RuleStore, Rules,
};
use tenter_commands::project::Project;
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::Failure;

use super::AgentArgs;
use super::rule_store::StoredRules;

/// Returns the permissions in `mode`, unless a flag sets another; with the diagnostics of invalid rules.
///
/// # Errors
/// A rule that makes permissions stricter is invalid.
pub(super) fn permissions(
    project: &Project,
    args: &AgentArgs,
    mode: PermissionMode,
) -> Result<(Permissions, Vec<Diagnostic>), Failure> {
    let store = StoredRules::new(project.env, project.root());
    let (project_rules, mut findings) = store.read();
    let flags = args.allow.iter().map(|rule| (rule.clone(), RuleSource::Flag));
    let from_configuration = configured_rules(project, &mut findings).into_iter();
    let from_configuration = from_configuration.map(|rule| (rule, RuleSource::Configuration));
    let project_rules = project_rules.into_iter().map(|rule| (rule, RuleSource::Project));
    let rules = flags.chain(from_configuration).chain(project_rules).collect();
    let rules = Rules::new(rules, Some(Arc::new(store) as Arc<dyn RuleStore>));
    let permissions = Permissions::new(args.permissions.unwrap_or(mode), rules)
        .with_confined_allowed(project.settings.permissions.lets_confined_run);
    Ok((permissions.with_restrictions(restrictions(project)?), findings))
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

/// Returns the stricter rules of the user's and the project's file.
fn restrictions(project: &Project) -> Result<Restrictions, Failure> {
    let settings = &project.settings.permissions;
    let (user, project_rules) = (&settings.restrictions, &settings.project_restrictions);
    let rules = |key: &str, user: &[String], project_rules: &[String]| {
        let user = parse(key, user, RuleSource::Configuration)?;
        Ok::<_, Failure>([user, parse(key, project_rules, RuleSource::ProjectFile)?].concat())
    };
    Ok(Restrictions {
        deny: rules("permissions.deny", &user.deny, &project_rules.deny)?,
        ask: rules("permissions.ask", &user.ask, &project_rules.ask)?,
    })
}

fn parse(
    key: &str,
    rules: &[String],
    source: RuleSource,
) -> Result<Vec<(Rule, RuleSource)>, Failure> {
    let parse = |rule: &String| match rule.parse() {
        Ok(rule) => Ok((rule, source)),
        Err(error) => Err(Failure::usage(format!("{key} in {source}: {error}"))
            .help("correct or remove the rule; `tenter help permissions` describes rules")),
    };
    rules.iter().map(parse).collect()
}
