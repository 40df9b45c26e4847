//! The table `[permissions]`: which calls of tools the user is asked about.

use serde::Deserialize;
use tenter_agent::permission::PermissionMode;

/// The table of a file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PermissionsTable {
    pub(super) chat: Option<PermissionMode>,
    pub(super) run: Option<PermissionMode>,
}

impl PermissionsTable {
    /// Removes what a project may not set, and returns the keys. A project may only make the user be asked about more.
    pub(super) fn refuse_in_project(&mut self) -> Vec<&'static str> {
        let is_all = |mode: &mut PermissionMode| *mode == PermissionMode::All;
        let chat = self.chat.take_if(is_all).map(|_| "permissions.chat = \"all\"");
        let run = self.run.take_if(is_all).map(|_| "permissions.run = \"all\"");
        chat.into_iter().chain(run).collect()
    }
}

/// The resolved table.
#[derive(Debug, Clone)]
pub(crate) struct PermissionSettings {
    /// The mode of `chat`.
    pub(crate) chat: PermissionMode,
    /// The mode of all other commands.
    pub(crate) run: PermissionMode,
}

impl PermissionSettings {
    /// Resolves the tables of the user's file and the project's: the stricter mode counts.
    pub(super) fn new(user: &PermissionsTable, project: &PermissionsTable) -> Self {
        let stricter = |user: Option<PermissionMode>, project: Option<PermissionMode>, usual| {
            let of_user = user.unwrap_or(usual);
            project.map_or(of_user, |of_project| of_project.min(of_user))
        };
        Self {
            chat: stricter(user.chat, project.chat, PermissionMode::Ask),
            run: stricter(user.run, project.run, PermissionMode::All),
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
            for project in modes {
                let table = |mode| PermissionsTable { chat: mode, run: mode };
                let (user, mut project) = (table(user), table(project));
                let alone = PermissionSettings::new(&user, &PermissionsTable::default());
                project.refuse_in_project();
                let both = PermissionSettings::new(&user, &project);
                assert!(both.chat <= alone.chat && both.run <= alone.run, "{user:?} {project:?}");
                assert!(project.chat.is_none_or(|mode| both.chat <= mode));
            }
        }
    }
}
