//! A package: a bundle as one file.
//!
//! ```text
//! tenter-bundle 1
//! LENGTH-OF-MANIFEST LENGTH-OF-SIGNATURE
//! MANIFEST SIGNATURE FILE FILE …      in the order of the manifest, without anything between them
//! ```

use tenter_protocol::Diagnostic;

use super::manifest::{self, BundleManifest};
use super::refused;
use super::signature::KeyRing;
use crate::content::Content;
use crate::rules::LARGEST_PLUGIN;

/// The first line of a package.
const MAGIC: &str = "tenter-bundle 1\n";
/// Maximum length of the line with the lengths, in bytes.
const MAX_LENGTHS: usize = 40;
/// Maximum length of a manifest, in bytes.
const MAX_MANIFEST: usize = 8 << 20;
/// Maximum length of a signature, in bytes.
const MAX_SIGNATURE: usize = 64 << 10;
/// Maximum length of a package, in bytes.
#[expect(clippy::cast_possible_truncation, reason = "it is 50 MiB")]
pub const MAX_PACKAGE: usize = LARGEST_PLUGIN as usize + MAX_MANIFEST + MAX_SIGNATURE + 100;

/// A package of which only the lengths were checked. Nothing in it can be believed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    manifest: Vec<u8>,
    signature: String,
    files: Vec<u8>,
}

/// A package whose manifest was signed with a pinned key. Its files were not checked yet.
#[derive(Debug)]
pub struct SignedManifest {
    package: Package,
    manifest: BundleManifest,
}

/// A bundle whose signature and files were checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// The manifest.
    pub manifest: BundleManifest,
    /// The files.
    pub content: Content,
    /// The manifest's text, which was signed.
    pub(super) text: Vec<u8>,
    pub(super) signature: String,
}

impl Package {
    /// Packs a bundle without a signature. The content must be the manifest's.
    pub fn pack(manifest: &BundleManifest, content: &Content) -> Self {
        let text = serde_json::to_string_pretty(manifest).unwrap_or_default() + "\n";
        let files = content.0.values().flat_map(manifest::bytes).copied().collect();
        Self { manifest: text.into_bytes(), signature: String::new(), files }
    }

    /// Reads a package.
    ///
    /// # Errors
    /// The bytes are not a package, or end too early.
    pub fn read(bytes: &[u8]) -> Result<Self, Diagnostic> {
        let rest = bytes.strip_prefix(MAGIC.as_bytes()).ok_or_else(|| {
            if MAGIC.as_bytes().starts_with(bytes) {
                return incomplete();
            }
            refused("bundle-format", "this is not a bundle, or one of a newer format")
                .help("`tenter bundle pack` makes bundles")
        })?;
        let end = rest.iter().take(MAX_LENGTHS).position(|byte| *byte == b'\n');
        let end = end.ok_or_else(incomplete)?;
        let lengths = std::str::from_utf8(&rest[..end]).ok().and_then(|line| line.split_once(' '));
        let length = |text: &str, most| text.parse().ok().filter(|length| *length <= most);
        let (manifest, signature) = lengths
            .and_then(|(one, two)| Some((length(one, MAX_MANIFEST)?, length(two, MAX_SIGNATURE)?)))
            .ok_or_else(|| refused("bundle-format", "its second line does not have the lengths"))?;
        let rest = &rest[end + 1..];
        let (manifest, rest) = rest.split_at_checked(manifest).ok_or_else(incomplete)?;
        let (signature, files) = rest.split_at_checked(signature).ok_or_else(incomplete)?;
        Ok(Self {
            manifest: manifest.to_vec(),
            signature: String::from_utf8_lossy(signature).into_owned(),
            files: files.to_vec(),
        })
    }

    /// Returns the bytes of the package.
    pub fn bytes(&self) -> Vec<u8> {
        let lengths = format!("{} {}\n", self.manifest.len(), self.signature.len());
        [
            MAGIC.as_bytes(),
            lengths.as_bytes(),
            &self.manifest,
            self.signature.as_bytes(),
            &self.files,
        ]
        .concat()
    }

    /// Returns the text that is signed.
    pub fn signed_text(&self) -> &[u8] {
        &self.manifest
    }

    /// Sets the signature.
    #[must_use]
    pub fn with_signature(self, signature: String) -> Self {
        Self { signature, ..self }
    }

    /// Returns the name that the package claims to have; it may be any text, and says only whose keys to try.
    pub fn claimed_name(&self) -> Option<String> {
        let manifest: serde_json::Value = serde_json::from_slice(&self.manifest).ok()?;
        manifest.get("name")?.as_str().map(str::to_owned)
    }

    /// Checks the files without a signature, for the author.
    ///
    /// # Errors
    /// The manifest or a file is not valid.
    pub fn check_files(&self) -> Result<BundleManifest, Diagnostic> {
        let manifest = BundleManifest::parse(&self.manifest)?;
        manifest.content(&self.files)?;
        Ok(manifest)
    }

    /// Verifies the signature of the manifest with the pinned keys of the bundle `name`.
    ///
    /// # Errors
    /// The signature is missing, no pinned key made it, or the manifest is another bundle's.
    pub fn verify(self, name: &str, keys: &KeyRing) -> Result<SignedManifest, Diagnostic> {
        keys.verify(&self.manifest, &self.signature)?;
        let manifest = BundleManifest::parse(&self.manifest)?;
        if manifest.name != name {
            return Err(refused(
                "bundle-other-name",
                format!("this is the bundle {}, and {name} is expected", manifest.name),
            ));
        }
        Ok(SignedManifest { package: self, manifest })
    }
}

impl SignedManifest {
    /// Checks every file against the manifest.
    ///
    /// # Errors
    /// A file is missing, differs, or must not be in a bundle.
    pub fn open(self) -> Result<Bundle, Diagnostic> {
        let content = self.manifest.content(&self.package.files)?;
        let Package { manifest: text, signature, .. } = self.package;
        Ok(Bundle { manifest: self.manifest, content, text, signature })
    }
}

fn incomplete() -> Diagnostic {
    refused("bundle-incomplete", "it ends too early: the download is incomplete")
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::bundle::BundleVersion;
    use crate::content::TreeEntry;

    fn package() -> Package {
        let file = |text: &str| TreeEntry::File { bytes: text.into(), executable: false };
        let entries = [("README.md", "Read."), ("hooks/a/HOOK.md", "---\n---\n")];
        let content = Content(entries.map(|(path, text)| (path.to_owned(), file(text))).into());
        let version = BundleVersion::parse("1").unwrap();
        let (now, end) = (Timestamp::UNIX_EPOCH, Timestamp::MAX);
        let manifest = BundleManifest::new("acme", version, &content, now, end).unwrap();
        Package::pack(&manifest, &content).with_signature("signature".to_owned())
    }

    #[test]
    fn a_package_is_read_back() {
        assert_eq!(Package::read(&package().bytes()).unwrap(), package());
        assert_eq!(package().check_files().unwrap().name, "acme");
        assert_eq!(package().claimed_name().as_deref(), Some("acme"));
    }

    #[test]
    fn every_shorter_and_every_changed_package_is_refused() {
        let bytes = package().bytes();
        for length in 0..bytes.len() {
            let result = Package::read(&bytes[..length]).and_then(|package| package.check_files());
            let error = result.unwrap_err();
            assert_eq!(error.id, "bundle-incomplete", "{length}: {error:?}");
        }
        let longer = [&bytes[..], b"x"].concat();
        let error = Package::read(&longer).and_then(|package| package.check_files()).unwrap_err();
        assert_eq!(error.id, "bundle-changed");
        let mut other = bytes;
        let last = other.len() - 1;
        other[last] ^= 1;
        let error = Package::read(&other).and_then(|package| package.check_files()).unwrap_err();
        assert_eq!(error.id, "bundle-changed");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), has_magic: bool) {
            let start = if has_magic { MAGIC.as_bytes() } else { b"" };
            let _ = Package::read(&[start, &bytes].concat()).and_then(|package| package.check_files());
        }
    }
}
