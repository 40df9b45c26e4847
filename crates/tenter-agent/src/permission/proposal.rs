//! The rules that a question offers to store.

use std::path::Path;

use super::Rule;
use super::command_line::RunCommand;

/// Maximum number of rules offered at once.
const MOST: usize = 3;
/// Programs for which no rule with any arguments is offered: they run other programs, or what they do cannot be undone.
const NEVER: &[&str] = &[
    "awk",
    "bash",
    "chmod",
    "chown",
    "curl",
    "dash",
    "dd",
    "doas",
    "docker",
    "entr",
    "env",
    "fd",
    "find",
    "fish",
    "flock",
    "gawk",
    "ksh",
    "kill",
    "kubectl",
    "launchctl",
    "ln",
    "mv",
    "nc",
    "nice",
    "nohup",
    "npx",
    "parallel",
    "perl",
    "php",
    "pkill",
    "pkexec",
    "podman",
    "rm",
    "rsync",
    "ruby",
    "scp",
    "screen",
    "sed",
    "setsid",
    "sh",
    "shred",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemctl",
    "tee",
    "time",
    "timeout",
    "tmux",
    "truncate",
    "uvx",
    "watch",
    "wget",
    "xargs",
    "zsh",
];
/// Subcommands that run other programs.
const NEVER_SUBCOMMANDS: &[&str] =
    &["bisect", "config", "dlx", "eval", "exec", "filter-branch", "foreach", "submodule", "x"];
/// Package managers whose `run` names a script.
const SCRIPTS: [&str; 4] = ["bun", "npm", "pnpm", "yarn"];

/// The rules for these commands, if one can be offered for each.
pub(super) fn of_commands<'c>(commands: impl Iterator<Item = &'c RunCommand>) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for command in commands {
        match of_command(command) {
            Some(rule) if rules.contains(&rule) => {}
            Some(rule) if rules.len() < MOST => rules.push(rule),
            _ => return Vec::new(),
        }
    }
    rules
}

fn of_command(command: &RunCommand) -> Option<Rule> {
    let program = command.program.as_str();
    let is_plain = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:+".contains(c))
    };
    if command.is_nested
        || command.is_powerful
        || command.has_path()
        || NEVER.contains(&program)
        || program.starts_with("python")
        || !is_plain(program)
    {
        return None;
    }
    let first = command.args.first().map(|arg| arg.text.as_str());
    let words = match &command.subcommand {
        None => program.to_owned(),
        // Options come before it: a rule with them would not be clear.
        Some(subcommand) if first != Some(subcommand) => return None,
        Some(subcommand) if subcommand == "run" => {
            let script = command.args.get(1)?.text.as_str();
            let is_script =
                SCRIPTS.contains(&program) && is_plain(script) && !script.starts_with('-');
            is_script.then(|| format!("{program} run {script}"))?
        }
        Some(subcommand)
            if NEVER_SUBCOMMANDS.contains(&subcommand.as_str()) || !is_plain(subcommand) =>
        {
            return None;
        }
        Some(subcommand) => format!("{program} {subcommand}"),
    };
    format!("bash({words} *)").parse().ok()
}

/// The rule for the files next to this one that `tool` changes.
pub(super) fn of_file(tool: &str, file: &Path, project: &Path) -> Option<Rule> {
    let relative = file.strip_prefix(project).ok()?.to_str()?;
    let is_plain = |c: char| c.is_alphanumeric() || "_-./+@ ".contains(c);
    if !relative.chars().all(is_plain) {
        return None;
    }
    let pattern = relative
        .split_once('/')
        .map_or_else(|| relative.to_owned(), |(top, _)| format!("{top}/**"));
    format!("{tool}({pattern})").parse().ok()
}
