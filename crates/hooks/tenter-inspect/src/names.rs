//! Texts that many runs share, each stored once.

use std::collections::HashMap;

/// A text in [`Names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NameId(u32);

/// A set of texts.
#[derive(Debug, Default)]
pub(crate) struct Names {
    texts: Vec<String>,
    ids: HashMap<String, NameId>,
}

impl Names {
    /// Returns the id of a text, which is stored if it is new.
    pub(crate) fn id(&mut self, text: &str) -> NameId {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        // A journal of 4 billion names does not fit into memory.
        let id = NameId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        self.texts.push(text.to_owned());
        self.ids.insert(text.to_owned(), id);
        id
    }

    /// Returns the id of a text, if it is stored.
    pub(crate) fn find(&self, text: &str) -> Option<NameId> {
        self.ids.get(text).copied()
    }

    /// Returns the text with this id.
    pub(crate) fn text(&self, id: NameId) -> &str {
        self.texts.get(id.0 as usize).map_or("", String::as_str)
    }
}
