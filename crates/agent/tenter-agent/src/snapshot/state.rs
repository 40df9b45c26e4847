//! The state of a file, and of all files of a project, at one moment.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tenter_base::FileStamp;

/// The state of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// The SHA-256 of its content.
        content: String,
        /// Its size in bytes.
        size: u64,
        /// Its permission bits.
        mode: u32,
    },
    /// A symlink.
    Link {
        /// The path that it points to.
        target: StoredPath,
    },
    /// A directory.
    Directory {
        /// Its permission bits.
        mode: u32,
    },
    /// Something that cannot be restored.
    Unknown {
        /// The reason.
        reason: UnknownReason,
        /// Its metadata, which shows whether it changed.
        stamp: Option<FileStamp>,
    },
}

impl FileState {
    /// Returns whether it can be restored.
    pub fn is_known(&self) -> bool {
        !matches!(self, Self::Unknown { .. })
    }
}

/// The reason why a file cannot be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownReason {
    /// The file is too large.
    TooLarge,
    /// The project has too many or too large files.
    TooMany,
    /// The file cannot be read.
    Unreadable,
    /// It is a pipe, a socket or a device.
    Special,
    /// It may have existed before, where nothing was recorded.
    NotSeen,
}

impl UnknownReason {
    /// Returns the reason in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TooLarge => "it is too large",
            Self::TooMany => "the project has too many files",
            Self::Unreadable => "it cannot be read",
            Self::Special => "it is not a regular file",
            Self::NotSeen => "it is not known what it was before",
        }
    }
}

/// The files of a project at one moment.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ProjectSurvey {
    pub(super) files: BTreeMap<StoredPath, SurveyedFile>,
}

/// A file of a survey.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SurveyedFile {
    pub(super) state: FileState,
    /// Its metadata, if it shows whether the file changed.
    pub(super) stamp: Option<FileStamp>,
    /// Its device and inode.
    pub(super) identity: (u64, u64),
}

impl ProjectSurvey {
    /// Returns the device and inode of each file.
    pub(super) fn identities(&self) -> BTreeSet<(u64, u64)> {
        self.files.values().map(|file| file.identity).collect()
    }
}

/// A path as JSON: bytes that are not UTF-8 are written as `\xHH`, a backslash as two.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoredPath(pub PathBuf);

impl StoredPath {
    fn encode(&self) -> Cow<'_, str> {
        match self.0.to_str() {
            Some(text) if !text.contains('\\') => Cow::Borrowed(text),
            _ => Cow::Owned(encode(&self.0)),
        }
    }
}

impl From<&Path> for StoredPath {
    fn from(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

fn encode(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

fn decode(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        if let Some(after) = escape.strip_prefix('\\') {
            bytes.push(b'\\');
            rest = after;
        } else {
            let digits = escape.strip_prefix('x')?;
            bytes.push(u8::from_str_radix(digits.get(..2)?, 16).ok()?);
            rest = &digits[2..];
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

impl Serialize for StoredPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.encode())
    }
}

impl<'de> Deserialize<'de> for StoredPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        decode(&text).map(Self).ok_or_else(|| D::Error::custom("an invalid path"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn paths_survive_json(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            let path = StoredPath(PathBuf::from(OsString::from_vec(bytes)));
            let json = serde_json::to_string(&path).unwrap();
            prop_assert_eq!(serde_json::from_str::<StoredPath>(&json).unwrap(), path);
        }
    }

    #[test]
    fn invalid_paths_are_errors() {
        for text in [r"a\", r"a\y", r"a\x1", r"a\xé1", r"a\xzz"] {
            let json = serde_json::to_string(text).unwrap();
            assert!(serde_json::from_str::<StoredPath>(&json).is_err(), "{text}");
        }
    }
}
