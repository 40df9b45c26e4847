//! `tenter hooks schema`: the JSON Schema of what a hook reads or prints.

use tenter_protocol::lifecycle::executable_spellings;
use tenter_protocol::manifest::format::front_matter_schema;
use tenter_protocol::schema::HookDocument;
use tenter_terminal::{CommandResult, Exit, Failure, ui};

use super::format::Format;

/// Print the JSON Schema of payloads, replies, or the front matter of a HOOK.md.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Event, in any spelling [default: all events].
    event: Option<String>,
    /// Kind of the hook [default: manifest, unless only executables have this spelling].
    #[arg(long, value_name = "PROTOCOL")]
    protocol: Option<Format>,
    /// Print the schema of the reply instead of the payload.
    #[arg(long)]
    reply: bool,
    /// Print the schema of the front matter of a HOOK.md, for editors.
    #[arg(long, conflicts_with_all = ["event", "protocol", "reply"])]
    manifest: bool,
}

/// Runs `tenter hooks schema`.
pub(super) fn run(args: &Args) -> CommandResult {
    if args.manifest {
        ui::json(&front_matter_schema());
        return Ok(Exit::Done);
    }
    let document = if args.reply { HookDocument::Reply } else { HookDocument::Payload };
    let implied = args.event.as_deref().map_or(Format::Manifest, Format::implied_by);
    let protocol = args.protocol.unwrap_or(implied).protocol();
    let schema = match &args.event {
        None => document.schema_of_all(protocol),
        Some(word) => {
            let events = super::events_named(word)?;
            let schema = events.iter().find_map(|event| document.schema(*event, protocol));
            schema.ok_or_else(|| only_manifest_hooks(word))?
        }
    };
    ui::json(&schema);
    Ok(Exit::Done)
}

fn only_manifest_hooks(word: &str) -> Failure {
    let possible = executable_spellings().join(", ");
    Failure::usage(format!("executable hooks do not have the event {word}"))
        .help(format!("omit `--protocol executable`, or choose one of {possible}"))
}
