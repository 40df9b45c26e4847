//! The services for runtime hooks under a host (S15): the host's transcript, and the model that is configured for `tenter`. Hooks cannot ask
//! the user, because the host has the terminal.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use tenter_engine::inspect::{Connector, Environment};
use tenter_engine::{HookSession, ServiceCaller, Services};
use tenter_proc::{Cancel, Invocation, Limits, ProcessEnd, Streams};
use tenter_protocol::runtime::{
    Completion, CompletionRequest, HistoryQuery, HistoryResult, ServiceError,
};

use super::{Visit, Visitor};
use crate::host::Host;
use crate::transcript::{self, HistoryStart};

/// The time limit of a completion where the host sets none.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(5);

/// Creates the connector to the runtime hooks of a project (S14). Calls wait for their turn until the given time.
pub type KeeperConnector = fn(&Visitor, &Path, Instant) -> Arc<dyn Connector>;

/// The services at one event of a host.
pub(super) struct HostServices {
    host: &'static Host,
    /// The conversation of the event.
    conversation: String,
    transcript: Option<PathBuf>,
    /// The position at which its present history begins, if it is known.
    start: Option<HistoryStart>,
    /// The program `tenter`.
    tenter: Option<PathBuf>,
    project: PathBuf,
    vars: Arc<Environment>,
    deadline: Option<Instant>,
}

impl Visit<'_> {
    /// Adds services to the hooks, if there is a runtime hook.
    pub(super) fn with_services<'e>(&self, hooks: HookSession<'e>) -> HookSession<'e> {
        let catalog = self.engine.catalog();
        if catalog.hooks().iter().all(|hook| hook.runtime.is_none()) {
            return hooks;
        }
        let services = self.services(&hooks.scope().conversation_id);
        hooks.with_services(services)
    }

    /// Returns the services for an event in this conversation.
    fn services(&self, conversation: &str) -> Arc<dyn Services> {
        let visitor = self.visitor;
        let agent = self.agent_id().unwrap_or_default();
        Arc::new(HostServices {
            host: visitor.host,
            conversation: conversation.to_owned(),
            transcript: self.transcript_path.clone(),
            start: self.session.get().work.transcripts.get(&agent).cloned(),
            tenter: visitor.tenter.clone(),
            project: self.engine.project().to_owned(),
            vars: Arc::clone(&visitor.vars),
            deadline: self.deadline,
        })
    }
}

impl Services for HostServices {
    fn history(
        &self,
        _by: &ServiceCaller<'_>,
        query: &HistoryQuery,
    ) -> Result<HistoryResult, ServiceError> {
        let unsupported = |why: String| ServiceError::Unsupported(why);
        let is_own = query.conv_id.as_ref().is_none_or(|id| *id == self.conversation);
        let path = self.transcript.as_ref().filter(|_| is_own).ok_or_else(|| {
            unsupported(format!("the conversation is not known under {}", self.host.name))
        })?;
        let transcript = transcript::read(self.host, path, self.start.as_ref());
        let (transcript, _) = transcript.map_err(|error| {
            unsupported(format!("the transcript of {} cannot be read: {error}", self.host.name))
        })?;
        Ok(HistoryResult { messages: transcript.messages.to_vec() })
    }

    fn complete(
        &self,
        _by: &ServiceCaller<'_>,
        request: &CompletionRequest,
        cancel: &Cancel,
    ) -> Result<Completion, ServiceError> {
        let program = self.tenter.clone().ok_or_else(|| {
            ServiceError::Unsupported("the program tenter is not beside tenter-hook".to_owned())
        })?;
        let until = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        let invocation = Invocation {
            program,
            args: vec!["hooks".into(), "complete".into()],
            cwd: self.project.clone(),
            env: Environment::clone(&self.vars),
            stdin: serde_json::to_vec(request).unwrap_or_default(),
            streams: Streams::Separate,
            limits: Limits {
                timeout: self.deadline.map_or(DEFAULT_TIMEOUT, until),
                ..Limits::default()
            },
        };
        let completion = tenter_proc::run(&invocation, cancel);
        if cancel.is_cancelled() {
            return Err(ServiceError::Cancelled);
        }
        match (completion.end, read_output(&completion.stdout.text())) {
            (ProcessEnd::Exited(0), Some(CompletionOutput::Completion(completion))) => {
                Ok(completion)
            }
            (_, Some(CompletionOutput::Unsupported(why))) => Err(ServiceError::Unsupported(why)),
            (_, Some(CompletionOutput::Failed(why))) => Err(ServiceError::Failed(why)),
            (ProcessEnd::TimedOut, _) => {
                Err(ServiceError::Failed("the model did not answer in time".to_owned()))
            }
            _ => Err(ServiceError::Failed("tenter could not ask the model".to_owned())),
        }
    }
}

/// The output of `tenter hooks complete`.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum CompletionOutput {
    Completion(Completion),
    Unsupported(String),
    Failed(String),
}

fn read_output(stdout: &str) -> Option<CompletionOutput> {
    serde_json::from_str(stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tenter_prints_is_a_completion_or_says_why_there_is_none() {
        let output = r#"{"completion": {"text": "yes", "usage": {"input_tokens": 1, "output_tokens": 2, "cost_usd": 0.5}}}"#;
        let Some(CompletionOutput::Completion(completion)) = read_output(output) else { panic!() };
        assert_eq!((completion.text.as_str(), completion.usage.output_tokens), ("yes", 2));
        let none = read_output(r#"{"unsupported": "no model"}"#);
        assert_eq!(none, Some(CompletionOutput::Unsupported("no model".to_owned())));
        assert_eq!(read_output("oops"), None);
    }
}
