//! `tenter hooks complete`: asks the configured model on behalf of a runtime hook in another agent (S15). `tenter-hook` starts it: it has
//! no models itself.
//!
//! The request is read from stdin. What is printed is one JSON object: `completion`, `unsupported` without a model, or `failed`.

use std::io::{self, Read as _};

use serde_json::json;
use tenter_agent::model::completion;
use tenter_proc::Cancel;
use tenter_protocol::json;
use tenter_protocol::runtime::{Completion, CompletionRequest, ModelChoice};

use crate::agent::{AgentArgs, models};
use crate::commands::CommandResult;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::{signals, ui};

/// Maximum size of a request, in bytes.
const MAX_REQUEST: u64 = 2 << 20;

/// Ask the model on behalf of a runtime hook; the request is on stdin.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(super) fn run(project: &Project) -> CommandResult {
    let mut text = String::new();
    io::stdin()
        .lock()
        .take(MAX_REQUEST)
        .read_to_string(&mut text)
        .map_err(|error| Failure::new(format!("cannot read the request: {error}")))?;
    let request: CompletionRequest = serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format!("the request is not valid: {error}")))?;
    let cancel = Cancel::new();
    signals::forward(&cancel)?;
    let result = match complete(project, &request, &cancel) {
        Ok(completion) => json!({"completion": completion}),
        Err(NotCompleted::Unsupported(why)) => json!({"unsupported": why}),
        Err(NotCompleted::Failed(why)) => json!({"failed": why}),
    };
    ui::out_piece(json::to_line(&result));
    Ok(Exit::Done)
}

enum NotCompleted {
    Unsupported(String),
    Failed(String),
}

fn complete(
    project: &Project,
    request: &CompletionRequest,
    cancel: &Cancel,
) -> Result<Completion, NotCompleted> {
    let has_weak = project.settings.models.weak_model.is_some();
    let args = AgentArgs {
        use_weak_model: request.model == ModelChoice::Weak && has_weak,
        ..AgentArgs::default()
    };
    let model = models::choose(project, &args, None, cancel)
        .map_err(|failure| NotCompleted::Unsupported(failure.to_string()))?
        .model;
    let completed = completion::complete(&*model, request, cancel);
    completed
        .map(|completed| completed.completion)
        .map_err(|error| NotCompleted::Failed(error.to_string()))
}
