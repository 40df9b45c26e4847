//! The two folders of plugins, and how a plugin is found by its name.

use std::path::{Path, PathBuf};

use tenter_engine::layout::{Layout, ResourceName};
use tenter_plugins::{Installed, Plugins};

use crate::env::Env;
use crate::failure::Failure;

/// Whose plugins they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Location {
    /// The project's.
    Local,
    /// The person's.
    Global,
}

impl Location {
    /// The word for it in listings.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Global => "global",
        }
    }
}

/// A folder of plugins and whose it is.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) location: Location,
    pub(super) plugins: Plugins,
}

impl Place {
    fn new(location: Location, layout: &Layout) -> Self {
        let base = match location {
            Location::Local => &layout.project,
            Location::Global => &layout.home,
        };
        Self { location, plugins: Plugins::new(layout.plugins_in(base)) }
    }

    /// The project's folder, or the person's. A project that is the home folder has the person's alone.
    pub(super) fn chosen(env: &Env, root: &Path, global: bool) -> Self {
        let real =
            |path: &Path| -> PathBuf { path.canonicalize().unwrap_or_else(|_| path.to_owned()) };
        let layout = env.places(root.to_owned());
        if global || real(root) == real(&env.home) {
            Self::new(Location::Global, &layout)
        } else {
            Self::new(Location::Local, &layout)
        }
    }

    /// The same for a change. A project may come with a link in the place of its folder, and what is installed through it may
    /// become the person's own, which runs without being trusted.
    pub(super) fn to_change(env: &Env, root: &Path, global: bool) -> Result<Self, Failure> {
        let place = Self::chosen(env, root, global);
        let leaves = |folder: &&str| -> Option<PathBuf> {
            let real = root.join(folder).canonicalize().ok()?;
            (!real.starts_with(root.canonicalize().ok()?)).then_some(real)
        };
        let left = [".kodelet", ".kodelet/plugins"].iter().find_map(leaves);
        match left.filter(|_| place.location == Location::Local) {
            None => Ok(place),
            Some(real) => Err(Failure::new(format!(
                "the project's plugins would be changed in {}, which is outside of the project",
                real.display()
            ))
            .help("put a folder in the place of the link .kodelet or .kodelet/plugins; -g is for your own plugins")),
        }
    }

    /// Both folders, the project's first.
    pub(super) fn all(env: &Env, root: &Path) -> Vec<Self> {
        let (one, other) = (Self::chosen(env, root, false), Self::chosen(env, root, true));
        if one.location == other.location { vec![other] } else { vec![one, other] }
    }
}

/// A plugin that is there, and whose it is.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) place: Place,
    pub(super) plugin: Installed,
}

/// The plugins of these places, by name; of one name, the project's first.
pub(super) fn installed(places: &[Place]) -> Result<Vec<Found>, Failure> {
    let mut found = Vec::new();
    for place in places {
        let plugins = place.plugins.installed().map_err(Failure::from)?;
        found.extend(plugins.into_iter().map(|plugin| Found { place: place.clone(), plugin }));
    }
    found.sort_by(|one, other| one.plugin.name.cmp(&other.plugin.name));
    Ok(found)
}

/// The failure for a plugin that is not among `found`.
pub(super) fn unknown(name: &str, found: &[Found]) -> Failure {
    let names: Vec<&str> = found.iter().map(|found| found.plugin.name.as_str()).collect();
    let near = ResourceName::new(name).nearest(&names);
    let meant = near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
    Failure::new(format!("there is no plugin {name:?}{meant}"))
        .help("`tenter plugin list` shows which there are")
}

/// The failure for a plugin that is not in the chosen folder, which may be in the other one.
pub(super) fn not_here(env: &Env, root: &Path, place: &Place, name: &str) -> Failure {
    let all = installed(&Place::all(env, root)).unwrap_or_default();
    let (here, elsewhere): (Vec<Found>, Vec<Found>) =
        all.into_iter().partition(|found| found.place.location == place.location);
    if elsewhere.iter().all(|found| found.plugin.name != name) {
        return unknown(name, &here);
    }
    let (whose, how) = match place.location {
        Location::Local => ("your own, not the project's", "give -g for your own plugins"),
        Location::Global => {
            ("the project's, not your own", "leave -g out for the project's plugins")
        }
    };
    Failure::new(format!("the plugin {name:?} is {whose}")).help(how)
}
