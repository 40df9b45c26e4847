//! HTTP for Tenter: one blocking request at a time, which can be cancelled, with limits on silence, size and time.
//!
//! [`Http`] is the transport. [`post_json`] sends one POST of JSON, for hooks behind HTTP; [`HttpClient`] sends one request with a
//! streamed response, for other protocols. No redirect is followed. The crate reads no environment and no files: addresses,
//! proxies and certificates are passed in.
//!
//! ```
//! use std::time::Duration;
//!
//! use tenter_http::{HttpClient, HttpSettings, ResponseLimits};
//! use tenter_proc::Cancel;
//!
//! let settings = HttpSettings {
//!     proxy: None,
//!     authorities: None,
//!     idle_timeout: Duration::from_secs(30),
//!     limits: ResponseLimits::default(),
//! };
//! let request = http::Request::get("http://localhost:1/").body(Vec::new())?;
//! let cancel = Cancel::new();
//! assert!(HttpClient::new(settings)?.send(request, &cancel).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod authorities;
mod exchange;
mod post;
mod server_names;
mod transport;

use std::fmt;
use std::time::Duration;

pub use authorities::Authorities;
pub use exchange::{HttpClient, HttpSettings, StreamedBody};
pub use post::{JsonPost, PostError, post_json};
pub use transport::{Chunks, Http, StreamTail, TransportError};

/// An API key. Its `Debug` output does not contain it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Returns the key without surrounding whitespace.
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// Returns the secret. Use it only for requests and for redaction.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Limits of one response, including comments and pauses. Exceeding one is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseLimits {
    /// Maximum number of bytes.
    pub bytes: u64,
    /// Maximum time from the request to the last byte.
    pub time: Duration,
}

impl Default for ResponseLimits {
    fn default() -> Self {
        Self { bytes: 64 << 20, time: Duration::from_hours(1) }
    }
}
