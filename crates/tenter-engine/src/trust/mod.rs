//! Which hooks of a project may run: those whose content the person has seen and trusted (R45 to R48). Recipes that start
//! programs are trusted in the same way.
//!
//! `fingerprint` says what a hook is made of, `store` remembers what was trusted, `gate` compares the two. Nothing here
//! asks the person: that is the terminal's business.

mod fingerprint;
mod gate;
mod store;

pub use fingerprint::{fingerprint, fingerprint_of_recipe};
pub use gate::{Changed, TrustMode, verify_unchanged};
pub(crate) use store::spellings;
pub use store::{ProjectTrust, TrustEntry, TrustError, TrustStore, Trusted};
