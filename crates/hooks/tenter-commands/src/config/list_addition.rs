//! Items that are added to a list in the user's configuration file.

use std::path::Path;

use tenter_settings::SettingsOwner;
use tenter_settings::keys::SettingKey;
use tenter_terminal::{Env, Failure};
use toml_edit::Array;

use super::file::ConfigFile;
use super::{document, values};

/// Items that are added to a list in the user's configuration file, which is not written yet.
pub(crate) struct ListAddition {
    file: ConfigFile,
    /// The text of the file.
    pub(crate) before: String,
    /// The text with the items.
    pub(crate) after: String,
}

impl ListAddition {
    /// Adds `items` to the list `key`, without those that it has.
    ///
    /// # Errors
    /// The file cannot be read, or is not valid.
    pub(crate) fn new(
        env: &Env,
        root: &Path,
        key: &str,
        items: &[String],
    ) -> Result<Self, Failure> {
        let file = ConfigFile::new(env, root, SettingsOwner::User);
        let key = SettingKey::parse(key)?;
        let before = file.read()?;
        let invalid = || Failure::new(format!("{} is not valid", file.path.display()));
        let table: toml::Table = before.parse().map_err(|_| invalid())?;
        let present = values::find(&table, &key).and_then(toml::Value::as_array);
        let present = present.into_iter().flatten().filter_map(toml::Value::as_str);
        let mut list: Vec<&str> = present.collect();
        for item in items {
            if !list.contains(&item.as_str()) {
                list.push(item);
            }
        }
        let array: Array = list.into_iter().collect();
        let after = document::set(&before, &key, array.into()).map_err(|_| invalid())?;
        Ok(Self { file, before, after })
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.file.path
    }

    /// Writes the file, if it is still as it was read.
    ///
    /// # Errors
    /// The file changed, would not be valid, or cannot be written.
    pub(crate) fn write(&self, env: &Env) -> Result<(), Failure> {
        let _lock = ConfigFile::lock(env)?;
        if self.file.read()? != self.before {
            let message = format!("{} changed in the meantime", self.file.path.display());
            return Err(Failure::new(message).help("run the command again"));
        }
        self.file.check(&self.after)?;
        self.file.replace(&self.after)
    }
}
