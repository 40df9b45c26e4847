//! Other ways to write a command of plain words.

use std::fmt::Write as _;

use super::quote;
use crate::choices::Choices;

/// Programs that run the program in their operands, with the options before it.
const WRAPPERS: [&str; 11] = [
    "env",
    "env A=1",
    "A=1",
    "timeout 5",
    "timeout -k 1 5",
    "nice",
    "nice -n 5",
    "nohup",
    "command",
    "stdbuf -o0",
    "setsid",
];

/// As [`WRAPPERS`], where only the facts are compared: they would change the machine, or the shell.
const PARSED_WRAPPERS: [&str; 8] = [
    "exec",
    "env -i",
    "sudo",
    "sudo -u root",
    "doas",
    "/usr/bin/env",
    "ionice -c3",
    "sudo env A=1",
];

/// Programs whose options of one letter have no values in the examples, so that they can be bundled and moved.
const POSIX: [&str; 4] = ["rm", "chmod", "chown", "git"];

/// A command of words without quotes and operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainCommand {
    words: Vec<String>,
}

impl PlainCommand {
    /// Returns the command, if `text` has only such words. Variables and patterns are left as they are.
    pub fn parse(text: &str) -> Option<Self> {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let is_word = |c: char| is_plain_character(c) || "~*?$[]{}".contains(c);
        let fits = |word: &String| !word.is_empty() && word.chars().all(is_word);
        let is_name = |word: &String| is_plain(word) && !word.contains(['=', '/']) && word != ".";
        let fits = words.iter().all(fits) && words.first().is_some_and(is_name);
        fits.then_some(Self { words })
    }

    /// Creates a command of these words.
    pub fn new(words: &[impl AsRef<str>]) -> Option<Self> {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        Self::parse(&words.join(" "))
    }

    /// Returns the program and its arguments.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the program.
    pub fn program(&self) -> &str {
        &self.words[0]
    }

    /// Returns this command with other words for its operands: `op1`, `op2`, …
    #[must_use]
    pub fn with_placeholders(&self) -> Self {
        let placed = |(index, word): (usize, &String)| {
            let is_kept = index == 0 || word.starts_with('-');
            if is_kept { word.clone() } else { format!("op{index}") }
        };
        Self { words: self.words.iter().enumerate().map(placed).collect() }
    }

    /// Returns another text that runs this command with the same arguments.
    pub fn respell(&self, choices: &mut Choices) -> String {
        let mut setup = String::new();
        let words = self.words.iter().enumerate();
        let words: Vec<String> =
            words.map(|(index, word)| respell(word, index, &mut setup, choices)).collect();
        let text = match choices.below(8) {
            0 => format!("set -- {}; \"$@\"", words.join(" ")),
            1 | 2 if self.has_plain_operand_last() => {
                let (last, before) = (&self.words[self.words.len() - 1], &words[..words.len() - 1]);
                let before = before.join(" ");
                match choices.below(2) {
                    0 => format!("echo {} | xargs {before}", quote(last)),
                    _ => format!("printf '%s\\n' {last} | xargs -I{{}} {before} {{}}"),
                }
            }
            3 if self.words.iter().all(|word| is_plain(word)) => {
                format!("find . -maxdepth 0 -exec {} \\;", words.join(" "))
            }
            4 if self.words.iter().all(|word| is_plain(word)) => {
                format!("V='{}'; {} $V", self.words[1..].join(" "), words[0])
            }
            _ => words.join(choices.one_of(&[" ", "  ", "\t", " \\\n "])),
        };
        format!("{setup}{text}")
    }

    fn has_plain_operand_last(&self) -> bool {
        let last = self.words.last().filter(|_| self.words.len() > 1);
        last.is_some_and(|last| is_plain(last) && !last.starts_with('-'))
    }

    /// Returns another text that runs this command through a program that runs others.
    pub fn wrap(&self, choices: &mut Choices) -> String {
        format!("{} {}", choices.one_of(&WRAPPERS), self.words.join(" "))
    }

    /// As [`wrap`](Self::wrap), for texts that must not run.
    pub fn wrapped_unsafely(&self, choices: &mut Choices) -> String {
        let (program, rest) = (&self.words[0], self.words[1..].join(" "));
        let text = self.words.join(" ");
        match choices.below(5) {
            0 => format!("/usr/bin/{program} {rest}"),
            1 => format!("/bin/{program} {rest}"),
            2 => format!("\\{program} {rest}"),
            3 => format!("X={program}; /usr/bin/$X {rest}"),
            _ => format!("{} {text}", choices.one_of(&PARSED_WRAPPERS)),
        }
    }

    /// Returns this command with a redirection at another place.
    pub fn redirect(&self, choices: &mut Choices) -> String {
        const REDIRECTIONS: [&str; 6] =
            [">/dev/null", "2>&1", "> /dev/null 2>&1", "&>/dev/null", "</dev/null", "2>>log.txt"];
        let at = choices.below(self.words.len() + 1);
        let mut words = self.words.clone();
        words.insert(at, choices.one_of(&REDIRECTIONS).to_owned());
        words.join(" ")
    }

    /// Returns this command with its options bundled, split or moved; `None` if it has no such options.
    pub fn with_other_options(&self, choices: &mut Choices) -> Option<String> {
        let is_short = |word: &&String| is_short_option(word);
        let has_value = |word: &String| is_short_option(word) && word.contains('m');
        if !POSIX.contains(&self.program())
            || !self.words.iter().any(|word| is_short(&word))
            || self.words.iter().any(has_value)
        {
            return None;
        }
        let can_move = self.program() != "git" && !self.words.contains(&"--".to_owned());
        let (options, others): (Vec<&String>, Vec<&String>) =
            self.words.iter().partition(|word| is_short(word));
        let letters: Vec<char> = options.iter().flat_map(|word| word.chars().skip(1)).collect();
        let options = match choices.below(2) {
            0 => letters.iter().map(|letter| format!("-{letter}")).collect::<Vec<_>>().join(" "),
            _ => format!("-{}", letters.iter().rev().collect::<String>()),
        };
        let at = self.words.iter().position(|word| is_short(&word)).unwrap_or(1);
        let at = if can_move { choices.one_of(&[at, 1, others.len()]) } else { at };
        let mut words: Vec<&str> = others.iter().map(|word| word.as_str()).collect();
        words.insert(at.min(words.len()), &options);
        Some(words.join(" "))
    }
}

/// Returns whether it is one of the characters that mean themselves everywhere.
fn is_plain_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_./:+@,%-=".contains(c)
}

fn is_plain(word: &str) -> bool {
    word.chars().all(is_plain_character)
}

/// Returns whether it is an option, or options, of one letter, alone or bundled.
fn is_short_option(word: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// Returns one word, written otherwise. `setup` receives commands that have to be before it.
fn respell(word: &str, index: usize, setup: &mut String, choices: &mut Choices) -> String {
    if !is_plain(word) {
        return word.to_owned();
    }
    let at = choices.below(word.len() + 1);
    let (start, end) = word.split_at(at);
    let name = format!("V{index}");
    let echo = if word.starts_with('-') { "printf %s" } else { "echo" };
    match choices.below(17) {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        2 => format!("{start}''{end}"),
        3 => format!("{start}\"{end}\""),
        4 => format!("'{start}'{end}"),
        5 if !end.is_empty() => format!("{start}\\\n{end}"),
        6 if !end.is_empty() => format!("{start}\\{end}"),
        7 => format!("$'{word}'"),
        8 => {
            let bytes = word.bytes().map(|byte| format!("\\x{byte:02x}"));
            format!("$'{}'", bytes.collect::<String>())
        }
        9 => {
            let bytes = word.bytes().map(|byte| format!("\\{byte:03o}"));
            format!("$'{}'", bytes.collect::<String>())
        }
        10 => {
            let _ = write!(setup, "{name}={word}; ");
            format!("${name}")
        }
        11 => {
            let _ = writeln!(setup, "{name}='{start}'");
            format!("\"${{{name}}}\"{end}")
        }
        12 => {
            let _ = writeln!(setup, "unset {name}");
            format!("${{{name}:-{word}}}")
        }
        13 => format!("$({echo} {word})"),
        14 => format!("\"$(printf '%s' '{word}')\""),
        15 => format!("`{echo} {word}`"),
        _ => word.to_owned(),
    }
}
