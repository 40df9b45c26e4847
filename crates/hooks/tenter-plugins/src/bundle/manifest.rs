//! The manifest of a bundle, which its signature covers.

use std::collections::BTreeMap;
use std::fmt;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tenter_base::rfc3339;
use tenter_protocol::Diagnostic;

use super::refused;
use crate::content::{Content, TreeEntry};
use crate::links;
use crate::rules::{self, FileKind, FoundFile};

/// The version of the format.
const FORMAT: u32 = 1;
/// Maximum length of a bundle's name, in bytes.
const MAX_NAME: usize = 64;
/// Maximum number of numbers in a version.
const MAX_NUMBERS: usize = 4;
/// Hours of a day of grace.
const DAY: i64 = 24;

/// The manifest of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleManifest {
    format: u32,
    /// The name, which the managed configuration uses, too.
    pub name: String,
    /// The version. A machine never installs an older one.
    pub version: BundleVersion,
    /// The time of packing.
    pub created: String,
    /// The time after which the bundle should have been replaced.
    expires: String,
    /// The number of days after the expiry in which it can still be installed.
    pub grace_days: u32,
    /// The commit that was packed, if the plugin is a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Every file.
    pub files: Vec<BundleFile>,
}

/// A file or a symlink of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleFile {
    /// The path in the bundle.
    pub path: String,
    /// The length in bytes; for a symlink, of its target.
    pub bytes: u64,
    /// The git mode and the SHA-256: `100755 9f86…`.
    pub sha256: String,
}

/// The age of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// It has not expired.
    Current,
    /// It has expired, and can still be installed.
    Grace,
    /// Its grace has passed, too.
    Past,
}

impl BundleManifest {
    /// Creates the manifest of a bundle with this content.
    ///
    /// # Errors
    /// The name is not valid.
    pub fn new(
        name: &str,
        version: BundleVersion,
        content: &Content,
        creation: Timestamp,
        expires: Timestamp,
    ) -> Result<Self, String> {
        check_name(name)?;
        let file = |(path, entry): (&String, &TreeEntry)| BundleFile {
            path: path.clone(),
            bytes: bytes(entry).len() as u64,
            sha256: entry.digest(),
        };
        Ok(Self {
            format: FORMAT,
            name: name.to_owned(),
            version,
            created: rfc3339(creation),
            expires: rfc3339(expires),
            grace_days: 0,
            commit: None,
            files: content.0.iter().map(file).collect(),
        })
    }

    /// Parses a manifest, whose signature must have been verified, and checks the paths of its files.
    pub(super) fn parse(text: &[u8]) -> Result<Self, Diagnostic> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let invalid = |why: String| refused("bundle-manifest", format!("its manifest {why}"));
        let format = serde_json::from_slice::<Format>(text).map(|head| head.format);
        if let Ok(format) = format.as_ref().map_err(ToString::to_string)
            && *format != FORMAT
        {
            return Err(invalid(format!(
                "has format {format}, which this program does not support"
            ))
            .help("update Tenter on this machine"));
        }
        let manifest: Self = serde_json::from_slice(text)
            .map_err(|error| invalid(format!("is not valid: {error}")))?;
        check_name(&manifest.name).map_err(&invalid)?;
        manifest.expires().ok_or_else(|| invalid("has no valid time of expiry".to_owned()))?;
        let files: Option<Vec<FoundFile>> = manifest.files.iter().map(BundleFile::found).collect();
        let files = files.ok_or_else(|| invalid("has a file without a mode".to_owned()))?;
        match rules::check(&files).into_iter().next() {
            Some(violation) => Err(violation),
            None => Ok(manifest),
        }
    }

    /// Returns the content that the bytes of all files, one after the other, have.
    pub(super) fn content(&self, mut payload: &[u8]) -> Result<Content, Diagnostic> {
        let mut entries = BTreeMap::new();
        for file in &self.files {
            let size = usize::try_from(file.bytes).unwrap_or(usize::MAX);
            let (bytes, rest) = payload.split_at_checked(size).ok_or_else(|| {
                refused(
                    "bundle-incomplete",
                    "it ends before its last file: the download is incomplete",
                )
            })?;
            payload = rest;
            let entry = file.entry(bytes).filter(|entry| entry.digest() == file.sha256);
            let entry = entry.ok_or_else(|| {
                let message = "a file differs from the one that was signed";
                refused("bundle-changed", message).at(rules::shown(file.path.as_bytes()))
            })?;
            entries.insert(file.path.clone(), entry);
        }
        if !payload.is_empty() {
            return Err(refused("bundle-changed", "it contains more than its manifest lists"));
        }
        let content = Content(entries);
        match links::check(&content).into_iter().next() {
            Some(violation) => Err(violation),
            None => Ok(content),
        }
    }

    /// Returns the path of a file that `content` has otherwise than the manifest, or that only one of them has.
    pub(super) fn difference(&self, content: &Content) -> Option<String> {
        let digests = self.files.iter().map(|file| (file.path.clone(), file.sha256.clone()));
        let (digests, present): (BTreeMap<_, _>, _) = (digests.collect(), content.digests());
        let paths = digests.keys().chain(present.keys());
        paths.into_iter().find(|path| digests.get(*path) != present.get(*path)).cloned()
    }

    /// Returns the time of expiry; `None` if it is not valid.
    pub fn expires(&self) -> Option<Timestamp> {
        self.expires.parse().ok()
    }

    /// Returns the age at `now`.
    pub fn expiry(&self, now: Timestamp) -> Expiry {
        let Some(expires) = self.expires() else { return Expiry::Past };
        let grace = SignedDuration::from_hours(i64::from(self.grace_days) * DAY);
        // A grace beyond the end of time lasts for ever.
        if now <= expires {
            Expiry::Current
        } else if expires.checked_add(grace).is_ok_and(|end| now > end) {
            Expiry::Past
        } else {
            Expiry::Grace
        }
    }
}

impl BundleFile {
    fn kind(&self) -> Option<FileKind> {
        match self.sha256.split_once(' ')?.0 {
            "100755" => Some(FileKind::File { executable: true }),
            "100644" => Some(FileKind::File { executable: false }),
            "120000" => Some(FileKind::Link),
            _ => None,
        }
    }

    fn found(&self) -> Option<FoundFile> {
        let kind = self.kind()?;
        Some(FoundFile { path: self.path.clone().into_bytes(), kind, size: self.bytes })
    }

    fn entry(&self, bytes: &[u8]) -> Option<TreeEntry> {
        match self.kind()? {
            FileKind::File { executable } => {
                Some(TreeEntry::File { bytes: bytes.to_vec(), executable })
            }
            FileKind::Link => {
                Some(TreeEntry::Link { target: String::from_utf8(bytes.to_vec()).ok()? })
            }
            FileKind::Submodule | FileKind::Other => None,
        }
    }
}

/// Returns the bytes of an entry in a package.
pub(super) fn bytes(entry: &TreeEntry) -> &[u8] {
    match entry {
        TreeEntry::File { bytes, .. } => bytes,
        TreeEntry::Link { target } => target.as_bytes(),
    }
}

/// Checks the name of a bundle, which is the name of its directory and the first part of its hooks' names.
///
/// # Errors
/// It is not valid; the text says why.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty()
        || name.len() > MAX_NAME
        || name.starts_with('-')
        || !name.chars().all(is_plain)
    {
        return Err(format!(
            "has the name {name:?}; a name has up to {MAX_NAME} lower-case letters, digits and hyphens"
        ));
    }
    Ok(())
}

/// The version of a bundle: numbers, such as `4` or `2026.11.3`. They are compared one by one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BundleVersion(Vec<u32>);

impl BundleVersion {
    /// Parses a version.
    ///
    /// # Errors
    /// The text is not a version; the error says why.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = |part: &str| {
            let is_plain = part.bytes().all(|byte| byte.is_ascii_digit())
                && (part == "0" || !part.starts_with('0'));
            part.parse::<u32>().ok().filter(|_| is_plain)
        };
        let numbers: Option<Vec<u32>> = text.split('.').map(number).collect();
        numbers.filter(|numbers| numbers.len() <= MAX_NUMBERS).map(Self).ok_or_else(|| {
            format!(
                "{text:?} is not a version, which has up to {MAX_NUMBERS} numbers: 4, or 2026.11.3"
            )
        })
    }
}

impl fmt::Display for BundleVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

impl TryFrom<String> for BundleVersion {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<BundleVersion> for String {
    fn from(version: BundleVersion) -> Self {
        version.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let version = |text| BundleVersion::parse(text).unwrap();
        let ascending = ["0", "1", "1.0", "1.2", "1.10", "2", "2026.11.3"];
        assert!(ascending.map(version).is_sorted_by(|one, other| one < other));
        for text in ["", "1.", "01", "v1", "-1", "+1", "1.2.3.4.5", "4294967296", "1/..", "١"] {
            assert!(BundleVersion::parse(text).is_err(), "{text:?}");
        }
        assert_eq!(version("2026.11.3").to_string(), "2026.11.3");
    }

    #[test]
    fn a_bundle_expires_after_its_time_and_is_refused_after_its_grace() {
        let time = |text: &str| -> Timestamp { text.parse().unwrap() };
        let version = BundleVersion::parse("1").unwrap();
        let (creation, expires) = (time("2026-01-01T00:00:00Z"), time("2026-03-01T00:00:00Z"));
        let manifest = BundleManifest::new("acme", version, &Content::default(), creation, expires);
        let manifest = BundleManifest { grace_days: 7, ..manifest.unwrap() };
        assert_eq!(manifest.expiry(time("2026-03-01T00:00:00Z")), Expiry::Current);
        assert_eq!(manifest.expiry(time("2026-03-08T00:00:00Z")), Expiry::Grace);
        assert_eq!(manifest.expiry(time("2026-03-08T00:00:01Z")), Expiry::Past);
        let endless = BundleManifest { grace_days: u32::MAX, ..manifest };
        assert_eq!(endless.expiry(time("2200-01-01T00:00:00Z")), Expiry::Grace);
    }

    #[test]
    fn a_name_is_one_plain_word() {
        for name in ["", "-a", "A", "a/b", "..", "a.b", "ä", &"a".repeat(65)] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        assert!(check_name("acme-policy-2").is_ok());
    }
}
