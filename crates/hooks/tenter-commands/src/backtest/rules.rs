//! The hooks that judge past calls: the installed ones, guards of this program, or those in a directory.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tenter_backtest::HookSet;
use tenter_engine::inspect::Catalog;
use tenter_engine::layout::DirectoryNames;
use tenter_engine::trust::TrustStore;
use tenter_engine::{Directories, EngineBuilder, Layer};
use tenter_terminal::{Failure, ui};

use super::revision::RevisionHooks;
use super::{Args, GuardText, GuardTexts};
use crate::project::Project;
use crate::trust::note_untrusted;

/// The word for the installed hooks.
const INSTALLED: &str = "installed";
/// The name of the directory of hooks in a scratch configuration.
const HOOKS: &str = "agents/hooks";

/// The hooks that judge.
pub(super) struct RuleSource<'p> {
    project: &'p Project<'p>,
    /// The hooks of a scratch configuration; `None` for the installed ones.
    scratch: Option<ScratchHooks>,
}

/// Hooks in a directory of their own, which is removed with the value.
struct ScratchHooks {
    directory: TempDir,
    catalog: Catalog,
}

impl<'p> RuleSource<'p> {
    /// Finds the hooks that the arguments name.
    pub(super) fn new(
        project: &'p Project<'p>,
        args: &Args,
        guards: &GuardTexts,
    ) -> Result<Self, Failure> {
        if let Some(directory) = &args.with {
            let rules = Self::in_directory(project, &project.env.cwd.join(directory))?;
            if rules.names().is_empty() {
                let failure = Failure::usage(format!("{} has no hooks", directory.display()));
                return Err(failure.help("name a directory of hooks, such as .agents/hooks"));
            }
            return Ok(rules);
        }
        if args.guard.is_empty() {
            Ok(Self::installed(project))
        } else {
            Self::from_guards(project, &guards(&args.guard)?)
        }
    }

    /// Finds a set of hooks: `installed`, a directory, or a git revision.
    pub(super) fn parse(project: &'p Project<'p>, text: &str) -> Result<Self, Failure> {
        let directory = project.env.cwd.join(text);
        if text == INSTALLED {
            return Ok(Self::installed(project));
        }
        if directory.is_dir() {
            return Self::in_directory(project, &directory);
        }
        let hooks = RevisionHooks::read(project, text)?;
        let fill = |directory: &Path| hooks.write(directory);
        Ok(Self { project, scratch: Some(ScratchHooks::new(project, None, fill)?) })
    }

    /// Returns the hooks that run in each project.
    pub(super) fn installed(project: &'p Project<'p>) -> Self {
        Self { project, scratch: None }
    }

    /// Returns the hooks in a directory.
    pub(super) fn in_directory(project: &'p Project<'p>, hooks: &Path) -> Result<Self, Failure> {
        if !hooks.is_dir() {
            return Err(Failure::usage(format!("{} is not a directory", hooks.display())));
        }
        let fill = |directory: &Path| symlink(hooks, directory);
        Ok(Self { project, scratch: Some(ScratchHooks::new(project, Some(hooks), fill)?) })
    }

    /// Returns these guards of the program.
    pub(super) fn from_guards(
        project: &'p Project<'p>,
        texts: &[GuardText],
    ) -> Result<Self, Failure> {
        let fill = |directory: &Path| {
            texts.iter().try_for_each(|(name, text)| {
                let hook = directory.join(name);
                fs::create_dir_all(&hook)?;
                fs::write(hook.join("HOOK.md"), text)
            })
        };
        Ok(Self { project, scratch: Some(ScratchHooks::new(project, None, fill)?) })
    }

    /// Returns the hooks for the calls of the project at `root`, which may no longer exist.
    pub(super) fn hooks(&self, root: &Path) -> HookSet {
        if let Some(scratch) = &self.scratch {
            let builder = scratch.builder(self.project, root);
            return HookSet { builder, catalog: scratch.catalog.clone() };
        }
        let other =
            (root != self.project.root()).then(|| Project::open(self.project.env, Some(root)));
        let other = other.and_then(Result::ok);
        let project = other.as_ref().unwrap_or(self.project);
        let builder = project.engine_builder_at(root);
        let (catalog, _) = builder.load_without_queries(&project.trust);
        HookSet { builder, catalog }
    }

    /// Notes that hooks of the current project are not trusted, or that there are none.
    pub(super) fn note_missing(&self) {
        let HookSet { catalog, .. } = self.hooks(self.project.root());
        if !note_untrusted(&catalog) && self.names().is_empty() {
            ui::note(
                "You have no hooks. `--guard NAME` judges with a guard: `tenter guard list` lists them.",
            );
        }
    }

    /// Returns the names of the hooks of the current project, without the built-in ones.
    pub(super) fn names(&self) -> BTreeSet<String> {
        let HookSet { catalog, .. } = self.hooks(self.project.root());
        let hooks = catalog.hooks().iter().filter(|hook| hook.layer != Layer::BuiltIn);
        hooks.map(|hook| hook.name.clone()).collect()
    }
}

impl ScratchHooks {
    /// Creates the directory, in which `fill` creates the directory of hooks. `origin` is where they come from.
    fn new(
        project: &Project<'_>,
        origin: Option<&Path>,
        fill: impl FnOnce(&Path) -> std::io::Result<()>,
    ) -> Result<Self, Failure> {
        let failure = |error| Failure::new(format!("cannot create a scratch directory: {error}"));
        let directory = TempDir::with_prefix("tenter-backtest-").map_err(failure)?;
        fs::create_dir(directory.path().join("agents")).map_err(failure)?;
        fill(&directory.path().join(HOOKS)).map_err(failure)?;
        let mut scratch = Self { directory, catalog: Catalog::default() };
        let builder = scratch.builder(project, project.root());
        let (catalog, mut diagnostics) = builder.load_without_queries(&no_trust());
        let hooks = scratch.directory.path().join(HOOKS);
        for path in diagnostics.iter_mut().filter_map(|diagnostic| diagnostic.path.as_mut()) {
            if let Ok(inner) = path.strip_prefix(&hooks) {
                *path = origin.unwrap_or(Path::new("")).join(inner);
            }
        }
        ui::diagnostics(&diagnostics);
        scratch.catalog = catalog;
        Ok(scratch)
    }

    /// Builds engines that find only the hooks in the directory.
    fn builder(&self, project: &Project<'_>, root: &Path) -> EngineBuilder {
        let mut directories: Directories = project.env.directories();
        self.directory.path().clone_into(&mut directories.config_home);
        directories.cache = None;
        let names = DirectoryNames { resources: Vec::new(), config: "agents".to_owned() };
        project.engine_builder_at(root).directories(directories).directory_names(names)
    }
}

/// Returns a store in which nothing is trusted: scratch hooks are the user's.
fn no_trust() -> TrustStore {
    TrustStore::open(PathBuf::from("/dev/null/trust")).0
}
