//! `tenter hooks to-prompt`: what a system prompt would say about hooks, as XML: the metadata, never the body (section 9 of
//! the specification).

use std::fs;
use std::path::{Path, PathBuf};

use tenter_base::sanitize;
use tenter_protocol::front_matter::Strictness;
use tenter_protocol::manifest::Manifest;
use tenter_terminal::{CommandResult, Exit, ui};

use super::manifest_file::ManifestFile;

/// Print what a system prompt would say about these hooks, as XML.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Hook directories, or their HOOK.md files.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

/// Prints the block, or nothing if one manifest is invalid: half a block would pass for the whole.
pub(super) fn run(args: &Args) -> CommandResult {
    let mut lines = vec!["<available_hooks>".to_owned()];
    let mut is_whole = true;
    for path in &args.paths {
        let file = ManifestFile::required_at(path)?;
        let (manifest, findings) = file.read(Strictness::Tolerant);
        ui::diagnostics(&findings);
        match manifest {
            Some(manifest) => lines.extend(hook(&manifest, &file.file)),
            None => is_whole = false,
        }
    }
    if !is_whole {
        return Ok(Exit::Failed);
    }
    lines.push("</available_hooks>".to_owned());
    ui::out(sanitize(&lines.join("\n")));
    Ok(Exit::Done)
}

fn hook(manifest: &Manifest, file: &Path) -> Vec<String> {
    let location = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let inner = [
        element("name", &manifest.name),
        element("description", &manifest.description),
        element("trigger", manifest.trigger.spelling),
        element("location", &location.to_string_lossy()),
        matcher(manifest),
    ];
    within("hook", inner.concat())
}

fn matcher(manifest: &Manifest) -> Vec<String> {
    let of = |name, text: &Option<String>| {
        text.as_deref().map(|text| element(name, text)).unwrap_or_default()
    };
    let inner =
        [of("tool", &manifest.matcher.tool), of("pattern", &manifest.matcher.pattern)].concat();
    if inner.is_empty() { inner } else { within("matcher", inner) }
}

fn element(name: &str, text: &str) -> Vec<String> {
    within(name, vec![escape(text)])
}

fn within(name: &str, inner: Vec<String>) -> Vec<String> {
    let mut lines = vec![format!("<{name}>")];
    lines.extend(inner);
    lines.push(format!("</{name}>"));
    lines
}

fn escape(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => output.push_str("&amp;"),
            '<' => output.push_str("&lt;"),
            '>' => output.push_str("&gt;"),
            '"' => output.push_str("&quot;"),
            '\'' => output.push_str("&#x27;"),
            other => output.push(other),
        }
    }
    output
}
