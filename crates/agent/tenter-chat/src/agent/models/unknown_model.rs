//! A model that neither the table of facts nor the configuration knows. If its server does not know it either, the error
//! suggests similar models, or lists the server's models.

use tenter_agent::Model;
use tenter_agent::model::{Delta, ModelError, Request, Response};
use tenter_proc::Cancel;
use tenter_providers::{Endpoint, served_models};

use super::facts;

/// Maximum number of the server's models that are listed.
const LISTED: usize = 10;

/// A model whose name may be misspelt.
pub(super) struct UnknownModel {
    model: Box<dyn Model>,
    endpoint: Endpoint,
    /// Known models with a similar name, as `PROVIDER/NAME`.
    near: Vec<String>,
}

impl UnknownModel {
    /// Creates the error; `near` are known models with a similar name, as `PROVIDER/NAME`.
    pub(super) fn new(model: Box<dyn Model>, endpoint: Endpoint, near: Vec<String>) -> Self {
        Self { model, endpoint, near }
    }

    fn explain(&self, error: ModelError, cancel: &Cancel) -> ModelError {
        match error {
            ModelError::UnknownModel { message, help } => {
                let sentences = self.suggestion(cancel).into_iter().chain(help);
                let help = sentences.collect::<Vec<_>>().join(" ");
                ModelError::UnknownModel { message, help: Some(help) }
            }
            other => other,
        }
    }

    /// Returns models with a similar name; else the server's models.
    fn suggestion(&self, cancel: &Cancel) -> Option<String> {
        if let Some(suggestion) = facts::suggestion(&self.near) {
            return Some(suggestion);
        }
        let provider = &self.endpoint.provider;
        let served = served_models(&self.endpoint, cancel);
        let served: Vec<&str> = served.iter().map(String::as_str).take(LISTED).collect();
        let full_names = |names: Vec<&str>| {
            names.iter().map(|name| format!("{provider}/{name}")).collect::<Vec<_>>()
        };
        let name = self.model.name().split_once('/').map_or("", |(_, name)| name);
        let near = facts::suggestion(&full_names(facts::near(name, &served)));
        let all = (!served.is_empty())
            .then(|| format!("the server has {};", full_names(served).join(", ")));
        near.or(all)
    }
}

impl Model for UnknownModel {
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
