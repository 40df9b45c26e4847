//! The settings of hooks: the user's, and those of the projects that an event happens in.

use std::path::{Path, PathBuf};

use tenter_engine::configuration::{HookConfiguration, HookTables};
use tenter_engine::hook::FailMode;
use tenter_engine::layout::DirectoryNames;
use tenter_engine::outer_projects::OuterProjects;
use tenter_engine::trust::TrustStore;

use super::Visitor;

impl Visitor {
    /// Returns the files of settings: the user's, the project's, and those of the projects around it (R89).
    pub(super) fn settings(&self, project: &Path) -> Vec<PathBuf> {
        let store = || TrustStore::open(self.directories.trust_file()).0;
        let around = (project, self.directories.home.as_path());
        let outer = OuterProjects::find(&DirectoryNames::default(), around, store).roots;
        let projects = [project].into_iter().chain(outer.iter().rev().map(PathBuf::as_path));
        let user = self.directories.config_home.join("tenter/config.toml");
        [user].into_iter().chain(projects.map(|root| root.join("tenter.toml"))).collect()
    }

    /// Returns the settings of hooks in these files, the user's first, and why they cannot be read. Hooks are as strict as they can be then.
    pub(super) fn configuration(files: &[PathBuf]) -> (HookConfiguration, Option<String>) {
        let (user, of_projects) =
            files.split_first().map_or((Path::new(""), files), |(user, rest)| (user, rest));
        match HookConfiguration::read(user, of_projects) {
            Ok((configuration, _)) => (configuration, None),
            Err(error) => {
                let tables = HookTables::default();
                let (mut strict, _) =
                    HookConfiguration::resolve(HookTables::default(), &tables, user);
                strict.policies.default.fail = FailMode::Closed;
                (strict, Some(error.to_string()))
            }
        }
    }
}
