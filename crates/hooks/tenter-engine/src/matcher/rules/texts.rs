//! Lists of texts in one text.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// A list of texts without new lines. The list with one empty text is the empty one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Texts<'a>(#[serde(borrow)] Cow<'a, str>);

impl Texts<'_> {
    /// Returns the list; `None` if a text has a new line.
    pub(super) fn new<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Option<Self> {
        let texts: Vec<T> = texts.into_iter().collect();
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let has_lines = texts.iter().any(|text| text.contains('\n'));
        (!has_lines).then(|| Self(texts.join("\n").into()))
    }

    pub(super) fn contains(&self, text: &str) -> bool {
        self.iter().any(|one| one == text)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split('\n').filter(|_| !self.is_empty())
    }
}
