//! The directories of a kind of resource in order of precedence (R8). Says where to look, not what is there.

use std::collections::HashMap;
use std::fs::{self, DirEntry};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tenter_protocol::{Diagnostic, Severity};

use super::entries::entries;
use super::{ResourceForm, ResourceKind, ResourceLayout, plugin_name};
use crate::layer::Layer;

/// A directory that may hold resources of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The layer of the resources in it.
    pub layer: Layer,
    /// The directory; it need not exist.
    pub dir: PathBuf,
    /// Prefix of the resources' names: empty, or `org/repo/`.
    pub prefix: String,
    /// The project or plugin that the directory must not lead out of; `None` if it may be anywhere.
    pub within: Option<PathBuf>,
    /// True if the user named the directory for this run.
    pub is_named: bool,
}

impl Root {
    /// Creates a directory that is no plugin's and may be anywhere.
    pub fn new(layer: Layer, dir: impl Into<PathBuf>) -> Self {
        Self { layer, dir: dir.into(), prefix: String::new(), within: None, is_named: false }
    }

    /// Returns the real path of the directory.
    ///
    /// # Errors
    /// The directory does not exist, or leads to this path outside of [`Root::within`].
    pub(super) fn real(&self) -> Result<PathBuf, Option<PathBuf>> {
        let real = fs::canonicalize(&self.dir).map_err(|_| None)?;
        let around = self.within.as_deref().and_then(|within| fs::canonicalize(within).ok());
        if around.is_some_and(|around| !real.starts_with(around)) {
            Err(Some(real))
        } else {
            Ok(real)
        }
    }

    /// Returns a directory that the user named for this run. It counts as the project's if it is in the project or contains it.
    pub fn named(dir: &Path, project: &Path) -> Self {
        let layer = if overlaps(dir, project) { Layer::Project } else { Layer::User };
        Self { is_named: true, ..Self::new(layer, dir) }
    }
}

impl Root {
    /// Returns the device and inode of the directory; `None` if it does not exist or leads out of [`Root::within`].
    fn identity(&self) -> Option<(u64, u64)> {
        if self.within.is_some() {
            self.real().ok()?;
        }
        let file = fs::metadata(&self.dir).ok()?;
        Some((file.dev(), file.ino()))
    }
}

/// Returns whether one of two directories contains the other, or that is unknown.
fn overlaps(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one.starts_with(&other) || other.starts_with(&one),
        _ => true,
    }
}

impl ResourceLayout {
    /// Returns every directory that may hold resources of `kind`, highest precedence first (R8). Of the projects around the
    /// project, only hooks count, before the directories of the project (R89).
    pub fn roots(&self, kind: &ResourceKind) -> (Vec<Root>, Vec<Diagnostic>) {
        let (roots, diagnostics) = self.roots_with_duplicates(kind);
        let (managed, others) = roots.into_iter().partition(|root| root.layer == Layer::Managed);
        ([managed, once_each(others)].concat(), diagnostics)
    }

    /// As [`ResourceLayout::roots`], with each directory that has two names under both of them.
    pub(crate) fn roots_with_duplicates(
        &self,
        kind: &ResourceKind,
    ) -> (Vec<Root>, Vec<Diagnostic>) {
        let (mut roots, mut diagnostics) = self.managed_roots(kind);
        for outer in self.outer.iter().filter(|_| kind.form == ResourceForm::Hook) {
            let layout = Self { project: outer.clone(), ..self.alone() };
            let (plugins, problems) = layout.plugins(Layer::ProjectPlugin, outer, kind);
            roots.extend(layout.project_roots(kind).into_iter().chain(plugins));
            diagnostics.extend(problems);
        }
        let (own, problems) = self.own_roots(kind, Vec::new());
        roots.extend(own);
        diagnostics.extend(problems);
        (roots, diagnostics)
    }

    /// Returns the managed directory of hooks, and the directories of the bundles by name, which come before all others.
    fn managed_roots(&self, kind: &ResourceKind) -> (Vec<Root>, Vec<Diagnostic>) {
        let (mut roots, mut diagnostics) = (Vec::new(), Vec::new());
        if kind.form != ResourceForm::Hook || !self.managed.exists() {
            return (roots, diagnostics);
        }
        let hooks = self.managed.hooks();
        match self.managed.verify(&hooks) {
            Ok(exists) => roots.extend(exists.then(|| Root::new(Layer::Managed, hooks))),
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
        let dir = self.managed.bundles();
        let bundles = entries(&dir).unwrap_or_else(|error| {
            let message = format!("cannot list bundles, so none of their hooks run: {error}");
            let finding = Diagnostic::new("managed-refused", Severity::Error, message);
            diagnostics.push(finding.at(&dir).help("`chmod 755` lets every user read it"));
            Vec::new()
        });
        for bundle in bundles {
            match self.managed.current_bundle(&bundle.path()) {
                Ok(version) => roots.extend(version.map(|version| Root {
                    prefix: format!("{}/", bundle.file_name().to_string_lossy()),
                    within: Some(version.clone()),
                    ..Root::new(Layer::Managed, version.join(kind.directory))
                })),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
        (roots, diagnostics)
    }

    /// As [`ResourceLayout::roots`], with the directories that the user named for this run after the directories of the project.
    pub(super) fn roots_with(
        &self,
        kind: &ResourceKind,
        extra: Vec<Root>,
    ) -> (Vec<Root>, Vec<Diagnostic>) {
        let (roots, diagnostics) = self.own_roots(kind, extra);
        (once_each(roots), diagnostics)
    }

    fn own_roots(&self, kind: &ResourceKind, extra: Vec<Root>) -> (Vec<Root>, Vec<Diagnostic>) {
        let (project_plugins, mut diagnostics) =
            self.plugins(Layer::ProjectPlugin, &self.project, kind);
        let (user_plugins, more) = self.plugins(Layer::UserPlugin, &self.home, kind);
        diagnostics.extend(more);
        let mut roots = self.project_roots(kind);
        roots.extend(extra);
        roots.extend(project_plugins);
        roots.extend(self.user_roots(kind));
        roots.extend(user_plugins);
        (roots, diagnostics)
    }

    /// Returns the directories of the project for `kind`, without plugins.
    pub fn project_roots(&self, kind: &ResourceKind) -> Vec<Root> {
        let top = kind.in_project_root.then(|| self.project.clone());
        let below = self.names.resources.iter().map(|name| self.project.join(name));
        // Trust covers where a hook's directory leads to; of other resources nothing outside of the project is read.
        let within = (kind.form != ResourceForm::Hook).then(|| self.project.clone());
        let roots = top.into_iter().chain(below).map(|dir| Root {
            within: within.clone(),
            ..Root::new(Layer::Project, dir.join(kind.directory))
        });
        roots.collect()
    }

    /// Returns the directories of the user for `kind`, without plugins.
    pub fn user_roots(&self, kind: &ResourceKind) -> Vec<Root> {
        let mut below = self.names.resources.iter().map(|name| self.home.join(name));
        let mut directories = Vec::from_iter(below.next());
        if kind.in_config_home {
            directories.push(self.config_home.join(&self.names.config));
        }
        if kind.in_all_of_home {
            directories.extend(below);
        }
        let roots = directories.into_iter();
        roots.map(|dir| Root::new(Layer::User, dir.join(kind.directory))).collect()
    }

    /// Returns the directories of the plugins of `base`, by name.
    fn plugins(
        &self,
        layer: Layer,
        base: &Path,
        kind: &ResourceKind,
    ) -> (Vec<Root>, Vec<Diagnostic>) {
        let dir = self.plugins_in(base);
        let mut roots = Vec::new();
        let mut diagnostics = Vec::new();
        match entries(&dir) {
            Ok(entries) => {
                for entry in entries {
                    match plugin(layer, &entry, kind) {
                        Ok(root) => roots.extend(root),
                        Err(diagnostic) => diagnostics.push(diagnostic),
                    }
                }
            }
            Err(error) => diagnostics.push(
                Diagnostic::new(
                    "plugins-folder-unreadable",
                    Severity::Error,
                    format!("cannot list plugins: {error}"),
                )
                .at(dir)
                .help("nothing in these plugins is used; make this a directory that you can read"),
            ),
        }
        (roots, diagnostics)
    }
}

fn plugin(layer: Layer, entry: &DirEntry, kind: &ResourceKind) -> Result<Option<Root>, Diagnostic> {
    let path = entry.path();
    let file_name = entry.file_name();
    if file_name.as_encoded_bytes().starts_with(b".") {
        return Ok(None);
    }
    let problem = |message| Diagnostic::new("plugin-unusable", Severity::Error, message).at(&path);
    let metadata = fs::metadata(&path)
        .map_err(|error| problem(format!("cannot read this plugin: {error}")))?;
    if !metadata.is_dir() {
        return Ok(None);
    }
    let Some(name) = file_name.to_str() else {
        return Err(problem(
            "the name of this plugin's directory is not UTF-8, so nothing in it can be named"
                .to_owned(),
        ));
    };
    Ok(Some(Root {
        prefix: format!("{}/", plugin_name(name)),
        within: (kind.form != ResourceForm::Hook).then(|| path.clone()),
        ..Root::new(layer, path.join(kind.directory))
    }))
}

/// Removes directories that another root leads to as well; those that lead outside are kept, to be reported. A directory that is both
/// the project's and the user's own counts as the user's: in the home directory, `.kodelet/hooks` and `~/.kodelet/hooks` are one.
fn once_each(roots: Vec<Root>) -> Vec<Root> {
    let identities: Vec<_> = roots.iter().map(Root::identity).collect();
    let mut first_roots = HashMap::new();
    for (index, identity) in identities.iter().enumerate() {
        let Some(identity) = identity else { continue };
        let earlier = first_roots.entry(*identity).or_insert(index);
        if roots[*earlier].layer.needs_trust() && !roots[index].layer.needs_trust() {
            *earlier = index;
        }
    }
    let is_chosen = |index: usize| identities[index].is_none_or(|one| first_roots[&one] == index);
    let choices: Vec<bool> = (0..roots.len()).map(is_chosen).collect();
    roots
        .into_iter()
        .zip(choices)
        .filter_map(|(root, is_chosen)| is_chosen.then_some(root))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::layout::{DirectoryNames, HOOKS, RECIPES, SKILLS};

    fn layout(base: &Path) -> ResourceLayout {
        ResourceLayout::new(base.join("project"), base.join("home"), base.join("home/.config"))
    }

    fn listed(base: &Path, layout: &ResourceLayout) -> Vec<(Layer, String, String)> {
        let summary = |root: Root| {
            (
                root.layer,
                root.dir.strip_prefix(base).unwrap().to_str().unwrap().to_owned(),
                root.prefix,
            )
        };
        layout.roots(&HOOKS).0.into_iter().map(summary).collect()
    }

    #[test]
    fn roots_are_ordered_by_layer_and_plugins_by_name() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path();
        for plugin in
            ["project/.kodelet/plugins/zoe@tools", "project/.kodelet/plugins/acme@guard@2"]
        {
            fs::create_dir_all(base.join(plugin)).unwrap();
        }
        for plugin in ["home/.kodelet/plugins/local", "home/.kodelet/plugins/.staging"] {
            fs::create_dir_all(base.join(plugin)).unwrap();
        }
        fs::write(base.join("home/.kodelet/plugins/README"), "").unwrap();
        let expected = [
            (Layer::Project, "project/.kodelet/hooks", ""),
            (Layer::Project, "project/.agents/hooks", ""),
            (Layer::ProjectPlugin, "project/.kodelet/plugins/acme@guard@2/hooks", "acme/guard@2/"),
            (Layer::ProjectPlugin, "project/.kodelet/plugins/zoe@tools/hooks", "zoe/tools/"),
            (Layer::User, "home/.kodelet/hooks", ""),
            (Layer::User, "home/.config/agents/hooks", ""),
            (Layer::UserPlugin, "home/.kodelet/plugins/local/hooks", "local/"),
        ];
        let expected =
            expected.map(|(layer, dir, prefix)| (layer, dir.to_owned(), prefix.to_owned()));
        assert_eq!(listed(base, &layout(base)), expected);
    }

    #[test]
    fn hooks_of_a_project_in_the_home_directory_are_the_users() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path();
        fs::create_dir_all(base.join("home/.kodelet/hooks")).unwrap();
        fs::create_dir_all(base.join("home/.kodelet/plugins/a@b/hooks")).unwrap();
        let layout = ResourceLayout { project: base.join("home"), ..layout(base) };
        let layers: Vec<Layer> =
            listed(base, &layout).into_iter().map(|(layer, ..)| layer).collect();
        // The first is `.agents/hooks`, which is not a directory of the user.
        assert_eq!(layers, [Layer::Project, Layer::User, Layer::User, Layer::UserPlugin]);
    }

    #[test]
    fn a_directory_with_two_names_counts_once() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path();
        fs::create_dir_all(base.join("project/.kodelet/hooks")).unwrap();
        fs::create_dir_all(base.join("project/.agents")).unwrap();
        symlink("../.kodelet/hooks", base.join("project/.agents/hooks")).unwrap();
        let dirs: Vec<String> =
            listed(base, &layout(base)).into_iter().map(|(_, dir, _)| dir).collect();
        assert_eq!(
            dirs,
            ["project/.kodelet/hooks", "home/.kodelet/hooks", "home/.config/agents/hooks"]
        );
    }

    #[test]
    fn reports_plugins_that_cannot_be_listed() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path();
        fs::create_dir_all(base.join("home/.kodelet")).unwrap();
        fs::write(base.join("home/.kodelet/plugins"), "a file").unwrap();
        let (roots, diagnostics) = layout(base).roots(&HOOKS);
        assert_eq!(roots.len(), 4);
        assert_eq!(diagnostics.len(), 1);
        assert_eq!(diagnostics[0].path, Some(base.join("home/.kodelet/plugins")));
    }

    #[test]
    fn every_kind_has_its_directories_and_their_names_can_be_changed() {
        let names =
            DirectoryNames { resources: vec![".one".into(), ".two".into()], config: "c".into() };
        let layout = ResourceLayout::new("/project", "/home", "/config").with_names(names);
        let dirs = |kind| -> Vec<String> {
            let roots = layout.roots(kind).0;
            roots.into_iter().map(|root| root.dir.to_str().unwrap().to_owned()).collect()
        };
        let hooks =
            ["/project/.one/hooks", "/project/.two/hooks", "/home/.one/hooks", "/config/c/hooks"];
        assert_eq!(dirs(&HOOKS), hooks);
        let skills = [
            "/project/.one/skills",
            "/project/.two/skills",
            "/home/.one/skills",
            "/config/c/skills",
            "/home/.two/skills",
        ];
        assert_eq!(dirs(&SKILLS), skills);
        let recipes = [
            "/project/recipes",
            "/project/.one/recipes",
            "/project/.two/recipes",
            "/home/.one/recipes",
        ];
        assert_eq!(dirs(&RECIPES), recipes);
    }
}
