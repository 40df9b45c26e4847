//! Bundles (M2): plugins with a version, an expiry and a signature, for the managed layer of many machines.
//!
//! ```text
//! bytes ─► Package ─► SignedManifest ─► Bundle ─► BundleStore::install ─► bundles/NAME/VERSION, then the pointer `current`
//!          lengths    signature, name   files     version, expiry, owners
//! ```
//!
//! A package is one file: lengths, the manifest, its signature, and the files. The signature is checked before anything that it covers is
//! read, and the manifest lists every file with its length and hash. A [`Bundle`] can only be made by these checks.

mod manifest;
mod package;
mod signature;
mod store;

use tenter_protocol::{Diagnostic, Severity};

pub use manifest::{BundleFile, BundleManifest, BundleVersion, Expiry, check_name};
pub use package::{Bundle, MAX_PACKAGE, Package, SignedManifest};
pub use signature::{KeyRing, PinnedKey, SSH_NAMESPACE, is_minisign_key};
pub use store::{BundleStore, Installation, UpdateRecord};

/// The id of failures that say nothing about a bundle, such as a full disk: the next attempt may succeed.
pub const TEMPORARY: &str = "bundle-failed";

/// Returns the reason to refuse a bundle.
fn refused(id: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(id, Severity::Error, message)
}

/// Returns a failure that says nothing about the bundle.
fn failed(message: impl Into<String>) -> Diagnostic {
    refused(TEMPORARY, message)
}
