//! The rules that a question offers to store.

use std::path::Path;

use tenter_protocol::ToolCall;
use tenter_protocol::facts::CallFacts;
use tenter_shell::UseKind;

use super::Rule;
use super::command_line::RunCommand;

/// Maximum number of rules offered at once.
const MAX_RULES: usize = 3;
/// Maximum length of the text of a rule that is offered, in bytes.
const MAX_RULE_LENGTH: usize = 160;
/// Programs for which no rule is offered unless the command only reads: they run other programs, or their effects cannot be undone.
const NEVER_OFFERED: &[&str] = tenter_base::words!(
    "awk bash chmod chown curl dash dd doas docker entr env fd find fish flock gawk ksh kill kubectl
     launchctl ln mv nc nice nohup npx parallel perl php pkill pkexec podman rm rsync ruby scp screen
     sed setsid sh shred ssh stdbuf strace su sudo systemctl tee time timeout tmux truncate uvx watch
     wget xargs zsh"
);

/// Returns the rules for these commands, if one can be offered for each.
pub(super) fn propose_for_commands<'c>(
    commands: impl Iterator<Item = &'c RunCommand>,
    project: &Path,
) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for command in commands {
        match propose_for_command(command, project) {
            Some(rule) if rules.contains(&rule) => {}
            Some(rule) if rules.len() < MAX_RULES => rules.push(rule),
            _ => return Vec::new(),
        }
    }
    rules
}

/// Returns the rule for a command: for all uses of it with the same effect if that is known, otherwise for exactly this call (R84).
fn propose_for_command(command: &RunCommand, project: &Path) -> Option<Rule> {
    if let Some(usage) = command.effect {
        let word = match usage.kind() {
            UseKind::Reads => "reads",
            UseKind::Builds => "builds",
        };
        return format!("{word}({})", usage.name()).parse().ok();
    }
    let program = command.program.as_str();
    if command.is_nested
        || command.is_powerful
        || command.has_path()
        || NEVER_OFFERED.contains(&program)
        || program.starts_with("python")
    {
        return None;
    }
    let directory = command.cwd.strip_prefix(project).ok()?.to_str()?;
    let directory = if directory.is_empty() { "." } else { directory };
    let words = std::iter::once(program).chain(command.args.iter().map(|arg| arg.text.as_str()));
    let words: Vec<String> = words.map(quote).collect::<Option<_>>()?;
    let text = format!("bash(cd {} && {})", quote(directory)?, words.join(" "));
    let rule: Rule = text.parse().ok().filter(|_| text.len() <= MAX_RULE_LENGTH)?;
    // A pattern of the shell stands for other files each time.
    rule.allows_command(command, project).then_some(rule)
}

/// Returns a word of a rule, in quotes if it needs them; `None` if it cannot be shown on one line.
fn quote(word: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.:+/=,@%".contains(c);
    match word {
        _ if !word.is_empty() && word.chars().all(is_plain) => Some(word.to_owned()),
        _ if word.chars().any(|c| c == '\'' || c.is_control()) => None,
        _ => Some(format!("'{word}'")),
    }
}

/// Returns the rule for a tool of an MCP server; none if the call names a program, as a rule cannot tell one program from another.
pub(super) fn propose_for_mcp(call: &ToolCall, facts: &CallFacts) -> Option<Rule> {
    const PROGRAMS: &[&str] =
        tenter_base::words!("args argv cmd code command commands expression script shell sql");
    let names_program = |field: &String| PROGRAMS.contains(&field.to_lowercase().as_str());
    let runs = !facts.commands.is_empty() || call.input.keys().any(names_program);
    call.name.parse().ok().filter(|_| !runs)
}

/// Returns the rule for changes by `tool` of this file and the files next to it.
pub(super) fn propose_for_file(tool: &str, file: &Path, project: &Path) -> Option<Rule> {
    let relative = file.strip_prefix(project).ok()?.to_str()?;
    let is_plain = |c: char| c.is_alphanumeric() || "_-./+@ ".contains(c);
    if !relative.chars().all(is_plain) {
        return None;
    }
    // Directories such as `.github` and `.cargo` have files of which each does something else.
    let pattern = match relative.split_once('/') {
        Some((top, _)) if !relative.split('/').any(|part| part.starts_with('.')) => {
            format!("{top}/**")
        }
        _ => relative.to_owned(),
    };
    format!("{tool}({pattern})").parse().ok()
}
