//! Hermetic folders and terminal sessions for Tenter's own tests.
//!
//! A [`Sandbox`] is one folder that holds a project, a home and everything that Tenter would write; a command that runs in
//! it sees an environment of a few variables and nothing of the machine's. What a command printed comes back as one block
//! ([`Output`]), with everything that differs from run to run replaced, so that a test reads as a session at a terminal.
//! [`model_server`] is a model behind a network that a script speaks for, [`tls`] the encryption before one.

pub mod model_server;
pub mod needs;
mod output;
pub mod pty;
mod sandbox;
mod soak;
pub mod tls;

pub use output::Output;
pub use pty::PtySession;
pub use sandbox::{Sandbox, wait_until};
pub use soak::{is_soak, soak_factor};
