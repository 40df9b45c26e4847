//! Decides which hooks of a project may run: those whose content the user has reviewed and trusted (R45 to R48). Recipes that
//! start programs are trusted in the same way.
//!
//! `fingerprint` defines what a hook's trust covers, `hasher` reads it, `store` records what was trusted (`record`), `gate` compares
//! the two. `file` is the store's format, `repository` finds the worktrees that share trust, `kept` keeps trusted
//! contents to show what changed. The user is asked elsewhere: in the binary.

mod file;
mod fingerprint;
mod gate;
mod hasher;
mod kept;
mod private_copy;
mod record;
mod repository;
mod snapshot;
mod store;

pub use fingerprint::{
    Covered, CoveredSiblings, CoveredStamp, HookLocation, fingerprint, fingerprint_of_files,
    fingerprint_of_recipe,
};
pub(crate) use fingerprint::{combine, fingerprint_of_own};
pub use gate::{Changed, Pin, TrustMode};
pub(crate) use gate::{Verified, is_shared};
pub use hasher::{Fingerprint, Hasher, MAX_HOOK_BYTES, MAX_LOAD_BYTES};
pub use kept::{Contents, Data, FileContent, TrustedFileChange};
pub(crate) use private_copy::PrivateCopy;
pub(crate) use record::spellings;
pub use record::{ProjectState, TrustEntry, Trusted, TrustedKind, trust_name};
pub(crate) use repository::worktrees;
pub use snapshot::{CoveredFile, MAX_SHOWN_BYTES, Snapshot};
pub use store::{ProjectTrust, TrustError, TrustStore};
