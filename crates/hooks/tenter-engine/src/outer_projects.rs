//! The projects around a project, whose hooks run in it, too (R89).

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use tenter_base::untrusted_file;
use tenter_protocol::{Diagnostic, Severity};

use crate::configuration::HookTables;
use crate::layout::{DirectoryNames, Marks, is_same_directory};
use crate::trust::{Fingerprint, TrustEntry, TrustStore, TrustedKind, trust_name};

/// The file with the settings of a project.
const SETTINGS_FILE: &str = "tenter.toml";

/// The projects around a project whose hooks run in it, too (R89): a directory that a command creates below a project does not
/// remove its guards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OuterProjects {
    /// Their roots, the outermost first.
    pub roots: Vec<PathBuf>,
    /// The projects within them, or the project itself, that set `root = true` without being trusted to: it has no effect.
    pub pending_roots: Vec<PathBuf>,
}

impl OuterProjects {
    /// Looks from a project, an absolute path, up to the top of its git repository, and beyond only for projects with hooks that the user trusts:
    /// `git init` hides no guard. The trust store is opened only if it matters. Another worktree of the project's repository is not around it, wherever it is.
    pub fn find(
        names: &DirectoryNames,
        (project, home): (&Path, &Path),
        open_store: impl FnOnce() -> TrustStore,
    ) -> Self {
        let store = LazyCell::new(open_store);
        let marks = Marks::new(project, home, &names.resources);
        let git_top = marks.git_top();
        let mut projects = Self::default();
        let mut inner = project;
        // Set beyond the top of the repository.
        let mut repository_top = None;
        for dir in project.ancestors() {
            let is_project = marks.has_resources(dir) || marks.has(dir, SETTINGS_FILE);
            let is_around = dir != project && is_project && !is_same_directory(dir, home);
            if is_around && repository_top.is_none_or(|top| store.has_hooks_around(dir, top)) {
                if sets_root(inner) {
                    if store.project(inner).is_trusted(&root_name(), &root_fingerprint()) {
                        break;
                    }
                    projects.pending_roots.push(inner.to_owned());
                }
                projects.roots.push(dir.to_owned());
                inner = dir;
            }
            repository_top = repository_top.or(git_top.filter(|top| *top == dir));
        }
        projects.roots.reverse();
        projects
    }

    /// Returns the warnings about settings without an effect.
    pub fn diagnostics(&self) -> impl Iterator<Item = Diagnostic> {
        self.pending_roots.iter().map(|project| {
            let message = "`root = true` has no effect, because you have not trusted it: the hooks of the projects around this one run, too";
            Diagnostic::new("project-root-untrusted", Severity::Warning, message)
                .at(project.join(SETTINGS_FILE))
                .help(format!("run `tenter trust` in {}", project.display()))
        })
    }

    /// Returns the entry with which the user trusts `root = true` of a project.
    pub fn trust_entry(project: &Path) -> TrustEntry {
        TrustEntry::new(root_name(), root_fingerprint(), &project.join(SETTINGS_FILE))
    }
}

fn root_name() -> String {
    trust_name(TrustedKind::Root, "project")
}

/// Returns the fingerprint of the setting, which is all that is trusted.
fn root_fingerprint() -> Fingerprint {
    Fingerprint("root = true".to_owned())
}

/// Returns whether the settings of a project say that no project is around it.
fn sets_root(project: &Path) -> bool {
    let text = untrusted_file::read_to_string(&project.join(SETTINGS_FILE));
    let tables = text.ok().and_then(|text| toml::from_str::<HookTables>(&text).ok());
    tables.is_some_and(|tables| tables.root == Some(true))
}
