//! What the agent promises, shown on real files, databases and processes.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails may panic, and so may what it is made of"
)]

mod store;
mod store_fixtures;
mod store_model;
mod store_open;
mod store_shared;
