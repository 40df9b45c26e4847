//! `tenter conversation export`: to stdout, or to a file that is written atomically.

use std::io::ErrorKind;
use std::path::Path;

use serde_json::{Value, json};
use tenter_agent::store::{Epoch, Store, StoreError, StoredEntry, Summary};
use tenter_base::replace_file;
use tenter_commands::project;
use tenter_terminal::{CommandResult, Env, Exit, Failure, ui};

use super::{find, markdown, open_existing_store, summary_json};

/// The permission bits of an exported file.
const MODE: u32 = 0o600;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The conversation: a prefix of its id, or "last" for the newest of this project.
    id: String,
    /// Markdown for reading, or one JSON object with every history.
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    format: ExportFormat,
    /// Write to this file, readable only by you, instead of stdout.
    #[arg(long, short, value_name = "FILE")]
    output: Option<std::path::PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    Markdown,
    Json,
}

pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let store = open_existing_store(env)?;
    let id = find(&store, &project::root(env, project)?, &args.id)?;
    let summary = store.load(&id).map_err(Failure::caused_by)?.summary;
    let epochs = store.history(&id).map_err(Failure::caused_by)?;
    let text = match args.format {
        ExportFormat::Markdown => markdown::document(&summary, &epochs),
        ExportFormat::Json => {
            serde_json::to_string_pretty(&object(&summary, &epochs)).unwrap_or_default() + "\n"
        }
    };
    match &args.output {
        None => ui::out_piece(text),
        Some(file) => write(&env.cwd.join(file), &text, args.force)?,
    }
    Ok(Exit::Done)
}

/// Returns a stored conversation as Markdown.
pub(crate) fn as_markdown(store: &Store, id: &str) -> Result<String, StoreError> {
    let summary = store.load(id)?.summary;
    Ok(markdown::document(&summary, &store.history(id)?))
}

/// Writes an export to a file that only the user can read.
///
/// # Errors
/// The file cannot be written, or it exists and `force` is not set.
pub(crate) fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let result = if force {
        replace_file::replace_with_mode(path, text.as_bytes(), Some(MODE)).map(drop)
    } else {
        replace_file::create(path, text.as_bytes(), MODE)
    };
    result.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::new(format!("{} already exists", path.display()))
            .help("pass --force to replace it"),
        _ => Failure::new(format!("cannot write {}: {error}", path.display())),
    })
}

/// Returns the complete conversation as one object.
fn object(summary: &Summary, epochs: &[Epoch]) -> Value {
    let mut object = summary_json(summary);
    object["recipe"] = json!(summary.recipe);
    object["epochs"] = epochs.iter().map(epoch_json).collect();
    object
}

fn epoch_json(epoch: &Epoch) -> Value {
    let change = epoch.change.as_ref().map(|change| {
        json!({"kind": change.kind.as_str(), "by": change.by, "reason": change.reason, "at": change.at})
    });
    let messages: Vec<Value> = epoch.entries.iter().map(message_json).collect();
    json!({"epoch": epoch.number, "change": change, "messages": messages})
}

fn message_json(entry: &StoredEntry) -> Value {
    let message = &entry.entry.message;
    let mut object = json!({"sequence": entry.sequence, "at": entry.at, "role": message.role,
        "origin": entry.entry.origin.to_string(), "blocks": message.blocks});
    if let Some(native) = &message.native {
        object["native"] = native.clone();
    }
    object
}
