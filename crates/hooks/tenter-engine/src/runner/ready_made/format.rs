//! `format`: formats the files that a tool wrote, as the project does, and reports it to the model.

use std::fs;
use std::path::Path;

use tenter_base::{excerpt, replace_file, untrusted_file};
use tenter_proc::{Completion, ProcessEnd, Streams};
use tenter_protocol::Reply;

use super::call::{Command, ReadyMadeCall};
use super::project_tools::{FORMATTERS, ending, tools};
use crate::ready_made::tool_of_ending;

/// Maximum size of a file that is formatted, in bytes.
const MAX_FILE: u64 = 2 << 20;
/// Maximum number of bytes of a formatter's error message.
const MAX_ERROR: usize = 2_000;

pub(super) fn reply(call: &ReadyMadeCall<'_>) -> Result<Reply, String> {
    let mut results = Vec::new();
    for file in call.written_files() {
        results.extend(format(&file, call)?);
    }
    Ok(if results.is_empty() { Reply::default() } else { super::context(results.join("\n")) })
}

/// Formats a file. Returns what the model needs to know.
fn format(file: &Path, call: &ReadyMadeCall<'_>) -> Result<Option<String>, String> {
    let Ok(before) = untrusted_file::read_no_follow(file, MAX_FILE) else { return Ok(None) };
    let Some((name, completion)) = run(file, &before, call) else { return Ok(None) };
    let short = call.short(file);
    match completion.end {
        ProcessEnd::Exited(0) => {}
        ProcessEnd::Exited(_) => {
            let error = completion.stderr.text();
            let error = excerpt::ends(error.trim(), MAX_ERROR).into_owned();
            return Ok(Some(format!("{name} cannot format {short}: {error}")));
        }
        // The time is over, or the program cannot be started.
        _ => return Ok(None),
    }
    let Some(after) = completion.stdout.whole().filter(|after| !after.is_empty()) else {
        return Ok(None);
    };
    if after == before {
        return Ok(None);
    }
    let metadata =
        fs::symlink_metadata(file).map_err(|error| format!("cannot read {short}: {error}"))?;
    replace_file::replace_keeping(file, after, &metadata)
        .map_err(|error| format!("cannot write {short}: {error}"))?;
    Ok(Some(format!("{name} reformatted {short}: read it again before you edit it.")))
}

/// Runs the formatter for a file on its content. Returns the formatter's name and its output; `None` without a formatter.
fn run(file: &Path, content: &[u8], call: &ReadyMadeCall<'_>) -> Option<(String, Completion)> {
    let own = call.list("commands").iter().filter_map(|item| tool_of_ending(item).ok());
    let mut own = own.filter(|(suffix, _)| *suffix == ending(file));
    if let Some((_, command)) = own.next() {
        let completion = call.run(Command {
            program: Path::new("/bin/sh"),
            args: vec!["-c".into(), command.into()],
            directory: call.project(),
            stdin: content.to_vec(),
            variables: vec![("FILE".into(), file.into())],
            streams: Streams::Separate,
        });
        let name = command.split_whitespace().next().unwrap_or("the formatter");
        return Some((name.to_owned(), completion));
    }
    let tool = tools(FORMATTERS, file, call).next()?;
    let completion = tool.run(file, content.to_vec(), Streams::Separate, call);
    Some((tool.tool.program.to_owned(), completion))
}
