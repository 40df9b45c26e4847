//! `tenter conversation show`.

use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};
use tenter_agent::store::{Change, Epoch, Origin, Store, StoredEntry, Summary};
use tenter_protocol::Block;

use super::{SummaryJson, counted_messages, open_store, status_word};
use crate::commands::Done;
use crate::env::Env;
use crate::failure::{Exit, Failure};
use crate::hooks;
use crate::render::{call_line, result_lines};
use crate::sanitize::sanitize;
use crate::ui::{self, FAINT, HEADING, NAME, NOTICE, styled};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The conversation: the beginning of its id, or "last" for the newest of this project.
    id: String,
    /// Show the messages of replaced histories, too.
    #[arg(long)]
    history: bool,
    /// Print a JSON object: the fields of the listing; messages: sequence, at, epoch, role, origin, content, blocks; and
    /// history: epoch, kind, by, reason, at, message_count.
    #[arg(long)]
    json: bool,
}

/// Does it.
pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> Done {
    let store = open_store(env)?.ok_or_else(|| {
        Failure::new("no conversation is stored yet").help("`tenter run` begins one")
    })?;
    let id = find(&store, &hooks::root(env, project)?, &args.id)?;
    let summary = store.load(&id)?.summary;
    let shown = Shown { summary, epochs: store.history(&id)?, history: args.history };
    if args.json {
        ui::out(serde_json::to_string_pretty(&shown.json()).unwrap_or_default());
    } else {
        shown.lines().iter().for_each(ui::out);
    }
    Ok(Exit::Done)
}

fn find(store: &Store, root: &Path, wanted: &str) -> Result<String, Failure> {
    if wanted != "last" {
        let advice = "`tenter conversation list --all --subagents` shows what there is";
        return store.find(wanted).map_err(|error| Failure::from(error).help(advice));
    }
    store.newest(Some(root))?.ok_or_else(|| {
        Failure::new(format!("no conversation of {} is stored yet", root.display()))
            .help("`tenter conversation list --all` shows those of other projects")
    })
}

/// A conversation as it is to be shown.
struct Shown {
    summary: Summary,
    epochs: Vec<Epoch>,
    /// Whether the messages of replaced histories are shown.
    history: bool,
}

#[derive(Serialize)]
struct ShownJson<'s> {
    #[serde(flatten)]
    summary: SummaryJson<'s>,
    messages: Vec<Value>,
    history: Vec<Value>,
}

impl Shown {
    fn shows_messages_of(&self, epoch: &Epoch) -> bool {
        self.history || Some(epoch.number) == self.epochs.last().map(|last| last.number)
    }

    fn json(&self) -> ShownJson<'_> {
        let shown = self.epochs.iter().filter(|epoch| self.shows_messages_of(epoch));
        ShownJson {
            summary: SummaryJson::from(&self.summary),
            messages: shown
                .flat_map(|epoch| {
                    epoch.entries.iter().map(|entry| message_json(epoch.number, entry))
                })
                .collect(),
            history: self.epochs.iter().filter_map(change_json).collect(),
        }
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
        lines.extend([String::new(), usage_line(&self.summary)]);
        lines
    }
}

/// `content` is the message as text; `blocks` are the message.
fn message_json(epoch: u64, stored: &StoredEntry) -> Value {
    let message = &stored.entry.message;
    json!({"sequence": stored.sequence, "at": stored.at, "epoch": epoch, "role": message.role,
           "origin": stored.entry.origin.to_string(), "content": message.content(), "blocks": message.blocks})
}

/// A change of history; `message_count` is how many messages the history that it began has.
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
        format!("  project  {}", sanitize(&summary.project.to_string_lossy())),
        format!("  model    {}", sanitize(&summary.model)),
        format!("  begun    {}", ui::short_time(&summary.created_at)),
        format!("  saved    {}", ui::short_time(&summary.updated_at)),
        format!("  status   {}", sanitize(status_word(summary))),
    ];
    if let Some(parent) = &summary.parent {
        lines.push(format!("  parent   {}", sanitize(parent)));
    }
    lines
}

fn change_line(change: &Change, before: u64, shown: bool) -> String {
    let by = match change.by.as_str() {
        "user" => "the user".to_owned(),
        hook => format!("hook {}", styled(NAME, sanitize(hook))),
    };
    let reason = change.reason.as_deref().map(|reason| format!(" ({})", sanitize(reason)));
    let hint = if shown { "" } else { "; --history shows them" };
    format!(
        "{} history replaced by {by} ({}) at {}{}: {} set aside{}",
        styled(NOTICE, "↻"),
        change.kind.as_str(),
        ui::short_time(&change.at),
        reason.unwrap_or_default(),
        counted_messages(before),
        styled(FAINT, hint),
    )
}

fn message_lines(stored: &StoredEntry) -> Vec<String> {
    let about = styled(FAINT, format!("#{} {}", stored.sequence, ui::short_time(&stored.at)));
    let mut lines =
        vec![String::new(), format!("{} {about}", styled(NAME, who(&stored.entry.origin)))];
    lines.extend(stored.entry.message.blocks.iter().flat_map(block_lines));
    lines
}

fn who(origin: &Origin) -> String {
    let named = |kind: &str, name: &str| format!("{kind} {}", sanitize(name));
    match origin {
        Origin::User => "user".to_owned(),
        Origin::Model => "model".to_owned(),
        Origin::Tools => "tools".to_owned(),
        Origin::Hook(name) => named("hook", name),
        Origin::Mutation(name) => named("mutation by", name),
        Origin::Recipe(name) => named("recipe", name),
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

fn usage_line(summary: &Summary) -> String {
    let usage = &summary.usage;
    let about = if usage.estimated { "about " } else { "" };
    let counts = format!("{about}{} tokens in, {} out", usage.input_tokens, usage.output_tokens);
    styled(FAINT, format!("{} · {counts}", counted_messages(summary.message_count)))
}
