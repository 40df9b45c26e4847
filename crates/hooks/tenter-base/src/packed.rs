//! A part of a kept value that most processes do not need.

use std::sync::OnceLock;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A value in a compact form that is read when it is needed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Packed<T> {
    #[serde(with = "serde_bytes")]
    bytes: Vec<u8>,
    #[serde(skip, default = "OnceLock::new")]
    value: OnceLock<Option<T>>,
}

impl<T: Serialize + DeserializeOwned> Packed<T> {
    /// Packs a value. One that has no compact form cannot be read again.
    pub fn new(value: &T) -> Self {
        Self {
            bytes: postcard::to_extend(value, Vec::new()).unwrap_or_default(),
            value: OnceLock::new(),
        }
    }

    /// Returns the value; `None` if it cannot be read.
    pub fn get(&self) -> Option<&T> {
        self.value.get_or_init(|| postcard::from_bytes(&self.bytes).ok()).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::versioned;

    #[test]
    fn a_value_is_read_as_it_was_packed() {
        let value = vec!["a".to_owned(), String::new()];
        let bytes = versioned::to_bytes("1", &Packed::new(&value)).unwrap();
        let packed: Packed<Vec<String>> = versioned::from_bytes("1", &bytes).unwrap();
        assert_eq!(packed.get(), Some(&value));
        let damaged: Packed<Vec<String>> =
            Packed { bytes: vec![9, 1, b'a'], value: OnceLock::new() };
        assert_eq!(damaged.get(), None);
    }
}
