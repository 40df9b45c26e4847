//! A model of which nothing is known, with a name that is near to others: where its server does not know it either, the
//! error says which were probably meant.

use tenter_agent::Model;
use tenter_agent::model::{Delta, ModelError, Request, Response};
use tenter_proc::Cancel;

/// A model with a name that is probably misspelt.
pub(super) struct Unfamiliar {
    model: Box<dyn Model>,
    /// Which were probably meant, as a question.
    meant: String,
}

impl Unfamiliar {
    /// `meant` is the question that a person is asked.
    pub(super) fn new(model: Box<dyn Model>, meant: String) -> Self {
        Self { model, meant }
    }

    fn explain(&self, error: ModelError) -> ModelError {
        match error {
            ModelError::Refused { message, help }
                if message.contains("does not know the model") =>
            {
                let help = help.map(|help| format!(" {help}")).unwrap_or_default();
                ModelError::Refused { message, help: Some(format!("{}{help}", self.meant)) }
            }
            other => other,
        }
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
        self.model.respond(request, deltas, cancel).map_err(|error| self.explain(error))
    }
}
