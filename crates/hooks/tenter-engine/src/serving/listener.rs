//! Reads what a hook writes: answers, requests for services, and whatever breaks the protocol.

use std::sync::Arc;

use tenter_base::excerpt;
use tenter_proc::{DialogueEnd, DialogueListener, ProcessEnd};
use tenter_protocol::runtime::{Id, Initialized, MAX_LINE, Response, RuntimeMessage, read_line};

use super::requests::INITIALIZE_ID;
use super::service_calls;
use super::shared::Shared;
use crate::run_end::RunEnd;

/// Maximum number of bytes that a process may write without answering anything.
const MAX_UNANSWERING: usize = MAX_LINE;

/// Reads what the hook writes.
pub(super) struct Listener {
    shared: Arc<Shared>,
    /// Number of bytes that the hook wrote since it last answered something.
    unanswering: usize,
    /// True if the hook broke the protocol: what follows is ignored, an answer too.
    is_over: bool,
}

impl Listener {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, unanswering: 0, is_over: false }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// The hook broke the protocol; says how, as the end of a sentence that begins with the process.
    fn read(&mut self, line: &[u8]) -> Result<(), String> {
        match read_line(line).map_err(|error| format!("broke the protocol: {error}"))? {
            None => {}
            Some(RuntimeMessage::Response(response)) => {
                self.unanswering = 0;
                self.shared.answered(response)?;
            }
            Some(RuntimeMessage::Request(request)) => service_calls::start(&self.shared, request),
            Some(RuntimeMessage::Notification(_)) => {
                self.unanswering += line.len() + 1;
                if self.unanswering > MAX_UNANSWERING {
                    return Err("wrote more than 1 MiB without an answer".to_owned());
                }
            }
        }
        Ok(())
    }

    fn fail(&mut self, why: String) {
        self.is_over = true;
        self.shared.fail(why);
    }
}

impl DialogueListener for Listener {
    fn line(&mut self, line: &[u8]) {
        if !self.is_over
            && let Err(why) = self.read(line)
        {
            self.fail(why);
        }
    }

    fn line_too_long(&mut self) {
        if !self.is_over {
            self.fail("wrote a line of more than 1 MiB".to_owned());
        }
    }

    fn ended(&mut self, end: DialogueEnd) {
        let (end, why) = match end {
            DialogueEnd::Process(ProcessEnd::Exited(code)) => {
                (RunEnd::Exited(code), format!("exited with code {code}"))
            }
            DialogueEnd::Process(ProcessEnd::Signalled(signal)) => {
                (RunEnd::Signal(signal), format!("was terminated by signal {signal}"))
            }
            DialogueEnd::Process(ProcessEnd::NotStarted(error)) => {
                (RunEnd::Unknown, format!("has ended: {error}"))
            }
            DialogueEnd::StdoutClosed => (RunEnd::Unknown, "closed its stdout".to_owned()),
            DialogueEnd::Process(_) | DialogueEnd::Killed => {
                (RunEnd::Unknown, "was killed".to_owned())
            }
        };
        self.shared.requests().end(end, why);
        service_calls::cancel_all(&self.shared);
    }
}

impl Shared {
    fn answered(&self, response: Response) -> Result<(), String> {
        let mut requests = self.requests();
        let is_initialized =
            requests.is_starting() && response.id == Id::Number(INITIALIZE_ID.cast_signed());
        if !is_initialized {
            return requests.answered(&response.id, response.result);
        }
        let result = response.result.map_err(|error| {
            let message = excerpt::one_line(&error.message, 200);
            format!("answered `initialize` with an error: {message}")
        })?;
        requests.initialized(Initialized::read(&result)?);
        Ok(())
    }
}
