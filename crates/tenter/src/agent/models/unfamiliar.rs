//! A model of which nothing is known: where its server does not know it either, the error says which were probably meant,
//! among the known ones and those that the server has.

use tenter_agent::Model;
use tenter_agent::model::{Delta, ModelError, Request, Response};
use tenter_proc::Cancel;
use tenter_providers::{Endpoint, served_models};

use super::facts;

/// Maximum number of the server's models that are listed.
const LISTED: usize = 10;

/// A model with a name that may be misspelt.
pub(super) struct Unfamiliar {
    model: Box<dyn Model>,
    endpoint: Endpoint,
    /// The known models that were probably meant, by whole name.
    near: Vec<String>,
}

impl Unfamiliar {
    /// `near` are the known models with a similar name.
    pub(super) fn new(model: Box<dyn Model>, endpoint: Endpoint, near: Vec<String>) -> Self {
        Self { model, endpoint, near }
    }

    fn explain(&self, error: ModelError, cancel: &Cancel) -> ModelError {
        match error {
            ModelError::UnknownModel { message, help } => {
                let said = self.suggestion(cancel).into_iter().chain(help);
                let help = said.collect::<Vec<_>>().join(" ");
                ModelError::UnknownModel { message, help: Some(help) }
            }
            other => other,
        }
    }

    /// Which model was probably meant; else those that the server has.
    fn suggestion(&self, cancel: &Cancel) -> Option<String> {
        if let Some(meant) = facts::suggestion(&self.near) {
            return Some(meant);
        }
        let provider = &self.endpoint.provider;
        let served = served_models(&self.endpoint, cancel);
        let served: Vec<&str> = served.iter().map(String::as_str).take(LISTED).collect();
        let whole = |names: Vec<&str>| {
            names.iter().map(|name| format!("{provider}/{name}")).collect::<Vec<_>>()
        };
        let wanted = self.model.name().split_once('/').map_or("", |(_, name)| name);
        let near = facts::suggestion(&whole(facts::near(wanted, &served)));
        let all =
            (!served.is_empty()).then(|| format!("the server has {};", whole(served).join(", ")));
        near.or(all)
    }
}

impl Model for Unfamiliar {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn context_window(&self) -> u64 {
        self.model.context_window()
    }

    fn respond(
        &self,
        request: &Request,
        deltas: &mut dyn FnMut(Delta),
        cancel: &Cancel,
    ) -> Result<Response, ModelError> {
        self.model.respond(request, deltas, cancel).map_err(|error| self.explain(error, cancel))
    }
}
