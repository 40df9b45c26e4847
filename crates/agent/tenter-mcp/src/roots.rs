//! Directories as the roots of the protocol: `file:` URIs.

#![expect(deprecated, reason = "servers use roots until the protocol removes them")]

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rmcp::model::{ListRootsResult, Root};

/// Returns the answer to `roots/list`.
pub(crate) fn listed(directories: &[PathBuf]) -> ListRootsResult {
    let root = |directory: &PathBuf| match directory.file_name() {
        Some(name) => Root::new(uri(directory)).with_name(name.to_string_lossy()),
        None => Root::new(uri(directory)),
    };
    ListRootsResult::new(directories.iter().map(root).collect())
}

/// Returns the URI of an absolute path.
fn uri(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_escaped_in_uris() {
        assert_eq!(
            uri(Path::new("/home/ada/my shop#1/ä%")),
            "file:///home/ada/my%20shop%231/%C3%A4%25"
        );
        let result = listed(&["/home/ada/shop".into(), "/".into()]);
        assert_eq!(result.roots[0].name.as_deref(), Some("shop"));
        assert_eq!((result.roots[1].uri.as_str(), &result.roots[1].name), ("file:///", &None));
    }
}
