//! One statement of PowerShell, as words for bash.

use super::ENVIRONMENT;

/// Words before conditions and blocks.
const KEYWORDS: [&str; 22] = [
    "begin",
    "catch",
    "default",
    "do",
    "dynamicparam",
    "else",
    "elseif",
    "end",
    "exit",
    "finally",
    "for",
    "foreach",
    "if",
    "param",
    "process",
    "return",
    "switch",
    "throw",
    "trap",
    "try",
    "until",
    "while",
];

/// Commands that start another program: it is their first operand, and its arguments are the next ones.
const STARTERS: [&str; 3] = ["saps", "start", "start-process"];

/// Commands that write their arguments.
const PRINTERS: [&str; 9] = [
    "echo",
    "write",
    "write-debug",
    "write-error",
    "write-host",
    "write-information",
    "write-output",
    "write-verbose",
    "write-warning",
];

/// Options of these commands with a value that is no part of the program's command.
const STARTER_OPTIONS: [&str; 10] = [
    "-credential",
    "-environment",
    "-redirectstandarderror",
    "-redirectstandardinput",
    "-redirectstandardoutput",
    "-verb",
    "-windowstyle",
    "-workingdirectory",
    "-throttlelimit",
    "-wd",
];

/// A command as it is read.
#[derive(Default)]
pub(super) struct Statement {
    /// Its words, as bash reads them.
    pub(super) words: Vec<String>,
    /// The word that is being read.
    pub(super) word: String,
    /// The blocks in it, which run with its input.
    blocks: Vec<String>,
    /// `&` or `.` comes before the first word, which is a command even in quotes.
    pub(super) is_called: bool,
}

impl Statement {
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.word.is_empty()
    }

    /// Ends a word. Words that are no part of a command are left out: `if`, `$x =`, `$x in`.
    pub(super) fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        match self.words.as_slice() {
            _ if word.is_empty() || word == "--%" => {}
            [] if is_keyword(&word) => {}
            [] => match word.split_once('=').filter(|(name, _)| assigned(name).is_some()) {
                Some((name, value)) => {
                    self.words.extend(assigned(name));
                    self.words.extend(Some(value.to_owned()).filter(|value| !value.is_empty()));
                }
                None => self.words.push(word),
            },
            [name] if word == "=" && assigned(name).is_some() => {
                self.words = assigned(name).into_iter().collect();
            }
            [name] if name.starts_with('$') && matches!(word.as_str(), "=" | "+=" | "in") => {
                self.words.clear();
            }
            _ => self.words.push(word),
        }
    }

    /// Adds a block, which the statement runs.
    pub(super) fn block(&mut self, text: String) {
        self.end_word();
        self.blocks.push(text);
    }

    /// Returns the statement for bash.
    pub(super) fn finish(mut self) -> String {
        self.end_word();
        let command = self.command();
        if self.blocks.is_empty() {
            return command;
        }
        let blocks = std::iter::once(command).chain(self.blocks);
        let blocks: Vec<String> = blocks.filter(|it| !it.trim().is_empty()).collect();
        if blocks.is_empty() { ":".to_owned() } else { format!("{{\n{}\n}}", blocks.join("\n")) }
    }

    fn command(&self) -> String {
        let words = match self.words.as_slice() {
            [name, value] if name.ends_with('=') && !value.starts_with('(') => {
                return format!("{name}{value}");
            }
            [name, words @ ..] if name.ends_with('=') => words,
            words => words,
        };
        let Some((first, rest)) = words.split_first() else { return String::new() };
        let name = first.to_ascii_lowercase();
        if first.starts_with("(\n") {
            let more =
                if rest.is_empty() { String::new() } else { format!("\necho {}", rest.join(" ")) };
            return format!("{first}{more}");
        }
        if matches!(name.as_str(), "function" | "filter") {
            return String::new();
        }
        if STARTERS.contains(&name.as_str()) {
            return started(rest);
        }
        let lists =
            ["dir", "gci", "get-childitem", "gi", "get-item", "ls"].contains(&name.as_str());
        if lists && rest.iter().any(|word| word.to_ascii_lowercase().starts_with("env:")) {
            return "printenv".to_owned();
        }
        if name == "type" {
            return format!("cat {}", rest.join(" "));
        }
        let prints = PRINTERS.contains(&name.as_str());
        let words = if prints { rest } else { words };
        let is_value = first.starts_with(['[', '!', '-', '+', '$'])
            || first.starts_with(|c: char| c.is_ascii_digit())
            || first.starts_with(['\'', '"']);
        let words = words.join(" ").replace(ENVIRONMENT, "$");
        if prints || (is_value && !self.is_called) { format!("echo {words}") } else { words }
    }
}

/// Returns the command of a program that `Start-Process` runs.
fn started(words: &[String]) -> String {
    let mut command = Vec::new();
    let mut words = words.iter();
    let mut is_elevated = false;
    while let Some(word) = words.next() {
        let name = word.to_ascii_lowercase();
        if STARTER_OPTIONS.contains(&name.as_str()) {
            let value = words.next();
            is_elevated |= name == "-verb"
                && value.is_some_and(|it| it.to_ascii_lowercase().contains("runas"));
        } else if !name.starts_with('-') || !command.is_empty() && !is_option(&name) {
            // `-ArgumentList 'push --force'`: the program gets its words.
            let quote = word.starts_with(['\'', '"']) && !command.is_empty();
            let text = if quote { word.trim_matches(['\'', '"']) } else { word };
            command.push(text.to_owned());
        }
    }
    let elevated = is_elevated.then(|| "sudo".to_owned());
    elevated.into_iter().chain(command).collect::<Vec<_>>().join(" ")
}

/// Checks whether a word is an option of `Start-Process` without a value, or with one that is part of the program's command.
fn is_option(name: &str) -> bool {
    const NAMES: [&str; 6] =
        ["-argumentlist", "-args", "-filepath", "-nonewwindow", "-passthru", "-wait"];
    name.len() > 1 && NAMES.iter().any(|it| it.starts_with(name))
}

/// Checks whether a word is no part of a command: `if`.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.iter().any(|keyword| keyword.eq_ignore_ascii_case(word))
}

/// Returns the beginning of the assignment of a variable for bash: `$x` is `x=`, `$env:x` is `export x=`.
fn assigned(word: &str) -> Option<String> {
    let name = match word.rsplit_once(']') {
        Some((kind, name)) if kind.starts_with('[') => name,
        _ => word,
    };
    let (export, name) = match name.strip_prefix(ENVIRONMENT) {
        Some(name) => ("export ", name),
        None => ("", name.strip_prefix('$')?),
    };
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = !name.is_empty() && name.chars().all(is_part);
    (is_name && !name.starts_with(|c: char| c.is_ascii_digit())).then(|| format!("{export}{name}="))
}
