//! The plugin directories of the project and the user, and finding a plugin by name.

use std::path::{Path, PathBuf};

use tenter_engine::layout::{ResourceLayout, ResourceName};
use tenter_plugins::{Installed, Plugins};
use tenter_terminal::{Env, Failure};

/// Whose plugins a directory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PluginLocation {
    /// The project's.
    Local,
    /// The user's.
    Global,
}

impl PluginLocation {
    /// Returns the name in listings.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Global => "global",
        }
    }
}

/// A directory of plugins.
#[derive(Debug, Clone)]
pub(super) struct PluginDir {
    pub(super) location: PluginLocation,
    pub(super) plugins: Plugins,
}

impl PluginDir {
    fn new(location: PluginLocation, layout: &ResourceLayout) -> Self {
        let base = match location {
            PluginLocation::Local => &layout.project,
            PluginLocation::Global => &layout.home,
        };
        Self { location, plugins: Plugins::new(layout.plugins_in(base)) }
    }

    /// Returns the project's directory, or the user's; only the user's if the project is the home directory.
    pub(super) fn chosen(env: &Env, root: &Path, global: bool) -> Self {
        let real =
            |path: &Path| -> PathBuf { path.canonicalize().unwrap_or_else(|_| path.to_owned()) };
        let layout = env.layout(root.to_owned());
        if global || real(root) == real(&env.home) {
            Self::new(PluginLocation::Global, &layout)
        } else {
            Self::new(PluginLocation::Local, &layout)
        }
    }

    /// As [`chosen`](Self::chosen), for a change. The directory of a project may be a symlink into one of the user's own, in which
    /// hooks run without trust.
    pub(super) fn to_change(env: &Env, root: &Path, global: bool) -> Result<Self, Failure> {
        let place = Self::chosen(env, root, global);
        let leaves = |directory: &Path| -> Option<PathBuf> {
            let real = directory.canonicalize().ok()?;
            (!real.starts_with(root.canonicalize().ok()?)).then_some(real)
        };
        let plugins = env.layout(root.to_owned()).plugins_in(root);
        let parent = plugins.parent().unwrap_or(root);
        let directory = leaves(parent).or_else(|| leaves(&plugins));
        match directory.filter(|_| place.location == PluginLocation::Local) {
            None => Ok(place),
            Some(real) => Err(Failure::new(format!(
                "the project's plugins would be changed in {}, which is outside of the project",
                real.display()
            ))
            .help(format!(
                "replace the symlink {} or {} with a directory, or pass -g for your own plugins",
                parent.strip_prefix(root).unwrap_or(parent).display(),
                plugins.strip_prefix(root).unwrap_or(&plugins).display()
            ))),
        }
    }

    /// Returns both directories, the project's first.
    pub(super) fn all(env: &Env, root: &Path) -> Vec<Self> {
        let (one, other) = (Self::chosen(env, root, false), Self::chosen(env, root, true));
        if one.location == other.location { vec![other] } else { vec![one, other] }
    }
}

/// An installed plugin and its directory.
#[derive(Debug)]
pub(super) struct FoundPlugin {
    pub(super) place: PluginDir,
    pub(super) plugin: Installed,
}

/// Returns the plugins of these directories, by name; the project's before the user's.
pub(super) fn installed(places: &[PluginDir]) -> Result<Vec<FoundPlugin>, Failure> {
    let mut plugins = Vec::new();
    for place in places {
        let new = place.plugins.installed().map_err(Failure::from)?.into_iter();
        plugins.extend(new.map(|plugin| FoundPlugin { place: place.clone(), plugin }));
    }
    plugins.sort_by(|one, other| one.plugin.name.cmp(&other.plugin.name));
    Ok(plugins)
}

/// Returns the failure for a plugin that is not installed.
pub(super) fn unknown(name: &str, plugins: &[FoundPlugin]) -> Failure {
    let names: Vec<&str> = plugins.iter().map(|one| one.plugin.name.as_str()).collect();
    let near = ResourceName::new(name).nearest(&names);
    let suggestion = near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
    Failure::new(format!("there is no plugin {name:?}{suggestion}"))
        .help("`tenter plugin list` lists them")
}

/// Returns the failure for a plugin that is not in the chosen directory, but may be in the other one.
pub(super) fn not_here(env: &Env, root: &Path, place: &PluginDir, name: &str) -> Failure {
    let all = installed(&PluginDir::all(env, root)).unwrap_or_default();
    let (here, elsewhere): (Vec<FoundPlugin>, Vec<FoundPlugin>) =
        all.into_iter().partition(|one| one.place.location == place.location);
    if elsewhere.iter().all(|one| one.plugin.name != name) {
        return unknown(name, &here);
    }
    let (whose, how) = match place.location {
        PluginLocation::Local => ("your own, not the project's", "pass -g for your own plugins"),
        PluginLocation::Global => {
            ("the project's, not your own", "omit -g for the project's plugins")
        }
    };
    Failure::new(format!("the plugin {name:?} is {whose}")).help(how)
}
