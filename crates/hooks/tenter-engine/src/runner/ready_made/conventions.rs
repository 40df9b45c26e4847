//! `conventions`: adds the project's conventions when a message or a file matches.

use std::collections::BTreeSet;
use std::path::Path;

use regex::RegexBuilder;
use serde::{Deserialize, Serialize};
use tenter_base::{excerpt, untrusted_file};
use tenter_protocol::{Body, Reply};

use super::call::ReadyMadeCall;
use crate::matcher::path_fits;
use crate::ready_made::convention;

/// Maximum size of a file with conventions, in bytes.
const MAX_FILE: u64 = 64 << 10;
/// Maximum number of bytes of the conventions that one event adds.
const MAX_TEXT: usize = 16 << 10;

/// The state of a conversation: the texts that were added, each once.
#[derive(Default, Serialize, Deserialize)]
struct AddedTexts {
    texts: BTreeSet<String>,
}

pub(super) fn reply(call: &ReadyMadeCall<'_>) -> Result<Reply, String> {
    let texts = match call.body() {
        Body::BeforeAgent { message } => for_message(message, call)?,
        Body::AfterTool { .. } => for_paths(call),
        _ => Vec::new(),
    };
    if texts.is_empty() {
        return Ok(Reply::default());
    }
    let new = call.change_state(|state: &mut AddedTexts| {
        let is_new = |text: &String| state.texts.insert(text.clone());
        texts.into_iter().filter(is_new).collect::<Vec<_>>()
    })?;
    let new: Vec<String> = new.iter().filter_map(|text| content(text, call)).collect();
    if new.is_empty() {
        return Ok(Reply::default());
    }
    let text = new.join("\n\n");
    Ok(super::context(format!("Conventions of this project:\n{}", excerpt::head(&text, MAX_TEXT))))
}

/// Returns the entries of a setting as pattern and text: `migration => Write a test for each migration.`
fn entries<'c>(name: &str, call: &ReadyMadeCall<'c>) -> impl Iterator<Item = (&'c str, &'c str)> {
    call.list(name).iter().filter_map(|entry| convention(entry).ok())
}

fn for_message(message: &str, call: &ReadyMadeCall<'_>) -> Result<Vec<String>, String> {
    let mut texts = Vec::new();
    for (pattern, text) in entries("messages", call) {
        let expression = RegexBuilder::new(pattern).case_insensitive(true).build();
        let expression = expression
            .map_err(|error| format!("the pattern {pattern:?} cannot be used: {error}"))?;
        if expression.is_match(message) {
            texts.push(text.to_owned());
        }
    }
    Ok(texts)
}

fn for_paths(call: &ReadyMadeCall<'_>) -> Vec<String> {
    let facts = call.facts();
    let paths = facts.facts.call.paths.iter().filter(|path| path.inside_project && path.certain);
    let paths: Vec<_> = paths.map(|path| call.short(Path::new(&path.path)).into_owned()).collect();
    let fits = |(pattern, _): &(&str, &str)| paths.iter().any(|path| path_fits(pattern, path));
    entries("paths", call).filter(fits).map(|(_, text)| text.to_owned()).collect()
}

/// Returns a text, or the content of the file of the project that it names: `@docs/style.md`.
fn content(text: &str, call: &ReadyMadeCall<'_>) -> Option<String> {
    let Some(name) = text.strip_prefix('@') else { return Some(text.to_owned()) };
    let bytes = untrusted_file::read_prefix(&call.project().join(name), MAX_FILE).ok()?;
    Some(format!("{name}:\n{}", String::from_utf8_lossy(&bytes).trim()))
}
