//! What `--json` says of a plugin: the document's six fields, and where more is asked for, what the lock file records.

use std::path::Path;

use serde::Serialize;
use tenter_plugins::{Installed, Locked};

use super::places::Location;

/// A plugin in a listing.
#[derive(Serialize)]
pub(super) struct Listed<'p> {
    name: &'p str,
    location: &'static str,
    path: &'p Path,
    skills: &'p [String],
    recipes: &'p [String],
    hooks: &'p [String],
}

impl<'p> Listed<'p> {
    pub(super) fn new(location: Location, plugin: &'p Installed) -> Self {
        let Installed { name, path, skills, recipes, hooks } = plugin;
        Self { name, location: location.as_str(), path, skills, recipes, hooks }
    }
}

/// A plugin with its origin, all of which is null where none is recorded.
#[derive(Serialize)]
pub(super) struct Shown<'p> {
    #[serde(flatten)]
    listed: Listed<'p>,
    source: Option<&'p str>,
    r#ref: Option<&'p str>,
    commit: Option<&'p str>,
    hash: Option<&'p str>,
    installed_at: Option<&'p str>,
}

impl<'p> Shown<'p> {
    pub(super) fn new(
        location: Location,
        plugin: &'p Installed,
        locked: Option<&'p Locked>,
    ) -> Self {
        Self {
            listed: Listed::new(location, plugin),
            source: locked.map(|locked| locked.source.as_str()),
            r#ref: locked.and_then(|locked| locked.reference.as_deref()),
            commit: locked.and_then(|locked| locked.commit.as_deref()),
            hash: locked.map(|locked| locked.hash.as_str()),
            installed_at: locked.map(|locked| locked.installed_at.as_str()),
        }
    }
}
