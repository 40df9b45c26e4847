//! Features of Claude Code that scripts need and that other agents lack.

use std::path::{Path, PathBuf};

use tenter_base::untrusted_file;

use super::Source;

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
    let words = shlex::split(command).unwrap_or_default();
    let scripts = words.iter().filter_map(|word| file(word, source));
    let texts: Vec<String> =
        scripts.filter_map(|file| untrusted_file::read_to_string(&file).ok()).collect();
    let contains =
        |need: &str| command.contains(need) || texts.iter().any(|text| text.contains(need));
    let needs = NEEDS.iter().filter(|(need, _)| contains(need));
    needs.map(|(_, remark)| (*remark).to_owned()).collect()
}

/// Returns the file that a word names, if there is one.
fn file(word: &str, source: &Source) -> Option<PathBuf> {
    let mut word = word.to_owned();
    let plugin = source.plugin_root.as_deref().unwrap_or(&source.project);
    for (name, directory) in [
        ("CLAUDE_PROJECT_DIR", source.project.as_path()),
        ("CLAUDE_PLUGIN_ROOT", plugin),
        ("HOME", source.home.as_path()),
    ] {
        let directory = directory.to_string_lossy();
        word = word.replace(&format!("${{{name}}}"), &directory);
        word = word.replace(&format!("${name}"), &directory);
    }
    let path = match word.strip_prefix("~/") {
        Some(rest) => source.home.join(rest),
        None => source.project.join(Path::new(&word)),
    };
    path.is_file().then_some(path)
}
