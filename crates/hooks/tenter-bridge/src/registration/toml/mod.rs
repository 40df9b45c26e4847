//! Registrations in TOML files that users edit: everything else in the file stays as it is (B39).
//!
//! Tables are added at the end of the text and cut out of it; nothing is formatted again. [`document`] finds the tables,
//! [`handlers`] knows the format of the hooks, and [`trust`] the hashes of trusted handlers.

mod document;
mod handlers;
mod trust;

pub(super) use document::switch;
pub(super) use handlers::{find, install, remove};
pub(super) use trust::{TrustEntry, missing_trust, with_trust, without_trust};
