//! Queries one hook for its events: `<hook> hook`, empty stdin, a timeout (R11). Reads the reply without interpreting it.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use tenter_proc::{Cancel, CapturedOutput, Invocation, Limits, ProcessEnd};
use tenter_protocol::executable::{self, Announcement, PROTOCOL_VERSION};
use tenter_protocol::runtime::SERVE_VARIABLE;

use crate::environment::HookEnvironment;
use crate::hook_state::HookOwner;
use crate::layer::Layer;

/// Timeout of a query (R11).
pub(crate) const QUERY_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of bytes read of a reply; all event names together are shorter.
const LONGEST_ANSWER: usize = 4096;
/// Maximum number of characters shown of an invalid reply.
const SHOWN_CHARACTERS: usize = 60;
/// Maximum number of stderr lines shown for a failure.
const STDERR_LINES: usize = 3;

/// The reply of a hook to the query for its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum QueryReply {
    /// The events that it subscribes to, and whether it can be called many times.
    Announced(Announcement),
    /// Invalid text, sanitized: the first line that names no event; empty when nothing was printed.
    Printed(String),
    /// A failure, as the end of a sentence that starts with the hook's name.
    Failed(String),
}

/// The parameters of a query: the same for all hooks of one load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Query<'a> {
    /// The project root: where hooks start (R40).
    pub(crate) project: &'a Path,
    /// The environment of hooks (R40).
    pub(crate) environment: &'a HookEnvironment,
    /// The timeout, by default [`QUERY_TIMEOUT`]. Nothing is started without time.
    pub(crate) timeout: Duration,
    /// Cancels the query.
    pub(crate) cancel: &'a Cancel,
}

impl Query<'_> {
    /// Queries the program at `path`, a hook with this full name and layer, for its events.
    pub(crate) fn ask(&self, name: &str, layer: Layer, path: &Path) -> QueryReply {
        if self.cancel.is_cancelled() {
            return QueryReply::Failed(
                "was not queried for its events: loading was cancelled".to_owned(),
            );
        }
        if self.timeout.is_zero() {
            return QueryReply::Failed("was not queried for its events".to_owned());
        }
        let owner = HookOwner { project: self.project, layer, name };
        let completion = tenter_proc::run(&self.invocation(owner, path), self.cancel);
        match completion.end {
            ProcessEnd::Exited(0) => read(&completion.stdout),
            end => {
                QueryReply::Failed(format!("{}{}", self.failure(&end), stderr(&completion.stderr)))
            }
        }
    }

    fn invocation(&self, owner: HookOwner<'_>, path: &Path) -> Invocation {
        Invocation {
            program: path.to_owned(),
            args: vec!["hook".into()],
            cwd: self.project.to_owned(),
            env: self.environment(owner, path),
            limits: Limits { timeout: self.timeout, keep: LONGEST_ANSWER, ..Limits::default() },
            ..Invocation::default()
        }
    }

    fn environment(&self, owner: HookOwner<'_>, path: &Path) -> Vec<(OsString, OsString)> {
        let directory = path.parent().unwrap_or(Path::new("/"));
        let mut variables: Vec<(&str, OsString)> = vec![
            ("TENTER_PROJECT_DIR", self.project.into()),
            ("TENTER_HOOK_DIR", directory.into()),
            ("TENTER_HOOK_NAME", owner.name.into()),
            ("TENTER_PROTOCOL_VERSION", PROTOCOL_VERSION.to_string().into()),
            (SERVE_VARIABLE, "1".into()),
        ];
        variables.extend(self.environment.state_variables(owner).0);
        self.environment.for_hook(&[], &variables)
    }

    fn failure(&self, end: &ProcessEnd) -> String {
        match end {
            ProcessEnd::Exited(code) => {
                format!("exited with code {code} when it was queried for its events")
            }
            ProcessEnd::Signalled(signal) => {
                format!("was terminated by signal {signal} when it was queried for its events")
            }
            ProcessEnd::TimedOut => format!("did not name its events within {:?}", self.timeout),
            ProcessEnd::Cancelled => {
                "was not queried for its events: loading was cancelled".to_owned()
            }
            ProcessEnd::NotStarted(error) => format!("could not be started: {error}"),
        }
    }
}

fn read(stdout: &CapturedOutput) -> QueryReply {
    let text = String::from_utf8_lossy(&stdout.head);
    if stdout.whole().is_none() {
        return QueryReply::Printed(shown(&text));
    }
    match executable::announcement(&text) {
        Ok(announcement) => QueryReply::Announced(announcement),
        Err(line) => QueryReply::Printed(shown(&line)),
    }
}

/// Makes untrusted text safe for a terminal: one line, no control characters (R44), limited length.
fn shown(text: &str) -> String {
    let mut characters = text.trim().chars();
    let visible = |character: char| match character {
        _ if character.is_whitespace() => ' ',
        _ if character.is_control() => '\u{fffd}',
        _ => character,
    };
    let mut excerpt: String = characters.by_ref().take(SHOWN_CHARACTERS).map(visible).collect();
    if characters.next().is_some() {
        excerpt.push('…');
    }
    excerpt
}

fn stderr(stderr: &CapturedOutput) -> String {
    let tail = stderr.tail_lines(STDERR_LINES);
    let lines: Vec<String> = tail.lines().map(shown).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { String::new() } else { format!("; it said: {}", lines.join(" | ")) }
}
