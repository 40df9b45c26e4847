//! The model library: the only file that names it.

use tenter_agent::Model;
use tenter_agent::model::ModelError;

use crate::{Choice, Endpoint, Facts};

/// A model behind `endpoint`. Nothing is sent yet.
///
/// # Errors
/// When the address, the proxy or the key cannot be used.
pub fn connect(_endpoint: Endpoint, _choice: Choice) -> Result<Box<dyn Model>, ModelError> {
    Err(ModelError::Setup("not connected".to_owned()))
}

/// What is known of a provider's model; `None` where nothing is.
pub fn facts(_provider: &str, _model: &str) -> Option<Facts> {
    None
}

/// The models of a provider that are known, for suggestions.
pub fn known_models(_provider: &str) -> Vec<&'static str> {
    Vec::new()
}
