//! The names of imported hooks: what their commands run.

use std::borrow::Cow;
use std::path::Path;

use super::slug;
use crate::hook_lint::has_windows_path;

/// Programs that run the script that follows them.
const INTERPRETERS: [&str; 18] = *tenter_base::words!(
    "bash sh zsh env exec python python3 uv run node npx bun deno ruby perl command powershell
     pwsh"
);
/// Options of interpreters before code that is no file.
const CODE_OPTIONS: [&str; 2] = ["-c", "-e"];
/// Programs that say nothing about the purpose of a command that begins with them.
const FILTERS: [&str; 18] = [
    "awk", "cat", "cd", "cut", "echo", "grep", "head", "if", "input", "jq", "printf", "read",
    "sed", "tail", "tee", "test", "tr", "xargs",
];
/// Endings of scripts.
const SCRIPT_ENDINGS: [&str; 10] =
    ["bash", "cjs", "js", "mjs", "pl", "ps1", "py", "rb", "sh", "ts"];

/// Words that are no text in a manifest.
const NO_TEXTS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// Returns names after the script that the command runs, else after its program and subcommand: `block-rm`, `npm-run-lint`. A command
/// that begins with code or with a filter, such as `jq`, is named after the last script in it, else after the event and the matcher.
pub(super) fn names(command: &str, event: &str, matcher: Option<&str>) -> Vec<String> {
    let slashes = has_windows_path(command).then(|| command.replace('\\', "/"));
    let command = slashes.as_deref().unwrap_or(command);
    let words = shlex::split(command)
        .unwrap_or_else(|| command.split_whitespace().map(str::to_owned).collect());
    let stem = slug(&stem(&words).unwrap_or_default(), 40);
    let is_text = !NO_TEXTS.contains(&&*stem) && stem.contains(|c: char| c.is_ascii_lowercase());
    let stem = if is_text { stem } else { String::new() };
    let event = slug(&hyphenate(event), 20);
    let best = match (stem.is_empty(), slug(matcher.unwrap_or_default(), 20)) {
        (false, _) => stem,
        (true, matcher) if matcher.is_empty() => format!("claude-{event}"),
        (true, matcher) => format!("claude-{event}-{matcher}"),
    };
    let second = format!("{best}-{event}");
    vec![best, second]
}

/// Returns what a command runs; `None` if it is code that has no name.
fn stem(words: &[String]) -> Option<String> {
    let is_name = |word: &&String| {
        let base = file_stem(word);
        !word.starts_with('-') && !word.contains('=') && !INTERPRETERS.contains(&&*base)
    };
    let script = |word: Option<&String>| word.map(|word| file_stem(word).into_owned());
    let first = words.first()?;
    let is_code = first.contains("$(") || first.contains('`');
    if is_code || words.iter().any(|word| CODE_OPTIONS.contains(&word.as_str())) {
        return script(words.iter().rfind(|word| is_script(word)));
    }
    if file_stem(first) == "powershell" || first == "pwsh" {
        return script(words.iter().find(|word| is_script(word)));
    }
    let place = words.iter().position(|word| is_name(&word))?;
    let mut name = file_stem(&words[place]).into_owned();
    if FILTERS.contains(&name.as_str()) {
        return script(words.iter().rfind(|word| is_script(word)));
    }
    if !words[place].contains(['/', '.']) {
        let more = words[place + 1..].iter().take_while(|word| is_subcommand(word)).take(2);
        more.for_each(|word| name = format!("{name}-{word}"));
    }
    Some(name)
}

fn is_script(word: &str) -> bool {
    let ending = Path::new(word).extension().and_then(std::ffi::OsStr::to_str);
    word.contains('/') && ending.is_some_and(|ending| SCRIPT_ENDINGS.contains(&ending))
}

/// Returns whether a word after a program is a subcommand.
fn is_subcommand(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-:".contains(c))
}

fn file_stem(word: &str) -> Cow<'_, str> {
    Path::new(word).file_stem().map(std::ffi::OsStr::to_string_lossy).unwrap_or_default()
}

/// Turns `PreToolUse` into `Pre-Tool-Use`.
fn hyphenate(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            text.push('-');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_hooks_do() {
        for (command, name) in [
            ("\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/check-style.sh", "check-style"),
            ("python3 ~/.claude/hooks/Bash_Validator.py --strict", "bash-validator"),
            ("uv run $CLAUDE_PROJECT_DIR/x/log.py", "log"),
            ("bash ./block-rm.sh", "block-rm"),
            ("npm run lint", "npm-run-lint"),
            ("npm run lint -- --fix", "npm-run-lint"),
            ("cargo fmt --all", "cargo-fmt"),
            ("FOO=1 npx prettier --write", "prettier"),
            ("jq -r '.tool_input.file_path' | xargs .claude/hooks/format.sh", "format"),
            ("jq -r '.tool_input.command' >> log", "claude-pre-tool-use-bash"),
            ("python3 -c 'import sys'", "claude-pre-tool-use-bash"),
            ("echo 'unclosed", "claude-pre-tool-use-bash"),
            ("f=$(jq -r '.tool_input.file_path'); [ -f \"$f\" ]", "claude-pre-tool-use-bash"),
            ("cd \"$PWD\" && [ -d wiki ]", "claude-pre-tool-use-bash"),
            ("node -e 'x()' .codex/hooks/guard.mjs", "guard"),
            ("powershell -ExecutionPolicy Bypass -File \"%USERPROFILE%\\hooks\\stop.ps1\"", "stop"),
            ("python C:\\Users\\ada\\hooks\\log.py", "log"),
            ("!!!", "claude-pre-tool-use-bash"),
            ("true", "claude-pre-tool-use-bash"),
            ("./42", "claude-pre-tool-use-bash"),
        ] {
            assert_eq!(names(command, "PreToolUse", Some("Bash"))[0], name, "{command}");
        }
        assert_eq!(names("jq .", "Stop", None)[0], "claude-stop");
    }
}
