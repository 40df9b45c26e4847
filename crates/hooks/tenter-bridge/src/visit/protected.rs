//! Files that decide what runs and what guards the agent: a file tool or patch of a host changes them only with the user's consent (B49).
//! A patch that cannot be read counts as a change of each path that it names. Shell commands are not checked.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tenter_engine::inspect::{CallSurroundings, ProtectedPaths};
use tenter_engine::layout::ResourceLayout;
use tenter_protocol::ToolCall;
use tenter_protocol::facts::Path as PathFact;
use tenter_protocol::patch::{self, Patch};

use super::Visit;
use crate::host::UserDirectories;
use crate::hosts;
use crate::registration::{RegistrationScope, Registry};
use crate::reply::HostVerdict;

impl Visit<'_> {
    /// Asks the user about a call that would change a protected file, or denies it where the host cannot ask.
    pub(super) fn protect(&mut self, call: &ToolCall) {
        let Some(why) = self.reason_to_protect(call) else { return };
        self.reply.verdict =
            Some(if self.can_ask() { HostVerdict::Ask(why) } else { HostVerdict::Deny(why) });
    }

    /// Returns why the call needs the user's consent; `None` if it changes no protected file.
    fn reason_to_protect(&self, call: &ToolCall) -> Option<String> {
        if !self.configuration.enabled {
            return None;
        }
        let surroundings = CallSurroundings::new(self.engine.project())
            .with_directories(&self.visitor.directories);
        let paths = surroundings.tool_paths(call, &self.occurrence.cwd);
        let is_change = |fact: &&PathFact| fact.op.changes();
        let mut changes = paths.iter().filter(is_change).peekable();
        let unreadable = unreadable_patch(call);
        if changes.peek().is_none() && unreadable.is_none() {
            return None;
        }
        let protected = self.protected_paths();
        let by_path = changes.find_map(|fact| {
            let place = protected.affected(Path::new(&fact.path), fact.recursive)?;
            Some((format!("{} is protected", super::plain(&fact.given)), place))
        });
        let by_patch = || {
            let place = protected.named_in(&unreadable?, &self.occurrence.cwd)?;
            Some(("the patch cannot be read and names a protected path".to_owned(), place))
        };
        let (what, place) = by_path.or_else(by_patch)?;
        Some(format!(
            "{what}: {} decides what runs or what guards the agent. Tenter lets only the user change it",
            super::plain(&place.display().to_string())
        ))
    }

    fn protected_paths(&self) -> ProtectedPaths {
        let (directories, project) = (&self.visitor.directories, self.engine.project());
        let layout = ResourceLayout::new(project, &directories.home, &directories.config_home)
            .with_managed(directories.managed.clone());
        let own = ProtectedPaths::new(project, &layout.names);
        let own = own.with_own(&layout, directories, &self.configuration.protect);
        let user = UserDirectories { home: &directories.home, vars: &self.visitor.vars };
        let host_paths = hosts::settings_paths(user).chain(self.registration_files());
        host_paths.fold(own, |paths, path| paths.and(&path, project))
    }

    /// Returns the files in which hooks are registered with any host. A project's files are protected in every directory.
    fn registration_files(&self) -> Vec<PathBuf> {
        let registry = Registry::in_home(&self.visitor.directories.home);
        let project = self.engine.project();
        let files = hosts::ALL.iter().flat_map(|host| {
            RegistrationScope::ALL
                .into_iter()
                .filter_map(|scope| registry.target(host, scope, project))
        });
        let in_any = |file: PathBuf| {
            file.strip_prefix(project).map_or_else(|_| file.clone(), Path::to_owned)
        };
        files.map(|target| in_any(target.file)).collect()
    }
}

/// Returns the text of a patch that cannot be read: its headers may not name every file that it changes.
fn unreadable_patch(call: &ToolCall) -> Option<String> {
    Patch::from_input(&call.input).filter(|patch| !patch.is_valid)?;
    match call.input.get(patch::FIELD)? {
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
