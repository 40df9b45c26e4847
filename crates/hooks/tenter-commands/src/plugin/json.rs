//! The JSON output for plugins: six fields in listings, and the record of the lock file in details.

use std::path::Path;

use serde::Serialize;
use tenter_plugins::{Installed, LockedPlugin};

use super::places::PluginLocation;

/// A plugin in a listing.
#[derive(Serialize)]
pub(super) struct PluginSummary<'p> {
    name: &'p str,
    location: &'static str,
    path: &'p Path,
    skills: &'p [String],
    recipes: &'p [String],
    hooks: &'p [String],
}

impl<'p> PluginSummary<'p> {
    pub(super) fn new(location: PluginLocation, plugin: &'p Installed) -> Self {
        let Installed { name, path, skills, recipes, hooks } = plugin;
        Self { name, location: location.as_str(), path, skills, recipes, hooks }
    }
}

/// A plugin with its record; the fields of the record are null if there is none.
#[derive(Serialize)]
pub(super) struct PluginDetails<'p> {
    #[serde(flatten)]
    listed: PluginSummary<'p>,
    source: Option<&'p str>,
    r#ref: Option<&'p str>,
    commit: Option<&'p str>,
    hash: Option<&'p str>,
    installed_at: Option<&'p str>,
}

impl<'p> PluginDetails<'p> {
    pub(super) fn new(
        location: PluginLocation,
        plugin: &'p Installed,
        locked: Option<&'p LockedPlugin>,
    ) -> Self {
        Self {
            listed: PluginSummary::new(location, plugin),
            source: locked.map(|locked| locked.source.as_str()),
            r#ref: locked.and_then(|locked| locked.reference.as_deref()),
            commit: locked.and_then(|locked| locked.commit.as_deref()),
            hash: locked.map(|locked| locked.hash.as_str()),
            installed_at: locked.map(|locked| locked.installed_at.as_str()),
        }
    }
}
