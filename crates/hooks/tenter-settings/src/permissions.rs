//! The table `[permissions]`: which calls of tools the user is asked about.

use serde::Deserialize;
use tenter_protocol::permission_mode::PermissionMode;

/// The table of a file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PermissionsTable {
    pub(super) chat: Option<PermissionMode>,
    pub(super) run: Option<PermissionMode>,
    pub(super) allow: Vec<String>,
    pub(super) ask: Vec<String>,
    pub(super) deny: Vec<String>,
    pub(super) confined: Option<ConfinedPermission>,
}

/// The permission that a call needs if hooks confine it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ConfinedPermission {
    /// None: it runs.
    Allow,
    /// The permission of any other call.
    Ask,
}

impl PermissionsTable {
    /// Adds what a project around this one sets: the stricter mode counts, and its rules apply as well.
    pub(super) fn tighten(&mut self, outer: &Self) {
        self.chat = self.chat.into_iter().chain(outer.chat).min();
        self.run = self.run.into_iter().chain(outer.run).min();
        self.ask.extend_from_slice(&outer.ask);
        self.deny.extend_from_slice(&outer.deny);
    }

    fn restrictions(&self) -> RestrictionRules {
        RestrictionRules { deny: self.deny.clone(), ask: self.ask.clone() }
    }
}

/// The resolved table.
#[derive(Debug, Clone)]
pub struct PermissionSettings {
    /// The mode of `chat`.
    pub chat: PermissionMode,
    /// The mode of all other commands.
    pub run: PermissionMode,
    /// The rules of calls that need no permission, as they are written.
    pub allow: Vec<String>,
    /// The user's rules that make permissions stricter.
    pub restrictions: RestrictionRules,
    /// Those of the project and of the projects around it.
    pub project_restrictions: RestrictionRules,
    /// True if the mode does not ask about calls that hooks confine.
    pub lets_confined_run: bool,
}

/// Rules that make permissions stricter, as they are written.
#[derive(Debug, Clone, Default)]
pub struct RestrictionRules {
    /// The rules of calls that never run.
    pub deny: Vec<String>,
    /// The rules of calls that the user is asked about in every mode.
    pub ask: Vec<String>,
}

impl PermissionSettings {
    /// Resolves the tables of the user's and the project's file: the stricter mode counts, and the restrictions of both.
    pub(super) fn new(user: &PermissionsTable, project: &PermissionsTable) -> Self {
        let stricter = |user: Option<PermissionMode>, project: Option<PermissionMode>, usual| {
            let user_mode = user.unwrap_or(usual);
            project.map_or(user_mode, |project_mode| project_mode.min(user_mode))
        };
        Self {
            chat: stricter(user.chat, project.chat, PermissionMode::Ask),
            run: stricter(user.run, project.run, PermissionMode::All),
            allow: user.allow.clone(),
            restrictions: user.restrictions(),
            project_restrictions: project.restrictions(),
            lets_confined_run: user.confined == Some(ConfinedPermission::Allow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_makes_the_user_be_asked_about_more_and_never_about_less() {
        let modes = [
            None,
            Some(PermissionMode::Ask),
            Some(PermissionMode::Edits),
            Some(PermissionMode::All),
        ];
        for user in modes {
            // A project may not choose the last one.
            for project in &modes[..3] {
                let table = |mode| PermissionsTable {
                    chat: mode,
                    run: mode,
                    allow: vec!["bash".to_owned()],
                    deny: vec!["bash(git push *)".to_owned()],
                    ..PermissionsTable::default()
                };
                let (user, project) = (table(user), table(*project));
                let resolve = |project: &PermissionsTable| PermissionSettings::new(&user, project);
                let alone = resolve(&PermissionsTable::default());
                let both = resolve(&project);
                assert_eq!(both.allow.len(), 1);
                assert_eq!(both.restrictions.deny, both.project_restrictions.deny);
                assert!(both.chat <= alone.chat && both.run <= alone.run, "{user:?} {project:?}");
                assert!(project.chat.is_none_or(|mode| both.chat <= mode));
            }
        }
    }
}
