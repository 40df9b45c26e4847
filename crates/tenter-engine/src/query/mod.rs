//! Which events a hook wants: asked once, remembered as long as the file stays what it is (R11, R12).
//!
//! Whether a hook may be asked at all is the trust gate's business; nothing here decides it.

mod ask;
mod cache;
mod kept_manifest;
pub(crate) mod parallel;
mod suggest;

pub use ask::{QUERY_TIMEOUT, Query, QueryReply};
pub use cache::{Cache, Known, KnownManifest};
pub(crate) use suggest::explain;
