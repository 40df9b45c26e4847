//! One HTTP request with a streamed response, for protocols other than the model providers'.

use std::time::Duration;

use http::{Request, Response};
use tenter_proc::Cancel;

use crate::transport::{Chunks, Http, StreamTail};
use crate::{Authorities, ResponseLimits};

/// The settings with which servers are reached.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// The address of the proxy, if any.
    pub proxy: Option<String>,
    /// The trusted certificate authorities; `None` means Mozilla's list.
    pub authorities: Option<Authorities>,
    /// Maximum time without a byte from the server.
    pub idle_timeout: Duration,
    /// Limits of one response.
    pub limits: ResponseLimits,
}

/// Sends requests. Each has a connection of its own, and no redirect is followed.
#[derive(Debug, Clone)]
pub struct HttpClient(Http);

/// The body of a response, as chunks. Dropping it closes the connection.
#[derive(Debug)]
pub struct StreamedBody(Chunks);

impl HttpClient {
    /// Creates a client with these settings.
    ///
    /// # Errors
    /// The address of the proxy is not valid.
    pub fn new(settings: HttpSettings) -> Result<Self, String> {
        let HttpSettings { proxy, authorities, idle_timeout, limits } = settings;
        let http = Http::new(proxy.as_deref(), authorities, idle_timeout, limits);
        http.map(Self).map_err(|error| error.to_string())
    }

    /// Sends a request. Waits for the head of the response, which may have any status, or until `cancel` is set.
    ///
    /// # Errors
    /// There is no response. Neither the URL nor a header is in the message.
    pub fn send(
        &self,
        request: Request<Vec<u8>>,
        cancel: &Cancel,
    ) -> Result<Response<StreamedBody>, String> {
        let response = self.0.send(request, cancel, &StreamTail::default());
        response.map(|response| response.map(StreamedBody)).map_err(|error| error.to_string())
    }
}

impl Iterator for StreamedBody {
    type Item = Result<Vec<u8>, String>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.0.next()?.map_err(|error| error.to_string()))
    }
}
