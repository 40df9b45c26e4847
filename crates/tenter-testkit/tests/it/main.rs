//! What the test kit promises to the tests that use it.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails may panic, and so may what it is made of"
)]

mod model_server;
