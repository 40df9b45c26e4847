//! `/model`, `/usage` and `/compact`.

use std::collections::BTreeMap;

use tenter_base::sanitize;
use tenter_terminal::screen::screen;
use tenter_terminal::{Failure, ui};

use super::{CommandContext, SlashResult};
use crate::agent::recipes::argument;
use crate::agent::{self, models};
use crate::chat::{ChatEnd, SessionChange};

/// Shows the model; or switches to another, in a new session on the same conversation.
pub(super) fn model(context: &mut CommandContext, name: &str) -> SlashResult {
    if name.is_empty() {
        ui::out(sanitize(context.agent.model.name()));
        return Ok(None);
    }
    let cancel = context.chat.new_cancel();
    let models::ConnectedModel { model, findings } =
        agent::model_named(&context.chat.project, context.chat.args, name, &cancel)?;
    ui::diagnostics(&findings);
    ui::note(format!("Switched to {}.", sanitize(model.name())));
    Ok(Some(ChatEnd::Change(SessionChange::Model(model))))
}

/// Shows the tokens and the cost of the conversation so far.
#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
pub(super) fn usage(context: &mut CommandContext, _argument: &str) -> SlashResult {
    let usage = context.session.usage();
    let about = if usage.estimated { " (estimated)" } else { "" };
    let window = match usage.max_context_window {
        0 => context.agent.model.context_window(),
        known => known,
    };
    let tokens_in_use = usage.current_context_window;
    ui::out(format!("  in       {} tokens{about}", usage.input_tokens));
    ui::out(format!("  out      {} tokens{about}", usage.output_tokens));
    ui::out(format!("  cached   {} tokens of the last request", usage.turn.cached_input_tokens));
    let share = (tokens_in_use * 100).checked_div(window).unwrap_or(0);
    ui::out(format!("  context  {tokens_in_use} of {window} tokens ({share} %)"));
    let cost = usage.cost_usd.map_or_else(|| "unknown".to_owned(), |cost| format!("${cost:.4}"));
    ui::out(format!("  cost     {cost}"));
    Ok(None)
}

/// Compacts the conversation. Errors are shown as they happen.
pub(super) fn compact(context: &mut CommandContext, argument: &str) -> SlashResult {
    let args = arguments(argument)?;
    let cancel = context.chat.new_cancel();
    context.session.renew(cancel.clone());
    let working = screen().work();
    let compacted = agent::compact(context.session, &args, &cancel);
    drop(working);
    if let Ok(words) = compacted {
        ui::note(words);
        if !context.chat.args.no_save {
            ui::note(agent::how_to_restore(context.session));
        }
    }
    Ok(None)
}

/// Reads `NAME=VALUE …`; a word without `=` continues the value before it.
fn arguments(text: &str) -> Result<BTreeMap<String, String>, Failure> {
    let mut args: Vec<(String, String)> = Vec::new();
    for word in text.split_whitespace() {
        match (argument(word), args.last_mut()) {
            (Ok(arg), _) => args.push(arg),
            (Err(_), Some((_, value))) => {
                value.push(' ');
                value.push_str(word);
            }
            (Err(_), None) => {
                return Err(Failure::usage(format!("{word:?} is not an argument"))
                    .help("use /compact or /compact NAME=VALUE"));
            }
        }
    }
    Ok(args.into_iter().collect())
}
