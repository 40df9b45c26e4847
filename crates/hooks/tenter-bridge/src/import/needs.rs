//! Features of Claude Code that scripts need and that other agents lack.

use std::path::PathBuf;

use tenter_base::untrusted_file;

use super::Source;
use crate::hook_lint::{resolve, variables_of_host};

/// Texts in scripts that need Claude Code, with the remark about each.
const NEEDS: [(&str, &str); 2] = [
    (
        "transcript_path",
        "its script reads `transcript_path`: in other agents, this file has what their events show, without thoughts, texts between calls, and token counts; under `tenter run`, the field is missing",
    ),
    (
        "CLAUDE_ENV_FILE",
        "its script writes to `CLAUDE_ENV_FILE`, which only Claude Code sets: elsewhere the variable is missing",
    ),
];

/// Returns the remarks about a command and the scripts that it names.
pub(super) fn remarks(command: &str, source: &Source) -> Vec<String> {
    let texts = scripts(command, source);
    let contains =
        |need: &str| command.contains(need) || texts.iter().any(|text| text.contains(need));
    let needs = NEEDS.iter().filter(|(need, _)| contains(need));
    let needs = needs.map(|(_, remark)| (*remark).to_owned());
    let variables = variables_of_host(source.host, command).into_iter();
    let variables = variables.filter(|name| NEEDS.iter().all(|(need, _)| need != name));
    let host = source.host.name;
    let variables = variables.map(|name| {
        format!("its command uses ${name}, which only {host} sets: elsewhere it is empty")
    });
    needs.chain(variables).collect()
}

/// Returns the texts of the scripts that a command names.
pub(super) fn scripts(command: &str, source: &Source) -> Vec<String> {
    let words = shlex::split(command).unwrap_or_default();
    let files = words.iter().filter_map(|word| file(word, source));
    files.filter_map(|file| untrusted_file::read_to_string(&file).ok()).collect()
}

/// Returns the file that a word names, if there is one.
fn file(word: &str, source: &Source) -> Option<PathBuf> {
    let plugin = source.plugin_root.as_deref().unwrap_or(&source.project).to_string_lossy();
    let word = word.replace("${CLAUDE_PLUGIN_ROOT}", &plugin);
    let word = word.replace("$CLAUDE_PLUGIN_ROOT", &plugin);
    resolve(&word, &source.project, &source.home).filter(|path| path.is_file())
}
