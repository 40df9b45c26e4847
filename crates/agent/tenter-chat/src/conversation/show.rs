//! `tenter conversation show`.

use std::path::Path;

use serde_json::{Value, json};
use tenter_agent::store::{Epoch, Origin, RecordedChange, StoredEntry, Summary};
use tenter_base::{sanitize, visible};
use tenter_commands::project;
use tenter_protocol::Block;
use tenter_protocol::event::TurnUsage;
use tenter_terminal::{
    CommandResult, Env, Exit, FAINT, Failure, HEADING, NAME, NOTICE, styled, ui,
};

use super::{
    changed_by, counted_messages, find, open_existing_store, status_word, summary_json, usage_text,
};
use crate::render::{call_line, result_lines};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The conversation: a prefix of its id, or "last" for the newest of this project.
    id: String,
    /// Include the messages of replaced histories.
    #[arg(long)]
    history: bool,
    /// Print a JSON object: the fields of the listing; messages: sequence, at, epoch, role, origin, content, blocks; and
    /// history: epoch, kind, by, reason, at, message_count.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let store = open_existing_store(env)?;
    let id = find(&store, &project::root(env, project)?, &args.id)?;
    let summary = store.load(&id).map_err(Failure::caused_by)?.summary;
    let conversation = ShownConversation {
        summary,
        epochs: store.history(&id).map_err(Failure::caused_by)?,
        history: args.history,
    };
    if args.json {
        ui::json(&conversation.json());
    } else {
        conversation.lines().iter().for_each(ui::out);
    }
    Ok(Exit::Done)
}

/// A conversation to show.
struct ShownConversation {
    summary: Summary,
    epochs: Vec<Epoch>,
    /// True if the messages of replaced histories are shown.
    history: bool,
}

impl ShownConversation {
    fn shows_messages_of(&self, epoch: &Epoch) -> bool {
        self.history || Some(epoch.number) == self.epochs.last().map(|last| last.number)
    }

    fn json(&self) -> Value {
        let epochs = self.epochs.iter().filter(|epoch| self.shows_messages_of(epoch));
        let mut object = summary_json(&self.summary);
        object["messages"] = epochs
            .flat_map(|epoch| epoch.entries.iter().map(|entry| message_json(epoch.number, entry)))
            .collect();
        object["history"] = self.epochs.iter().filter_map(change_json).collect();
        object
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = heading(&self.summary);
        let mut before = 0;
        for epoch in &self.epochs {
            if let Some(change) = &epoch.change {
                lines.extend([String::new(), change_line(change, before, self.history)]);
            }
            if self.shows_messages_of(epoch) {
                lines.extend(epoch.entries.iter().flat_map(message_lines));
            }
            before = epoch.entries.len() as u64;
        }
        lines.push(String::new());
        lines.extend(usage_lines(&self.summary));
        lines
    }
}

/// Returns a message as JSON; `content` is the text of `blocks`.
fn message_json(epoch: u64, entry: &StoredEntry) -> Value {
    let message = &entry.entry.message;
    json!({"sequence": entry.sequence, "at": entry.at, "epoch": epoch, "role": message.role,
           "origin": entry.entry.origin.to_string(), "content": message.content(), "blocks": message.blocks})
}

/// Returns a change of the history. `message_count` is the number of messages of the new history.
fn change_json(epoch: &Epoch) -> Option<Value> {
    let change = epoch.change.as_ref()?;
    Some(
        json!({"epoch": epoch.number, "kind": change.kind.as_str(), "by": change.by, "reason": change.reason,
                "at": change.at, "message_count": epoch.entries.len()}),
    )
}

fn heading(summary: &Summary) -> Vec<String> {
    let mut lines = vec![
        styled(HEADING, format!("conversation {}", sanitize(&summary.id))),
        format!("  project  {}", visible(&summary.project.to_string_lossy())),
        format!("  model    {}", sanitize(&summary.model)),
        format!("  begun    {}", ui::short_time(&summary.created_at)),
        format!("  saved    {}", ui::short_time(&summary.updated_at)),
        format!("  status   {}", sanitize(status_word(summary))),
    ];
    if let Some(parent) = &summary.parent {
        lines.push(format!("  parent   {}", sanitize(parent)));
    }
    if let Some(source) = &summary.forked_from {
        lines.push(format!("  fork of  {}", sanitize(source)));
    }
    lines
}

fn change_line(change: &RecordedChange, before: u64, is_shown: bool) -> String {
    let reason = change.reason.as_deref().map(|reason| format!(" ({})", sanitize(reason)));
    let hint = if is_shown { "" } else { "; --history shows them" };
    format!(
        "{} history replaced by {} ({}) at {}{}: {} set aside{}",
        styled(NOTICE, "↻"),
        styled(NAME, changed_by(change)),
        change.kind.as_str(),
        ui::short_time(&change.at),
        reason.unwrap_or_default(),
        counted_messages(before),
        styled(FAINT, hint),
    )
}

fn message_lines(entry: &StoredEntry) -> Vec<String> {
    let about = styled(FAINT, format!("#{} {}", entry.sequence, ui::short_time(&entry.at)));
    let mut lines =
        vec![String::new(), format!("{} {about}", styled(NAME, who(&entry.entry.origin)))];
    lines.extend(entry.entry.message.blocks.iter().flat_map(block_lines));
    lines
}

pub(super) fn who(origin: &Origin) -> String {
    let with_name = |kind: &str, name: &str| format!("{kind} {}", visible(name));
    match origin {
        Origin::User => "user".to_owned(),
        Origin::Model => "model".to_owned(),
        Origin::Tools => "tools".to_owned(),
        Origin::Hook(name) => with_name("hook", name),
        Origin::Mutation(name) => with_name("mutation by", name),
        Origin::Recipe(name) => with_name("recipe", name),
    }
}

fn block_lines(block: &Block) -> Vec<String> {
    match block {
        Block::Text { text } => sanitize(text).lines().map(|line| format!("  {line}")).collect(),
        Block::Reasoning { text } => {
            sanitize(text).lines().map(|line| styled(FAINT, format!("  {line}"))).collect()
        }
        Block::Image(image) => vec![format!("  {}", sanitize(&image.to_string()))],
        Block::ToolUse(call) => vec![format!("  {}", call_line(call, false))],
        Block::ToolResult { result, .. } => result_lines(result),
    }
}

fn usage_lines(summary: &Summary) -> Vec<String> {
    let usage = &summary.usage;
    let messages = counted_messages(summary.message_count);
    let mut lines = vec![styled(FAINT, format!("{messages} · {}", usage_text(usage)))];
    let TurnUsage { input_tokens, output_tokens, cached_input_tokens, cache_write_tokens } =
        usage.turn;
    if cached_input_tokens > 0 || cache_write_tokens > 0 {
        lines.push(styled(
            FAINT,
            format!(
                "last exchange: {input_tokens} tokens in ({cached_input_tokens} from the cache, {cache_write_tokens} into it), \
                 {output_tokens} out"
            ),
        ));
    }
    lines
}
