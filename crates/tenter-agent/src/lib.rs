//! An agent under hooks.

pub mod store;
pub mod tools;
