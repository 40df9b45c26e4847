//! `tenter hooks complete`: asks the configured model on behalf of a runtime hook in another agent (S15). `tenter-hook` starts it: it has
//! no models itself.
//!
//! The request is read from stdin. What is printed is one JSON object: `completion`, `unsupported` without a model, or `failed`.

use std::io::{self, Read as _};

use serde_json::json;
use tenter_protocol::json;
use tenter_protocol::runtime::CompletionRequest;
use tenter_terminal::{CommandResult, Exit, Failure, signals, ui};

use crate::project::Project;
use crate::{CompletionError, OwnAgent};

/// Maximum size of a request, in bytes.
const MAX_REQUEST: u64 = 2 << 20;

/// Ask the model on behalf of a runtime hook; the request is on stdin.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub(super) fn run(project: &Project, agent: &dyn OwnAgent) -> CommandResult {
    let mut text = String::new();
    io::stdin()
        .lock()
        .take(MAX_REQUEST)
        .read_to_string(&mut text)
        .map_err(|error| Failure::new(format!("cannot read the request: {error}")))?;
    let request: CompletionRequest = serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format!("the request is not valid: {error}")))?;
    let cancel = signals::cancel()?;
    let result = match agent.complete(project, &request, &cancel) {
        Ok(completion) => json!({"completion": completion}),
        Err(CompletionError::Unsupported(why)) => json!({"unsupported": why}),
        Err(CompletionError::Failed(why)) => json!({"failed": why}),
    };
    ui::out_piece(json::to_line(&result));
    Ok(Exit::Done)
}
