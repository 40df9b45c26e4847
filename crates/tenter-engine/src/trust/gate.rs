//! Compares what a hook is with what was trusted, at load and again right before it runs.

use std::io;

use thiserror::Error;

use super::fingerprint::fingerprint;
use crate::hook::Hook;
use crate::stamp::HookStamp;

/// Whether project hooks need to be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrustMode {
    /// They run only when they are trusted (R45).
    #[default]
    Gate,
    /// The person has switched the gate off (R47).
    All,
}

/// Why a hook that was trusted when it was loaded must not run now.
#[derive(Debug, Error)]
pub enum Changed {
    /// It is made of something else.
    #[error("it was changed after it was loaded")]
    Content,
    /// It cannot be told what it is made of.
    #[error("it cannot be read any more: {0}")]
    Unreadable(#[from] io::Error),
}

/// Whether `hook` is still what was trusted. Costs one look at each of its files, unless one was touched: then they are read.
/// A hook that needs no trust may change as it likes.
pub fn verify_unchanged(hook: &Hook) -> Result<(), Changed> {
    if !hook.pinned || HookStamp::of(&hook.path)? == hook.stamp {
        return Ok(());
    }
    let (now, _) = fingerprint(&hook.path)?;
    if now == hook.fingerprint { Ok(()) } else { Err(Changed::Content) }
}
