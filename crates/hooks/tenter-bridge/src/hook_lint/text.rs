//! The texts of a command and of the script that it runs.

use std::path::{Path, PathBuf};

use tenter_base::{search_path, untrusted_file};

use super::{LintedFile, Problem};

/// Maximum size of a script that is read, in bytes.
const MAX_SCRIPT: u64 = 256 << 10;
/// Programs that take more than 100 ms to start.
const SLOW_PROGRAMS: [&str; 12] = [
    "npx", "npm", "pnpm", "yarn", "bunx", "uvx", "uv", "docker", "podman", "cargo", "go", "dotnet",
];
/// Programs that run the script that follows them.
const INTERPRETERS: [&str; 10] =
    ["bash", "sh", "zsh", "python", "python3", "node", "ruby", "perl", "bun", "deno"];
/// Words in a script that refuses a call.
const REFUSALS: [&str; 8] =
    ["block", "deny", "denied", "refus", "forbid", "not allowed", "prohibit", "prevent"];

/// A command of a hook, and the text of the script that it runs.
pub(super) struct CommandText {
    command: String,
    /// The script's path, if the command runs one by its path.
    script: Option<PathBuf>,
    /// The first words: true if an interpreter runs the script.
    has_interpreter: bool,
    /// The text of the script; empty if there is none.
    text: String,
}

impl CommandText {
    pub(super) fn new(command: &str, file: &LintedFile) -> Self {
        let words = shlex::split(command).unwrap_or_default();
        let is_variable = |word: &&String| {
            let name = word.split_once('=').map(|(name, _)| name);
            name.is_some_and(|name| {
                !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            })
        };
        let mut words = words.iter().skip_while(is_variable);
        let first = words.next().cloned().unwrap_or_default();
        let is_path =
            |word: &str| word.contains('/') && !word.contains("://") && !word.starts_with('-');
        let base = first.rsplit('/').next().unwrap_or_default();
        let is_interpreter = INTERPRETERS.contains(&base);
        let has_interpreter = is_interpreter || !is_path(&first);
        let script = if is_interpreter {
            let is_shell = base.ends_with("sh");
            let mut words = words.take_while(|word| !is_before_code(word, is_shell));
            words.find(|word| !word.starts_with('-')).filter(|word| is_path(word)).cloned()
        } else {
            Some(first).filter(|first| is_path(first))
        };
        let script = script.and_then(|word| resolve(&word, &file.project, &file.home));
        let text =
            script.as_ref().and_then(|path| untrusted_file::read_prefix(path, MAX_SCRIPT).ok());
        let text =
            text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        Self { command: command.to_owned(), script, has_interpreter, text }
    }

    pub(super) fn command(&self) -> &str {
        &self.command
    }

    /// Returns whether the command sets a variable itself.
    pub(super) fn assigns(&self, name: &str) -> bool {
        self.command.contains(&format!("{name}="))
            || self.command.contains(&format!("read {name}"))
            || self.command.contains(&format!("read -r {name}"))
    }

    /// Returns the first of these answers that the command or its script prints.
    pub(super) fn ignored_answer(&self, answers: &[&'static str]) -> Option<&'static str> {
        let plain = |text: &str| text.replace("\\\"", "\"").split_whitespace().collect::<String>();
        let texts = [plain(&self.command), plain(&self.text)];
        let valid = ["permissionDecision", "\"decision\":\"block\""];
        if texts.iter().any(|text| valid.iter().any(|answer| text.contains(answer))) {
            return None;
        }
        answers.iter().find(|answer| texts.iter().any(|text| text.contains(**answer))).copied()
    }

    /// Returns whether the command or its script refuses calls, exits with 1, and blocks in no other way.
    pub(super) fn blocks_with_1(&self) -> bool {
        let text = format!("{}\n{}", self.command, self.text).to_ascii_lowercase();
        let exits = |code: u8| {
            ["exit", "exit(", "sys.exit(", "process.exit("].iter().any(|exit| {
                let space = if exit.ends_with('(') { "" } else { " " };
                text.contains(&format!("{exit}{space}{code}"))
            })
        };
        let answers = ["permissiondecision", "\"decision\"", "'decision'"];
        exits(1)
            && !exits(2)
            && !answers.iter().any(|answer| text.contains(answer))
            && REFUSALS.iter().any(|word| text.contains(word))
    }

    /// Returns the problem that the script is missing or cannot be executed.
    pub(super) fn script_problem(&self, file: &LintedFile) -> Option<Problem> {
        if has_windows_path(&self.command) {
            return Some(Problem::new(
                "it has a Windows path, which does not exist here",
                "write the path with `/`, and with $HOME or the variable of the project's directory",
            ));
        }
        let script = self.script.as_ref()?;
        let path = script.display();
        if !script.exists() {
            let is_foreign = ["/home", "/Users"].iter().any(|homes| script.starts_with(homes))
                && !script.starts_with(&file.home);
            let (message, help) = if is_foreign {
                (
                    format!("{path} is a path of another user"),
                    "write the path with $HOME, or with the variable of the project's directory",
                )
            } else {
                (format!("{path} does not exist"), "create the script, or remove the entry")
            };
            return Some(Problem::new(message, help));
        }
        let is_blocked =
            !self.has_interpreter && script.is_file() && !search_path::is_executable(script);
        is_blocked.then(|| {
            Problem::new(
                format!("{path} is not executable, so it does not run"),
                format!("run `chmod +x {path}`"),
            )
        })
    }
}

/// Returns whether a word of an interpreter is the option before code: `bash -lc`, `node -e`, `python3 -c`.
fn is_before_code(word: &str, is_shell: bool) -> bool {
    if ["--eval", "--print"].contains(&word) {
        return true;
    }
    let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return false;
    };
    let is_code = |c: char| c == 'c' || !is_shell && "epm".contains(c);
    letters.chars().all(|c| c.is_ascii_alphabetic()) && letters.contains(is_code)
}

/// Returns the absolute path of a word; `None` if a part of it is not known.
pub(crate) fn resolve(word: &str, project_root: &Path, home_root: &Path) -> Option<PathBuf> {
    let (project, home) = (project_root.to_string_lossy(), home_root.to_string_lossy());
    let mut word = word.replace("$(git rev-parse --show-toplevel)", &project);
    let directories = [
        "CLAUDE_PROJECT_DIR",
        "GEMINI_PROJECT_DIR",
        "QWEN_PROJECT_DIR",
        "FACTORY_PROJECT_DIR",
        "DROID_PROJECT_DIR",
        "COPILOT_PROJECT_DIR",
        "PWD",
    ];
    for name in directories {
        word =
            word.replace(&format!("${{{name}}}"), &project).replace(&format!("${name}"), &project);
    }
    word = word.replace("${HOME}", &home).replace("$HOME", &home);
    if word.contains(['$', '`', '*']) {
        return None;
    }
    let path = match word.strip_prefix("~/") {
        Some(rest) => home_root.join(rest),
        None => project_root.join(Path::new(&word)),
    };
    Some(path)
}

/// Returns the variables that a command uses, each once.
pub(super) fn variables(command: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in command.split('$').skip(1) {
        let name = part.strip_prefix('{').unwrap_or(part);
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        // `${NAME:-default}` has a value without the variable.
        let has_default = part.starts_with('{') && name[end..].starts_with([':', '-']);
        let name = &name[..end];
        if !name.is_empty() && !has_default && !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Returns whether a command has a path of Windows: `C:\hooks\x.py`, `C:/hooks/x.py`, or `%USERPROFILE%\x.py`.
pub(crate) fn has_windows_path(command: &str) -> bool {
    command.split(|c: char| c.is_whitespace() || "\"'=".contains(c)).any(|word| {
        if word
            .split_once(":/")
            .is_some_and(|(drive, rest)| is_drive(drive) && !rest.starts_with('/'))
        {
            return true;
        }
        let Some((start, _)) = word.split_once('\\') else { return false };
        let drive = start.strip_suffix(':').is_some_and(|it| it.len() == 1);
        drive || start.len() > 2 && start.starts_with('%') && start.ends_with('%')
    })
}

/// Returns whether a text is the letter of a drive. `s:/a/b:` is an expression for sed.
fn is_drive(text: &str) -> bool {
    let mut letters = text.chars();
    let letter = letters.next().filter(|_| letters.next().is_none());
    letter.is_some_and(|c| c.is_ascii_alphabetic() && c != 's' && c != 'y')
}

/// Returns the program that a command starts, if that takes long.
pub(super) fn slow_program(command: &str) -> Option<&'static str> {
    let words = shlex::split(command)?;
    let first = words.iter().find(|word| !word.contains('='))?;
    SLOW_PROGRAMS.iter().copied().find(|program| first == program)
}
