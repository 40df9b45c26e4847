//! JSON whose text is kept as it was written: payloads are written once, and replies are read by the reader of the one-shot form.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::json;

/// A JSON value as text without line breaks. Equal if the texts are.
#[derive(Clone)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    /// Creates the JSON of `value`.
    pub fn new<T: Serialize + ?Sized>(value: &T) -> Self {
        Self::parse(json::to_string(value)).unwrap_or_else(Self::null)
    }

    /// Returns `null`.
    pub fn null() -> Self {
        Self(RawValue::NULL.to_owned())
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// Returns true if it is `null`.
    pub fn is_null(&self) -> bool {
        self.text() == "null"
    }

    /// Returns true if it is an object.
    pub fn is_object(&self) -> bool {
        self.text().starts_with('{')
    }

    /// Reads the value.
    ///
    /// # Errors
    /// The value does not have this type, or repeats a field of it.
    pub fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        json::read_as(self.text().as_bytes())
    }

    fn parse(text: String) -> Option<Self> {
        RawValue::from_string(text).ok().map(Self)
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for RawJson {}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self)
    }
}
