//! Lists of texts in one text.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::pattern::name_bit;

/// A list of texts without new lines. The list with one empty text is the empty one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Texts<'a> {
    #[serde(borrow)]
    lines: Cow<'a, str>,
    /// The bits of the texts as names.
    bits: u64,
}

impl Texts<'_> {
    /// Returns the list; `None` if a text has a new line.
    pub(super) fn new<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Option<Self> {
        let texts: Vec<T> = texts.into_iter().collect();
        if texts.iter().any(|text| text.as_ref().contains('\n')) {
            return None;
        }
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let bits = texts.iter().fold(0, |bits, text| bits | name_bit(text));
        Some(Self { lines: texts.join("\n").into(), bits })
    }

    /// Returns whether one of them is this name. Most names are ruled out quickly.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.bits & name_bit(name) != 0 && self.iter().any(|text| text == name)
    }

    /// Returns the bits of the texts as names.
    pub(super) fn bits(&self) -> u64 {
        self.bits
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.lines.split('\n').filter(|_| !self.is_empty())
    }
}
