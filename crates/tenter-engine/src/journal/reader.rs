//! Reads journals. A line that is cut or that a newer Tenter wrote in another form is counted, never an end.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use super::record::Record;

/// The file of a conversation's journal.
pub(super) fn path(folder: &Path, conversation: &str) -> PathBuf {
    // Ids are made by Tenter, but one may come from a command line: it must not lead out of the folder.
    let name: String = conversation
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' })
        .collect();
    folder.join(format!("{name}.jsonl"))
}

/// The records of a conversation in the order in which they were written, and how many lines could not be read.
///
/// # Errors
/// When the file is there but cannot be read; a conversation without a journal has no records.
pub fn read(folder: &Path, conversation: &str) -> io::Result<(Vec<Record>, usize)> {
    let file = match File::open(path(folder, conversation)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), 0)),
        Err(error) => return Err(error),
    };
    let mut records = Vec::new();
    let mut unreadable = 0;
    for line in BufReader::new(file).split(b'\n') {
        let line = line?;
        match serde_json::from_slice(&line) {
            Ok(record) => records.push(record),
            Err(_) if line.is_empty() => {}
            Err(_) => unreadable += 1,
        }
    }
    Ok((records, unreadable))
}

/// The conversations that have a journal, oldest first by the time of their last line.
///
/// # Errors
/// When the folder is there but cannot be read.
pub fn conversations(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(conversation) = name.strip_suffix(".jsonl") {
            found.push((entry.metadata()?.modified()?, conversation.to_owned()));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, conversation)| conversation).collect())
}
