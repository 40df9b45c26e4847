//! Facts in a form that is easy to read and to compare.

use std::fmt::Write as _;

use tenter_shell::{Command, Facts, FlowSource, Location, Path, Stdin, Uncertain};

/// The directory that is not shown.
const CWD: &str = "/home/ann/app";

/// Returns one line for each command, with its paths and flows below it.
pub(crate) fn render(facts: &Facts) -> String {
    let mut text = String::new();
    for (index, command) in facts.commands.iter().enumerate() {
        let _ = writeln!(text, "{index} {}", line(command));
        for path in facts.paths.iter().filter(|path| path.command == Some(index)) {
            let _ = writeln!(text, "    {}", path_line(path));
        }
        for flow in facts.flows.iter().filter(|flow| flow.into == index) {
            let from = match flow.from {
                FlowSource::Command(from) => from.to_string(),
                FlowSource::Network => "network".to_owned(),
            };
            let _ = writeln!(text, "    {} from {from}", word(&flow.role));
        }
        for code in facts.code.iter().filter(|code| code.command == index) {
            let dynamic = if code.dynamic { " dynamic" } else { "" };
            let _ = writeln!(text, "    {}{dynamic} {:?}", word(&code.language), code.text);
        }
    }
    for statement in &facts.sql {
        let condition = if statement.has_where { " where" } else { "" };
        let _ = writeln!(text, "sql of {}: {}{condition}", statement.command, statement.statement);
    }
    for path in facts.paths.iter().filter(|path| path.command.is_none()) {
        let _ = writeln!(text, "{}", path_line(path));
    }
    if facts.forkbomb {
        text.push_str("forkbomb\n");
    }
    if facts.unparsed {
        text.push_str("unparsed\n");
    }
    text
}

fn line(command: &Command) -> String {
    let mut line = command.via.join(" > ");
    if !line.is_empty() {
        line += " > ";
    }
    line += command.path.as_ref().unwrap_or(&command.program);
    for flag in &command.flags {
        let _ = write!(line, " {}", shown(flag));
    }
    if let Some(subcommand) = &command.subcommand {
        let _ = write!(line, " :{}", shown(subcommand));
    }
    if !command.operands.is_empty() {
        line += " |";
    }
    for (index, operand) in command.operands.iter().enumerate() {
        let dashes = if command.dashes == Some(index) { " --" } else { "" };
        let _ = write!(line, "{dashes} {}", shown(operand));
    }
    let mut notes: Vec<String> =
        command.env.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect();
    match &command.cwd {
        Some(cwd) if cwd != CWD => notes.push(format!("in {cwd}")),
        _ => {}
    }
    match &command.stdin_from {
        Some(Stdin::Commands(from)) => notes.push(format!("stdin {from:?}")),
        Some(Stdin::Text(text)) => notes.push(format!("stdin {text:?}")),
        Some(Stdin::File(file)) => notes.push(format!("stdin < {}", shown(file))),
        None => {}
    }
    for redirect in &command.redirects {
        notes.push(format!("{}{}{}", redirect.fd, redirect.op, shown(&redirect.target)));
    }
    if command.location != Location::Local {
        notes.push(word(&command.location));
    }
    for uncertain in command.uncertain.iter().filter(|_| command.location == Location::Local) {
        notes.push(match uncertain {
            Uncertain::Program => "program?".to_owned(),
            Uncertain::Cwd => "cwd?".to_owned(),
            Uncertain::Arg(index) => format!("{index}?"),
        });
    }
    if !notes.is_empty() {
        let _ = write!(line, "  [{}]", notes.join(", "));
    }
    line
}

fn path_line(path: &Path) -> String {
    let mut line = word(&path.op);
    if path.recursive {
        line += " all of";
    }
    if path.glob {
        line += " matches of";
    }
    let _ = write!(line, " {}", path.path);
    if path.inside_project != (word(&path.place) == "project") {
        let _ = write!(line, " inside={}", path.inside_project);
    }
    let _ = write!(line, " ({})", word(&path.place));
    if !path.certain {
        line += " ?";
    }
    line
}

fn shown(text: &str) -> String {
    let is_plain = !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c == '"');
    if is_plain { text.to_owned() } else { format!("{text:?}") }
}

fn word<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}
