//! The control lines that `tenter-hook` and the keeper exchange besides messages of the runtime protocol.
//!
//! A control line begins with `!`: `!{"ended":"exited with code 3"}`. Every other line is a message.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;

use serde::{Deserialize, Serialize};
use tenter_engine::Layer;
use tenter_engine::trust::Fingerprint;
use tenter_protocol::runtime::Initialize;

/// The first character of control lines.
const MARK: u8 = b'!';
/// Maximum length of a control line, in bytes.
const MAX_CONTROL: u64 = 1 << 20;

/// A control line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ControlLine {
    /// To the keeper, first: opens a connection to the process of a hook.
    Open(Box<Opening>),
    /// To the keeper: asks for its status.
    Status,
    /// To the keeper: end when the requests have ended.
    Retire,
    /// From the keeper: the hook has a process.
    Accepted,
    /// From the keeper: the turn to send an event request.
    Granted {
        /// The `concurrency` of the hook's answer to `initialize`.
        concurrency: usize,
        /// True if others had the turn before, or the hook started.
        has_waited: bool,
    },
    /// From the keeper: its status.
    Kept(KeeperStatus),
    /// From the keeper: the stderr of the hook during the request whose response follows.
    Stderr(String),
    /// From the keeper, last: the reason why there is no process, as the end of a sentence that begins with the process.
    Ended(String),
}

/// A hook, and how its process is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// The parameters of `initialize`.
    pub initialize: Initialize,
    /// The hook's layer.
    pub layer: Layer,
    /// The hash of its content.
    pub fingerprint: Fingerprint,
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working directory.
    pub cwd: String,
    /// Its environment.
    pub env: Vec<(String, String)>,
}

/// The status of a keeper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeeperStatus {
    /// Its process.
    pub pid: u32,
    /// The project.
    pub project: String,
    /// The time of its start, in RFC 3339.
    pub since: String,
    /// The processes of hooks.
    pub hooks: Vec<KeptHook>,
}

/// The process of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptHook {
    /// The hook's full name.
    pub hook: String,
    /// Its layer.
    pub layer: String,
    /// The time of its start, in RFC 3339.
    pub since: String,
    /// Number of requests that it has answered.
    pub answered: u64,
}

impl ControlLine {
    /// Returns the line, with its line break.
    pub fn to_line(&self) -> Vec<u8> {
        let json = serde_json::to_vec(self).unwrap_or_default();
        [&[MARK][..], &json, b"\n"].concat()
    }
}

/// Reads a line: `None` if it is a message of the runtime protocol.
///
/// # Errors
/// It is a control line that this version does not know.
pub fn read_control(line: &[u8]) -> Option<io::Result<ControlLine>> {
    let json = line.strip_prefix(&[MARK])?;
    Some(serde_json::from_slice(json).map_err(io::Error::other))
}

pub(super) fn write(mut stream: &UnixStream, line: &ControlLine) -> io::Result<()> {
    stream.write_all(&line.to_line())
}

pub(super) fn read(stream: &UnixStream) -> io::Result<ControlLine> {
    let mut line = Vec::new();
    BufReader::new(stream.take(MAX_CONTROL)).read_until(b'\n', &mut line)?;
    read_control(&line).unwrap_or_else(|| Err(io::Error::other("this is no control line")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_lines_are_marked_and_messages_are_not() {
        let line = ControlLine::Ended("it exited".to_owned()).to_line();
        assert_eq!(line, b"!{\"ended\":\"it exited\"}\n");
        assert_eq!(read_control(&line).unwrap().unwrap(), ControlLine::Ended("it exited".into()));
        assert!(read_control(b"{\"jsonrpc\": \"2.0\"}\n").is_none());
        assert!(read_control(b"!{\"later\": 1}\n").unwrap().is_err());
        assert!(read_control(b"!").unwrap().is_err());
    }
}
