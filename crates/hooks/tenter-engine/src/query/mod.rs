//! Queries executables for their events, and caches the replies while the files are unchanged (R11, R12).
//!
//! The caller checks trust: this module queries any hook that it is given.

mod ask;
mod cache;
mod kept_script;
pub(crate) mod parallel;
mod suggest;

pub(crate) use ask::{QUERY_TIMEOUT, Query, QueryReply};
pub(crate) use cache::{Cache, Known, KnownManifest};
pub(crate) use suggest::explain;
