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
        lock: Option<&'p LockedPlugin>,
    ) -> Self {
        Self {
            listed: PluginSummary::new(location, plugin),
            source: lock.map(|lock| lock.source.as_str()),
            r#ref: lock.and_then(|lock| lock.reference.as_deref()),
            commit: lock.and_then(|lock| lock.commit.as_deref()),
            hash: lock.map(|lock| lock.hash.as_str()),
            installed_at: lock.map(|lock| lock.installed_at.as_str()),
        }
    }
}
