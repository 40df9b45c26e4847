//! Lists in a compact form, whose values are read one by one without a copy.

use std::borrow::Cow;
use std::iter;

use serde::{Deserialize, Serialize};

/// A list of values in a compact form. Reading a value allocates nothing for what it borrows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PackedList<'a>(#[serde(borrow)] Cow<'a, [u8]>);

impl PackedList<'_> {
    /// Packs values.
    ///
    /// # Errors
    /// A value has a part of unknown length or of no fixed form.
    pub fn new<T: Serialize>(values: impl IntoIterator<Item = T>) -> Result<Self, postcard::Error> {
        let pack = |list, value| postcard::to_extend(&value, list);
        values.into_iter().try_fold(Vec::new(), pack).map(|list| Self(Cow::Owned(list)))
    }

    /// Returns the list with bytes of its own.
    #[must_use]
    pub fn into_owned(self) -> PackedList<'static> {
        PackedList(Cow::Owned(self.0.into_owned()))
    }

    /// Reads the values in their order; the last one is `None` if the rest cannot be read.
    pub fn iter<'v, T: Deserialize<'v>>(&'v self) -> impl Iterator<Item = Option<T>> {
        let mut rest = &*self.0;
        iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (value, tail) = postcard::take_from_bytes(rest).ok().unzip();
            rest = tail.unwrap_or_default();
            Some(value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::versioned;

    #[test]
    fn values_are_read_as_they_were_packed() {
        let list = PackedList::new(["a", ""]).unwrap();
        let bytes = versioned::to_bytes("1", &list).unwrap();
        let list: PackedList<'_> = versioned::from_bytes("1", &bytes).unwrap();
        assert_eq!(list.iter().collect::<Vec<_>>(), [Some("a"), Some("")]);
        assert_eq!(PackedList::default().iter::<&str>().count(), 0);
    }

    #[test]
    fn a_damaged_list_ends_where_it_cannot_be_read() {
        let damaged = PackedList(Cow::Borrowed(&[1, b'a', 9, b'b']));
        assert_eq!(damaged.iter().collect::<Vec<_>>(), [Some("a"), None]);
    }
}
