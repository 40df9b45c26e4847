//! Keys of model providers that programs printed. A program runs once per process.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tenter_http::Key;
use tenter_terminal::Failure;

/// Keys that programs printed, by provider.
#[derive(Debug, Default)]
pub struct KeyRing(Mutex<BTreeMap<String, Key>>);

impl KeyRing {
    /// Returns the provider's key; `print` is called if it is not known yet.
    pub fn get_or_print(
        &self,
        provider: &str,
        print: impl FnOnce() -> Result<Key, Failure>,
    ) -> Result<Key, Failure> {
        let mut keys = self.keys();
        if let Some(key) = keys.get(provider) {
            return Ok(key.clone());
        }
        let key = print()?;
        keys.insert(provider.to_owned(), key.clone());
        Ok(key)
    }

    /// Returns the keys, which must not reach a record.
    pub fn secrets(&self) -> Vec<String> {
        self.keys().values().map(|key| key.reveal().to_owned()).collect()
    }

    fn keys(&self) -> MutexGuard<'_, BTreeMap<String, Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
