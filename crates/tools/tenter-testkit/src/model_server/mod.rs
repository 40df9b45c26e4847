//! The scripted model server, for tests: a request that violates a rule fails the test.
//!
//! A [`Script`] is a queue of replies for a client whose requests are checked: a request that the provider would reject, or that a
//! careful client would not send, gets a 400 response and is one of the server's violations.

mod invariants;
mod ledger;
mod strict;
mod violations;

use std::ops::Deref;
use std::thread;
use std::time::Duration;

pub use strict::StrictScript as Script;
pub use tenter_model_server::{Fault, Format, ModelReply, RecordedRequest, StopReason};

/// Maximum time that a test waits for a client.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A running server with a strict script. Dropping it fails the test if a request violated a rule.
#[derive(Debug)]
pub struct ModelServer(tenter_model_server::ModelServer);

impl ModelServer {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Panics
    /// There is no free port.
    pub fn start(script: impl Into<Script>) -> Self {
        let server = tenter_model_server::ModelServer::start(script.into());
        Self(server.unwrap_or_else(|error| panic!("the model server has no port: {error}")))
    }

    /// Waits until `count` requests have arrived.
    ///
    /// # Panics
    /// After half a minute.
    pub fn wait_for_requests(&self, count: usize) {
        let arrived = self.0.wait_for_requests(count, TIMEOUT);
        assert!(arrived, "gave up waiting for request {count} of {}", self.requests().len());
    }

    /// Waits until `count` clients have closed the connection before the end of their reply.
    ///
    /// # Panics
    /// After half a minute.
    pub fn wait_for_hang_ups(&self, count: usize) {
        assert!(self.0.wait_for_hang_ups(count, TIMEOUT), "gave up waiting for {count} hang-ups");
    }

    /// Fails the test if there is a violation.
    ///
    /// # Panics
    /// There is a violation.
    pub fn assert_clean(&self) {
        let violations = self.violations();
        assert!(
            violations.is_empty(),
            "requests to the model server violated its rules:\n{}",
            violations.join("\n")
        );
    }
}

impl Deref for ModelServer {
    type Target = tenter_model_server::ModelServer;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        // A request that has arrived is checked before the end.
        self.0.close();
        if !thread::panicking() {
            self.assert_clean();
        }
    }
}
