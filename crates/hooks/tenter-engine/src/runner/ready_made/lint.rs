//! `lint`: runs the project's linters on the files that a tool wrote, and gives their findings to the model.

use std::collections::BTreeSet;

use tenter_base::excerpt;
use tenter_proc::{Completion, ProcessEnd, Streams};
use tenter_protocol::Reply;

use super::call::ReadyMadeCall;
use super::project_tools::{LINTERS, ending, tools};
use crate::ready_made::tool_of_ending;

/// Number of lines of findings, unless the setting `lines` is another one.
const LINES: u32 = 40;

#[expect(clippy::unnecessary_wraps, reason = "the form of every ready-made hook")]
pub(super) fn reply(call: &ReadyMadeCall<'_>) -> Result<Reply, String> {
    let mut findings = BTreeSet::new();
    for file in call.written_files() {
        let short = call.short(&file).into_owned();
        let own = call.list("commands").iter().filter_map(|item| tool_of_ending(item).ok());
        for (_, command) in own.filter(|(suffix, _)| *suffix == ending(&file)) {
            let completion = call.run_shell(command, vec![("FILE".into(), (&file).into())]);
            let name = command.split_whitespace().next().unwrap_or("the linter");
            findings.extend(finding(name, &completion, &short, call));
        }
        for tool in tools(LINTERS, &file, call) {
            let completion = tool.run(&file, Vec::new(), Streams::Merged, call);
            findings.extend(finding(tool.tool.program, &completion, &short, call));
        }
    }
    if findings.is_empty() {
        return Ok(Reply::default());
    }
    Ok(super::context(findings.into_iter().collect::<Vec<_>>().join("\n\n")))
}

/// Returns what a linter found; `None` if it found nothing, or did not come to its end.
fn finding(
    name: &str,
    completion: &Completion,
    file: &str,
    call: &ReadyMadeCall<'_>,
) -> Option<String> {
    let output = completion.stdout.text();
    let ProcessEnd::Exited(code) = completion.end else { return None };
    if code == 0 || output.trim().is_empty() {
        return None;
    }
    let lines = match call.number("lines") {
        0 => LINES,
        lines => lines,
    };
    let output = excerpt::last_lines(output.trim(), lines as usize);
    Some(format!("{name} after the change of {file}:\n{output}"))
}
