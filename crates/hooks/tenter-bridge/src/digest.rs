//! Digests of texts, as names of files and records, and ids that are replaced by their digest if they are too long (R83).

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};
use tenter_base::hex;

/// Maximum length of a name or an id, in bytes: a longer one is known by its digest.
pub(crate) const MAX_ID: usize = 256;

/// Returns a name for these texts, of letters and digits.
pub(crate) fn digest(texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    hex(&hasher.finalize())
}

/// Returns an id or name of limited length: itself, or its digest.
pub(crate) fn short_id(id: &str) -> Cow<'_, str> {
    if id.len() <= MAX_ID { id.into() } else { digest(&[id]).into() }
}
