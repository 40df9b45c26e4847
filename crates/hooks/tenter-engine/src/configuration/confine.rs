//! The table `[confine]`: the user's profiles of confinements (F1).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tenter_protocol::confinement::{Confinement, NetworkAccess, Otherwise};

use super::sandbox_runtime::{self, ConfineProfile};

/// The table `[confine]` of a configuration file.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConfineTable {
    profiles: BTreeMap<String, ProfileTable>,
}

/// One `[confine.profiles.NAME]`: the fields of a confinement, or the settings of Anthropic's sandbox runtime.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ProfileTable {
    write: Option<Vec<String>>,
    write_not: Vec<String>,
    read_not: Vec<String>,
    network: NetworkAccess,
    otherwise: Option<Otherwise>,
    sandbox_runtime: Option<PathBuf>,
}

impl ConfineTable {
    /// Returns true if there are no profiles.
    pub fn is_empty(&self) -> bool {
        self.profiles.is_empty()
    }

    /// Returns the names of the profiles.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.profiles.keys().map(String::as_str)
    }

    /// Returns the profile `name`. `home` is the user's home directory.
    ///
    /// # Errors
    /// The imported settings cannot be read.
    pub fn profile(&self, name: &str, home: &Path) -> Result<Option<ConfineProfile>, String> {
        let Some(table) = self.profiles.get(name) else { return Ok(None) };
        let mut profile = match &table.sandbox_runtime {
            Some(path) => sandbox_runtime::read(&in_home(path, home))?,
            None => ConfineProfile { confinement: Confinement::default(), not_kept: Vec::new() },
        };
        let Confinement { write, write_not, read_not, network, .. } = &mut profile.confinement;
        if table.write.is_some() {
            write.clone_from(&table.write);
        }
        write_not.extend(table.write_not.iter().cloned());
        read_not.extend(table.read_not.iter().cloned());
        // Of two lists of hosts, the profile's own.
        let is_replaced = matches!(
            (&*network, &table.network),
            (NetworkAccess::Allow(_), NetworkAccess::Allow(_))
        );
        if is_replaced || table.network > *network {
            network.clone_from(&table.network);
        }
        profile.confinement.otherwise = table.otherwise;
        profile.confinement.profile = Some(name.to_owned());
        Ok(Some(profile))
    }
}

/// The user's profiles of confinements, and the home directory for their paths.
#[derive(Debug, Default, Clone)]
pub struct ConfineProfiles {
    /// The table with the profiles.
    pub table: ConfineTable,
    /// The user's home directory.
    pub home: PathBuf,
}

impl ConfineProfiles {
    /// Returns the confinements that this one means, without references to profiles other than as names.
    ///
    /// # Errors
    /// There is no profile of its name, or the settings that the profile imports cannot be read.
    pub fn expand(&self, confinement: Confinement) -> Result<Vec<Confinement>, String> {
        let name = confinement.profile.clone().unwrap_or_default();
        let profile = self.table.profile(&name, &self.home)?.map(|profile| profile.confinement);
        confinement
            .resolve(|_| profile.clone())
            .map_err(|name| format!("there is no profile {name:?} to confine it with"))
    }
}

fn in_home(path: &Path, home: &Path) -> PathBuf {
    path.strip_prefix("~").map_or_else(|_| path.to_owned(), |rest| home.join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_has_the_fields_of_a_confinement() {
        let table: ConfineTable = toml::from_str(
            "[profiles.offline]\nwrite = [\"project\"]\nnetwork = \"none\"\notherwise = \"deny\"\n",
        )
        .unwrap();
        let profile = table.profile("offline", Path::new("/home/ada")).unwrap().unwrap();
        assert_eq!(profile.confinement.write.unwrap(), ["project"]);
        assert_eq!(profile.confinement.network, NetworkAccess::None);
        assert_eq!(profile.confinement.otherwise, Some(Otherwise::Deny));
        assert_eq!(profile.confinement.profile.as_deref(), Some("offline"));
        assert_eq!(table.profile("other", Path::new("/")), Ok(None));
    }

    #[test]
    fn settings_of_the_sandbox_runtime_are_a_profile() {
        let home = tempfile::tempdir().unwrap();
        let settings = r#"{"filesystem": {"allowWrite": ["."]}, "network": {"httpProxyPort": 1}}"#;
        std::fs::write(home.path().join("srt.json"), settings).unwrap();
        let table: ConfineTable =
            toml::from_str("[profiles.srt]\nsandbox_runtime = \"~/srt.json\"\n").unwrap();
        let profile = table.profile("srt", home.path()).unwrap().unwrap();
        assert_eq!(profile.confinement.write.unwrap(), ["project"]);
        assert_eq!(profile.not_kept, ["network.httpProxyPort"]);
    }
}
