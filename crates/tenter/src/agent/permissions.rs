//! The permissions of an agent: the mode and the rules, from flags, configuration and what was kept for the project.

use std::sync::Arc;

use tenter_agent::permission::{PermissionMode, Permissions, RuleSource, RuleStore, Rules};
use tenter_protocol::Diagnostic;

use super::AgentArgs;
use super::rule_store::StoredRules;
use crate::project::Project;

/// The permissions in `mode`, unless a flag sets another; the diagnostics are about the stored rules.
pub(super) fn permissions(
    project: &Project,
    args: &AgentArgs,
    mode: PermissionMode,
) -> (Permissions, Vec<Diagnostic>) {
    let store = StoredRules::new(project.env, project.root());
    let (kept, findings) = store.read();
    let flags = args.allow.iter().map(|rule| (rule.clone(), RuleSource::Flag));
    let configured = &project.settings.permissions.allow;
    let configured = configured.iter().map(|rule| (rule.clone(), RuleSource::Configuration));
    let kept = kept.into_iter().map(|rule| (rule, RuleSource::Project));
    let rules = flags.chain(configured).chain(kept).collect();
    let rules = Rules::new(rules, Some(Arc::new(store) as Arc<dyn RuleStore>));
    (Permissions::new(args.permissions.unwrap_or(mode), rules), findings)
}
