//! Tests of the agent on real files, databases and processes.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails may panic, and so may what it is made of"
)]

mod actions;
mod calls;
mod compaction;
mod compaction_callbacks;
mod compaction_failures;
mod compaction_late;
mod permissions;
mod recipes;
mod separate;
mod session;
mod session_stage;
mod store;
mod store_copies;
mod store_delete;
mod store_fixtures;
mod store_model;
mod store_open;
mod store_search;
mod store_shared;
