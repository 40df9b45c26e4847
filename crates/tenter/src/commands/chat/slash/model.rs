//! `/model`, `/usage` and `/compact`.

use std::collections::BTreeMap;

use super::Talk;
use crate::agent::recipes::argument;
use crate::agent::{self, models};
use crate::commands::chat::{After, Change};
use crate::failure::Failure;
use crate::sanitize::sanitize;
use crate::ui;

/// Shows the model; or goes on with another, in a new session on the same conversation.
pub(super) fn model(talk: &mut Talk, name: &str) -> Result<Option<After>, Failure> {
    if name.is_empty() {
        ui::out(sanitize(talk.agent.model.name()));
        return Ok(None);
    }
    let cancel = talk.chat.new_cancel();
    let models::Chosen { model, findings } =
        agent::model_named(&talk.chat.project, talk.chat.args, name, &cancel)?;
    ui::diagnostics(&findings);
    ui::note(format!("The model is {} from now on.", sanitize(model.name())));
    Ok(Some(After::Change(Change::Model(model))))
}

/// Shows what the conversation took so far.
#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
pub(super) fn usage(talk: &mut Talk, _argument: &str) -> Result<Option<After>, Failure> {
    let usage = talk.session.usage();
    let about = if usage.estimated { " (estimated)" } else { "" };
    let window = match usage.max_context_window {
        0 => talk.agent.model.context_window(),
        known => known,
    };
    let used = usage.current_context_window;
    ui::out(format!("  in       {} tokens{about}", usage.input_tokens));
    ui::out(format!("  out      {} tokens{about}", usage.output_tokens));
    ui::out(format!("  cached   {} tokens of the last request", usage.turn.cached_input_tokens));
    let share = (used * 100).checked_div(window).unwrap_or(0);
    ui::out(format!("  context  {used} of {window} tokens ({share} %)"));
    let cost = usage.cost_usd.map_or_else(|| "not known".to_owned(), |cost| format!("${cost:.4}"));
    ui::out(format!("  cost     {cost}"));
    Ok(None)
}

/// Shortens the conversation. What keeps it from that is told as it happens.
pub(super) fn compact(talk: &mut Talk, argument: &str) -> Result<Option<After>, Failure> {
    let args = arguments(argument)?;
    let cancel = talk.chat.new_cancel();
    talk.session.renew(cancel.clone());
    if let Ok(words) = agent::compact(talk.session, &args, &cancel) {
        ui::note(words);
        if !talk.chat.args.no_save {
            ui::note(agent::how_to_restore(talk.session));
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
                return Err(Failure::usage(format!("{word:?} is no argument"))
                    .help("write /compact NAME=VALUE, or /compact alone"));
            }
        }
    }
    Ok(args.into_iter().collect())
}
