//! The title of a session: the first words that the user wrote in it, from the transcript of its agent.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tenter_base::one_line;

use crate::places::HostPlaces;
use crate::readers;

/// Minimum length of the id of a session: a shorter one could be a part of any path.
const MIN_ID: usize = 8;
/// Maximum length of the start of a transcript that is read, in bytes.
const MAX_START: u64 = 4 << 20;
/// Maximum number of lines that are read.
const MAX_LINES: usize = 200;
/// Maximum depth at which a message may be in a record.
const MAX_DEPTH: usize = 6;
/// Maximum length of a title, in characters.
const MAX_TITLE: usize = 200;
/// Elements in which agents put the user's text. Other elements at the start of a message are the agent's own.
const USER_ELEMENTS: [&str; 3] = ["<user_input", "<task", "<user_query"];
/// Starts of texts that agents write in the user's name.
const AGENT_TEXTS: [&str; 3] = ["# AGENTS.md", "Caveat:", "[Request interrupted"];

/// Finds the titles of sessions. It lists the transcripts of an agent once.
#[derive(Debug)]
pub struct TitleFinder {
    places: HostPlaces,
    files: BTreeMap<&'static str, Vec<PathBuf>>,
}

impl TitleFinder {
    /// Creates a finder for the transcripts of a user.
    pub fn new(places: HostPlaces) -> Self {
        Self { places, files: BTreeMap::new() }
    }

    /// Returns the first words of the user in a session, on one line and unmasked; `None` if no transcript has them.
    pub fn title(&mut self, host: &str, session: &str) -> Option<String> {
        let reader = readers::find(host).filter(|_| session.len() >= MIN_ID)?;
        let places = &self.places;
        let files = self.files.entry(reader.host).or_insert_with(|| (reader.files)(places));
        let text = match files.first()?.extension() {
            Some(extension) if extension == "db" => {
                files.iter().find_map(|file| readers::opencode::first_words(file, session))
            }
            _ => first_words(files.iter().find(|file| is_of_session(file, session))?),
        };
        text.map(|text| one_line(&text, MAX_TITLE)).filter(|title| !title.is_empty())
    }
}

/// Returns whether the path of a transcript contains the id of the session. Gemini CLI's has the first eight characters.
fn is_of_session(file: &Path, session: &str) -> bool {
    let path = file.to_string_lossy();
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let is_subagent = path.contains("/subagents/");
    let short = session.get(..8).map(|start| format!("-{start}"));
    let is_short =
        name.starts_with("session-") && short.is_some_and(|start| name.ends_with(&start));
    !is_subagent && (path.contains(session) || is_short)
}

fn first_words(file: &Path) -> Option<String> {
    let mut reader = BufReader::new(File::open(file).ok()?.take(MAX_START));
    if file.extension().is_some_and(|extension| extension == "json") {
        return user_text(&serde_json::from_reader(reader).ok()?, MAX_DEPTH);
    }
    let mut line = Vec::new();
    for _ in 0..MAX_LINES {
        line.clear();
        if reader.read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        let record: Option<Value> = serde_json::from_slice(&line).ok();
        if let Some(text) = record.and_then(|record| user_text(&record, MAX_DEPTH)) {
            return Some(text);
        }
    }
    None
}

/// Returns the text of the first message of the user in a record.
pub(crate) fn user_text(record: &Value, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    match record {
        Value::Array(items) => items.iter().find_map(|item| user_text(item, depth)),
        Value::Object(fields) if is_of_user(record) => {
            ["content", "input", "message", "parts", "text", "data"]
                .iter()
                .find_map(|name| message_text(fields.get(*name)?, depth))
        }
        Value::Object(fields) => fields.values().find_map(|value| user_text(value, depth)),
        _ => None,
    }
}

fn is_of_user(record: &Value) -> bool {
    let is_message =
        ["user", "user.message", "turn.prompt"].iter().any(|kind| record["type"] == *kind);
    (is_message || record["role"] == "user") && record["isMeta"] != true
}

fn message_text(content: &Value, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    match content {
        Value::String(text) => written_by_user(text).map(str::to_owned),
        Value::Array(items) => items.iter().find_map(|item| message_text(item, depth)),
        Value::Object(fields) if content["type"] != "tool_result" => ["content", "text", "parts"]
            .iter()
            .find_map(|name| message_text(fields.get(*name)?, depth)),
        _ => None,
    }
}

/// Returns the user's part of a message: `<user_input mode="act">Fix it</user_input>` → `Fix it`.
fn written_by_user(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_of_agent = AGENT_TEXTS.iter().any(|start| text.starts_with(start));
    if text.is_empty() || is_of_agent {
        return None;
    }
    if !text.starts_with('<') {
        return Some(text);
    }
    USER_ELEMENTS.iter().find(|element| text.starts_with(*element))?;
    let (_, inner) = text.split_once('>')?;
    let inner = inner.split_once("</").map_or(inner, |(inner, _)| inner).trim();
    (!inner.is_empty()).then_some(inner)
}
