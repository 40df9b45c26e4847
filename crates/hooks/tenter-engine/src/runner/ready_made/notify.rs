//! `notify`: notifies the user when the agent is done after a while, or waits for an answer.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tenter_base::one_line;
use tenter_proc::Streams;
use tenter_protocol::{Body, Reply};

use super::call::{Command, ReadyMadeCall};

/// Maximum number of characters of a notification.
const MAX_CHARACTERS: usize = 160;
/// Passes the texts as arguments, so that nothing in them is read as a script.
const APPLE_SCRIPT: &str =
    "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";

/// The state of a conversation.
#[derive(Default, Serialize, Deserialize)]
struct TurnStart {
    /// The time of the last message of the user, in milliseconds since 1970.
    at: i64,
}

pub(super) fn reply(call: &ReadyMadeCall<'_>) -> Result<Reply, String> {
    let text = match call.body() {
        Body::BeforeAgent { .. } => {
            let now = call.now();
            call.change_state(|start: &mut TurnStart| start.at = now)?;
            None
        }
        Body::BeforeTool(tool) => {
            let host = call.scope().host.as_ref().and_then(|host| host.tool_name.as_deref());
            let names = [Some(tool.name.as_str()), host];
            let waits = |name: &String| names.contains(&Some(name.as_str()));
            let waits = call.list("questions").iter().any(waits);
            waits.then(|| "The agent waits for your answer.".to_owned())
        }
        Body::AfterAgent { response } => done(response, call)?,
        _ => None,
    };
    if let Some(text) = &text {
        notify(&one_line(text, MAX_CHARACTERS), call);
    }
    Ok(Reply { log: text, ..Reply::default() })
}

/// Returns the notification about an agent that is done; `None` if that took less than a while.
fn done(response: &str, call: &ReadyMadeCall<'_>) -> Result<Option<String>, String> {
    let start = call.change_state(|start: &mut TurnStart| start.at)?;
    let seconds = (call.now() - start) / 1000;
    if start == 0 || seconds < i64::from(call.number("seconds")) {
        return Ok(None);
    }
    let time = if seconds < 120 { format!("{seconds} s") } else { format!("{} min", seconds / 60) };
    let response = response.trim().lines().next().unwrap_or_default();
    Ok(Some(format!("Done after {time}. {response}")))
}

/// Notifies the user in every way that is set. A way that does not work on this machine is left out.
fn notify(text: &str, call: &ReadyMadeCall<'_>) {
    let project = call.project().file_name().map(|name| name.to_string_lossy().into_owned());
    let title = project.unwrap_or_else(|| "Agent".to_owned());
    if call.is_on("bell")
        && let Ok(mut terminal) = OpenOptions::new().write(true).open("/dev/tty")
    {
        let _ = terminal.write_all(b"\x07");
    }
    let command = call.text("command");
    if !command.is_empty() {
        let variables = vec![("TITLE".into(), title.as_str().into()), ("TEXT".into(), text.into())];
        let _ = call.run_shell(command, variables);
    }
    if call.is_on("desktop") {
        let desktop: &[(&str, &[&str])] =
            &[("notify-send", &["--app-name=tenter", "--"]), ("osascript", &["-e", APPLE_SCRIPT])];
        let program =
            |(name, args): &(&str, &'static [&'static str])| Some((call.program(name)?, *args));
        if let Some((program, args)) = desktop.iter().find_map(program) {
            let _ = call.run(Command {
                program: &program,
                args: args.iter().copied().chain([title.as_str(), text]).map(Into::into).collect(),
                directory: Path::new("/"),
                stdin: Vec::new(),
                variables: Vec::new(),
                streams: Streams::Merged,
            });
        }
    }
}
