//! From folders on disk to one decision.

pub mod hook;
pub mod stamp;
