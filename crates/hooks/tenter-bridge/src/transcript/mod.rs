//! Conversations as hosts record them: the messages and token counts that payloads of hosts lack (B12).
//!
//! A transcript is a file of JSON lines that only grows. Lines that cannot be read are skipped: a host may be writing the last one, and newer
//! versions write lines of other kinds. The position at which the present history begins is remembered, and
//! reading starts there: messages that a summary replaced are not read again.

mod claude_code;
mod codex;
mod history;

use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter_base::untrusted_file;
use tenter_protocol::Message;
use tenter_protocol::event::Usage;

use crate::Host;
use crate::host::HostVersion;
use crate::payload::Payload;
use history::History;

/// Maximum number of bytes that are read of a transcript.
const MAX_READ: u64 = 64 << 20;
/// Maximum number of bytes that are read for the version: Codex writes its instructions into the first line.
const MAX_VERSION_BYTES: u64 = 4 << 20;
/// Maximum number of lines that are read for the version: Claude Code writes lines without one before the first message.
const MAX_VERSION_LINES: usize = 20;

/// Adds a line of a transcript to the history.
type LineReader = fn(&mut History<'_>, &Value);

/// A host's format of transcripts.
struct Format {
    /// The host's id.
    host: &'static str,
    /// True if `transcript_path` names the main agent's file at events of subagents, too.
    names_main_agent: bool,
    read_line: LineReader,
    /// The version of the host in one of the first lines.
    version: fn(&Value) -> Option<&str>,
}

const FORMATS: &[Format] = &[
    Format {
        host: "claude-code",
        names_main_agent: true,
        read_line: claude_code::read_line,
        version: claude_code::version,
    },
    Format {
        host: "codex",
        names_main_agent: false,
        read_line: codex::read_line,
        version: codex::version,
    },
];

/// The content of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Transcript {
    /// The messages of the present history; the last one may be missing.
    pub(crate) messages: Arc<Vec<Message>>,
    /// The token counts; `None` if there are none.
    pub(crate) usage: Option<Usage>,
}

/// The position in a transcript at which the present history begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HistoryStart {
    /// The file.
    path: PathBuf,
    /// The position of its first line, in bytes.
    offset: u64,
    /// The tokens that models received and wrote before.
    sent: u64,
    received: u64,
}

impl HistoryStart {
    /// Returns whether it is after the beginning of the file.
    pub(crate) fn is_later(&self) -> bool {
        self.offset > 0
    }
}

/// Returns whether the bridge can read the transcripts of a host.
pub fn is_known(host: &Host) -> bool {
    format(host).is_some()
}

fn format(host: &Host) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.host == host.id)
}

/// Returns the transcript of the agent that causes an event, if the host names one in a format that the bridge reads.
pub(crate) fn named_in(host: &Host, payload: &Payload) -> Option<PathBuf> {
    let session_transcript = || {
        let is_other = format(host)?.names_main_agent && payload.text("agent_id").is_some();
        payload.text("transcript_path").filter(|_| !is_other)
    };
    format(host)?;
    payload.text("agent_transcript_path").or_else(session_transcript).map(PathBuf::from)
}

/// Reads the version of the host that began a transcript; `None` if the transcript does not contain it.
pub(crate) fn host_version(host: &Host, path: &Path) -> Option<HostVersion> {
    let format = format(host)?;
    let file = untrusted_file::open(path).ok()?;
    let lines = BufReader::new(file.take(MAX_VERSION_BYTES)).split(b'\n').take(MAX_VERSION_LINES);
    lines.map_while(Result::ok).find_map(|line| {
        let line = serde_json::from_slice(&line).ok()?;
        HostVersion::parse((format.version)(&line)?)
    })
}

/// Reads a transcript from `history_start`, or from its beginning.
///
/// # Errors
/// It is missing, not a regular file, or has more than 64 MiB to read.
pub(crate) fn read(
    host: &Host,
    path: &Path,
    history_start: Option<&HistoryStart>,
) -> io::Result<(Transcript, HistoryStart)> {
    let format = format(host).ok_or(io::ErrorKind::Unsupported)?;
    let mut file = untrusted_file::open(path)?;
    let size = file.metadata()?.len();
    let start = history_start.filter(|start| start.path == path && start.offset <= size);
    let mut start = start.cloned().unwrap_or_default();
    path.clone_into(&mut start.path);
    if size - start.offset > MAX_READ {
        return Err(io::Error::other("the transcript is too long"));
    }
    file.seek(SeekFrom::Start(start.offset))?;
    let mut lines = BufReader::new(file.take(MAX_READ));
    let mut history = History::new(host, start.sent, start.received);
    let (mut offset, mut line) = (start.offset, Vec::new());
    loop {
        line.clear();
        let length = lines.read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        if let Ok(value) = serde_json::from_slice(&line) {
            (format.read_line)(&mut history, &value);
        }
        if history.take_replaced() {
            start.offset = offset;
            (start.sent, start.received) = history.tokens();
        }
        offset += length as u64;
    }
    Ok((history.into_transcript(), start))
}

#[cfg(test)]
mod tests;
