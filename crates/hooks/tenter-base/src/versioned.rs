//! Values that are kept between processes, in a compact form that is quick to read. Only the version that wrote them reads them.

use serde::{Deserialize, Serialize};

/// Returns the bytes of a value, with a version before it.
///
/// # Errors
/// The value has a part of unknown length or of no fixed form.
pub fn to_bytes<T: Serialize>(version: &str, value: &T) -> Result<Vec<u8>, postcard::Error> {
    postcard::to_extend(&(version, value), Vec::new())
}

/// Reads a value that this version wrote; `None` if another wrote it, or if the bytes are damaged.
pub fn from_bytes<'a, T: Deserialize<'a>>(version: &str, bytes: &'a [u8]) -> Option<T> {
    let (writer, rest) = postcard::take_from_bytes::<&str>(bytes).ok()?;
    if writer != version {
        return None;
    }
    let (value, rest) = postcard::take_from_bytes(rest).ok()?;
    rest.is_empty().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_version_that_wrote_a_value_reads_it() {
        let value = (vec!["a".to_owned()], Some(7_u64));
        let bytes = to_bytes("1", &value).unwrap();
        assert_eq!(from_bytes("1", &bytes), Some(value));
        assert_eq!(from_bytes::<(Vec<String>, Option<u64>)>("2", &bytes), None);
        for damaged in [&bytes[..bytes.len() - 1], &[&bytes[..], &[0]].concat(), b"", b"{}"] {
            assert_eq!(from_bytes::<(Vec<String>, Option<u64>)>("1", damaged), None);
        }
    }
}
