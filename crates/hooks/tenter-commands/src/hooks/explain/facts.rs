//! The effect of a tool call in words: its commands and paths.

use tenter_base::{one_line, visible};
use tenter_protocol::facts::{CallFacts, Command, Location, Path, PathPlace, Uncertain};
use tenter_terminal::{FAINT, HEADING, NAME, styled};

/// Characters of a command or path that are shown.
const SHOWN: usize = 200;

/// Returns one line for each command and path; none if the call has none.
pub(super) fn lines(facts: &CallFacts) -> Vec<String> {
    let commands = facts.commands.iter().map(command);
    let paths = facts.paths.iter().map(path);
    let mut lines = Vec::new();
    lines.extend((!facts.commands.is_empty()).then(|| styled(HEADING, "Commands")));
    lines.extend(commands);
    lines.extend((!facts.paths.is_empty()).then(|| styled(HEADING, "Paths")));
    lines.extend(paths);
    let forkbomb = facts.forkbomb.then_some("It is a fork bomb.");
    let unparsed = facts.unparsed.then_some("A part of it could not be read.");
    lines.extend(forkbomb.into_iter().chain(unparsed).map(str::to_owned));
    lines
}

fn command(command: &Command) -> String {
    let mut parts = vec![format!("program {}", command.program)];
    let mut add = |name: &str, words: &[String]| {
        if !words.is_empty() {
            parts.push(format!("{name} {}", words.join(" ")));
        }
    };
    add("subcommand", command.subcommand.as_slice());
    add("flags", &command.flags);
    add("operands", &command.operands);
    add("via", &command.via);
    match command.location {
        Location::Local => {}
        Location::Remote => parts.push("on another machine".to_owned()),
        Location::Container => parts.push("in a container".to_owned()),
    }
    let unknown = command.uncertain.iter().map(|uncertain| match uncertain {
        Uncertain::Program => "program".to_owned(),
        Uncertain::Cwd => "directory".to_owned(),
        Uncertain::Arg(index) => command.args.get(*index).cloned().unwrap_or_default(),
    });
    let unknown: Vec<String> = unknown.collect();
    if !unknown.is_empty() {
        parts.push(format!("unknown: {}", unknown.join(", ")));
    }
    line(&command.text, &parts)
}

fn path(path: &Path) -> String {
    let place = match path.place {
        PathPlace::Project => "in the project",
        PathPlace::Temp => "in a temporary directory",
        PathPlace::Home => "in the home directory",
        PathPlace::System => "outside the project",
        PathPlace::Device => "a device",
        PathPlace::Remote => "on another machine",
    };
    let op = serde_json::to_value(path.op).unwrap_or_default();
    let mut parts = vec![op.as_str().unwrap_or_default().to_owned(), place.to_owned()];
    parts.extend(path.recursive.then(|| "with everything below it".to_owned()));
    parts.extend((!path.certain).then(|| "not certain".to_owned()));
    line(&path.path, &parts)
}

fn line(text: &str, parts: &[String]) -> String {
    let parts = one_line(&parts.join(" · "), SHOWN);
    format!("  {}  {}", styled(NAME, visible(&one_line(text, SHOWN))), styled(FAINT, parts))
}
