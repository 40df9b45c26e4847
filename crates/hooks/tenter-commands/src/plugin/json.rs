//! The JSON output for plugins: six fields in listings, and the record of the lock file in details.

use serde_json::{Value, json};
use tenter_plugins::{Installed, LockedPlugin};

use super::places::PluginLocation;

/// Returns a plugin in a listing.
pub(super) fn summary(location: PluginLocation, plugin: &Installed) -> Value {
    let Installed { name, path, skills, recipes, hooks } = plugin;
    json!({
        "name": name,
        "location": location.as_str(),
        "path": path.to_string_lossy(),
        "skills": skills,
        "recipes": recipes,
        "hooks": hooks,
    })
}

/// Returns a plugin with its record; the fields of the record are null if there is none.
pub(super) fn details(
    location: PluginLocation,
    plugin: &Installed,
    lock: Option<&LockedPlugin>,
) -> Value {
    let mut object = summary(location, plugin);
    object["source"] = json!(lock.map(|lock| &lock.source));
    object["ref"] = json!(lock.map(|lock| &lock.reference));
    object["commit"] = json!(lock.map(|lock| &lock.commit));
    object["hash"] = json!(lock.map(|lock| &lock.hash));
    object["installed_at"] = json!(lock.map(|lock| &lock.installed_at));
    object
}
