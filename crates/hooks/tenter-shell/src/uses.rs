//! Commands whose effect is known with all their options and operands (R84).

use crate::facts::Command;
use crate::tables::uses::{self, Operands, Uses};

pub use crate::tables::uses::UseKind;

/// A command with a known effect: a program, its subcommands, and the arguments with which the effect stays the same.
#[derive(Clone, Copy)]
pub struct KnownUse {
    name: &'static str,
    uses: &'static Uses,
}

/// The values that an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arity {
    None,
    /// In the same or the next argument.
    Value,
    /// In the same argument only.
    Attached,
}

impl KnownUse {
    /// Returns all commands with a known effect.
    pub fn all() -> impl Iterator<Item = Self> {
        uses::all().flat_map(|uses| uses.names.iter().map(move |name| Self { name, uses }))
    }

    /// Returns the command with this name: `git log`.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|one| one.name == name)
    }

    /// Returns the program and its subcommands, separated by blanks.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the effect of the command.
    pub fn kind(&self) -> UseKind {
        self.uses.kind
    }

    /// Returns the known use that a command is, and its operands and the values of its options. `None` if the command has other arguments
    /// than those that are known, or one that is uncertain.
    pub fn find_for_command(command: &Command) -> Option<(Self, Vec<&str>)> {
        let is_certain = command.uncertain.is_empty() && command.env.is_empty();
        if command.path.is_some() || !is_certain {
            return None;
        }
        let length = |one: &Self| one.name.split(' ').count();
        let known_use = Self::all().filter(|one| one.is_start_of(command)).max_by_key(length)?;
        let start = length(&known_use) - 1;
        let is_pattern = |index: usize| command.globs.contains(&(index + start));
        let words = known_use.words(command.args.get(start..)?, &is_pattern)?;
        Some((known_use, words))
    }

    fn is_start_of(&self, command: &Command) -> bool {
        let mut words = self.name.split(' ');
        words.next() == Some(command.program.as_str())
            && words.enumerate().all(|(index, word)| {
                command.args.get(index).is_some_and(|arg| arg == word)
                    && !command.globs.contains(&index)
            })
    }

    /// Returns the operands and values in these arguments, if all arguments are known.
    fn words<'a>(
        &self,
        args: &'a [String],
        is_pattern: &dyn Fn(usize) -> bool,
    ) -> Option<Vec<&'a str>> {
        let mut words = Vec::new();
        let mut options = self.uses.options;
        let mut operands = self.uses.operands;
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            at += 1;
            // A file can have the name of an option.
            if is_pattern(at - 1)
                && !arg.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.')
            {
                return None;
            }
            if arg == "--" {
                let after = self.uses.after;
                if !after.is_empty() {
                    operands = Operands::Any;
                }
                // The next `--` is for the other program, which may do anything with it.
                options = if options == after { return None } else { after };
                continue;
            }
            if !arg.starts_with('-') || arg == "-" {
                if !operands.allow(arg) {
                    return None;
                }
                words.push(arg.as_str());
                continue;
            }
            if let Some(value) = value(arg, args.get(at).map(String::as_str), options)? {
                at += usize::from(value.is_next);
                if is_pattern(at - 1) || !is_harmless(value.text) {
                    return None;
                }
                words.push(value.text);
            }
        }
        Some(words)
    }
}

impl std::fmt::Debug for KnownUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("KnownUse").field(&self.name).finish()
    }
}

impl PartialEq for KnownUse {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for KnownUse {}

impl Operands {
    fn allow(self, operand: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Nothing => false,
            Self::Without(text) => !operand.to_lowercase().contains(text),
        }
    }
}

/// The value of an option.
struct Value<'a> {
    text: &'a str,
    is_next: bool,
}

/// Returns the value of an option, if it has one. `None` for an argument that is not a known option.
#[expect(clippy::option_option, reason = "an unknown option, and an option without a value")]
fn value<'a>(arg: &'a str, next: Option<&'a str>, options: &str) -> Option<Option<Value<'a>>> {
    let arity = |name: &str| {
        options.split_ascii_whitespace().find_map(|option| match option.as_bytes().last() {
            Some(b'=') if &option[..option.len() - 1] == name => Some(Arity::Value),
            Some(b'?') if &option[..option.len() - 1] == name => Some(Arity::Attached),
            _ => (option == name).then_some(Arity::None),
        })
    };
    let next_value = || {
        // What begins with a dash could be an option of a program that reads the one before differently.
        let is_value = |text: &&str| {
            !text.starts_with('-') || text[1..].starts_with(|c: char| c.is_ascii_digit())
        };
        next.filter(is_value).map(|text| Some(Value { text, is_next: true }))
    };
    let attached = |text| Some(Some(Value { text, is_next: false }));
    let is_number = arg.len() > 1 && arg[1..].bytes().all(|byte| byte.is_ascii_digit());
    if is_number && arity("-#").is_some() {
        return Some(None);
    }
    let (name, equals) = match arg.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (arg, None),
    };
    match (arity(name), equals) {
        (Some(Arity::Value | Arity::Attached), Some(value)) => return attached(value),
        (Some(Arity::Value), None) => return next_value(),
        (Some(Arity::None | Arity::Attached), None) => return Some(None),
        (Some(Arity::None), Some(_)) => return None,
        (None, _) if arg.starts_with("--") => return None,
        (None, _) => {}
    }
    for (offset, letter) in arg.char_indices().skip(1) {
        let rest = &arg[offset + letter.len_utf8()..];
        match arity(&format!("-{letter}"))? {
            Arity::None => {}
            Arity::Value if rest.is_empty() => return next_value(),
            Arity::Attached if rest.is_empty() => {}
            Arity::Value | Arity::Attached => return attached(rest),
        }
    }
    Some(None)
}

/// Checks that the value of an option does not refer to a file or a server, as `@file` and `file://…` do.
fn is_harmless(value: &str) -> bool {
    !value.starts_with('@') && !value.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PathOp, Surroundings, read};

    fn known(text: &str) -> Option<&'static str> {
        let surroundings = Surroundings { cwd: Some("/p".to_owned()), ..Surroundings::default() };
        let facts = read(text, &surroundings);
        KnownUse::find_for_command(&facts.commands[0]).map(|(one, _)| one.name())
    }

    #[test]
    fn a_use_is_known_only_with_its_own_arguments() {
        for (text, name) in [
            ("git log", "git log"),
            ("git log -5 --oneline --since '2 days ago' -- src", "git log"),
            ("git diff -U3 HEAD~1 --stat", "git diff"),
            ("git branch -vv", "git branch"),
            ("git stash list -p", "git stash list"),
            ("cargo test -p x --lib a::b -- --nocapture --test-threads=1", "cargo test"),
            ("cargo clippy -- -D warnings", "cargo clippy"),
            ("ls -la src/*.rs", "ls"),
            ("grep -rn -A3 x src", "grep"),
            ("az group list -o table", "az group list"),
            ("kubectl get pods -n x -o=yaml", "kubectl get"),
            ("find . -name '*.rs' -mtime -7", "find"),
            ("crontab -l", "crontab -l"),
        ] {
            assert_eq!(known(text), Some(name), "{text}");
        }
        for text in [
            "git log --output=x",
            "git log --outp=x",
            "git log --ext-diff",
            "git --git-dir=x log",
            "git -c core.pager=x log",
            "git branch x",
            "git branch -D x",
            "git stash drop",
            "git tag x",
            "git log --since --output=x",
            "git grep -Ovim x",
            "ls *",
            "ls -l $x",
            "A=b ls",
            "./ls",
            "cargo test --config x",
            "cargo test -- --logfile x",
            "cargo test -- -- --logfile",
            "cargo fmt -- --config-path x",
            "az group list --query @/etc/x",
            "az group delete -n x",
            "kubectl get secrets",
            "kubectl get pods,Secret",
            "kubectl get --raw /x",
            "kubectl get pods -- --raw",
            "find . -delete",
            "find . -exec rm {} +",
            "sort -ox y",
            "crontab -r",
            "crontab -l -r",
            "crontab x",
            "aws s3 ls --endpoint-url x",
            "npm view git+ssh://x",
        ] {
            assert_eq!(known(text), None, "{text}");
        }
    }

    /// The other tables agree: no known use writes, deletes, or runs a command, whatever its arguments are.
    #[test]
    fn no_known_use_changes_a_file_or_runs_a_command() {
        let surroundings = Surroundings { cwd: Some("/p".to_owned()), ..Surroundings::default() };
        let mut wrong = Vec::new();
        // The row of `aws s3` has the paths of `aws s3 cp`.
        for usage in KnownUse::all().filter(|usage| usage.name != "aws s3 ls") {
            let after =
                usage.uses.after.split_ascii_whitespace().map(|option| format!("-- {option}"));
            let options = usage.uses.options.split_ascii_whitespace().map(str::to_owned);
            for option in options.chain(after).chain([String::new()]) {
                let option = match option.strip_suffix('=') {
                    Some(option) => format!("{option} value"),
                    None => option.trim_end_matches('?').replace("-#", "-7"),
                };
                let operand = if usage.uses.operands == Operands::Nothing { "" } else { "a b" };
                let text = format!("{} {option} {operand}", usage.name);
                let facts = read(&text, &surroundings);
                let reads = |path: &crate::Path| matches!(path.op, PathOp::Read | PathOp::List);
                if facts.commands.len() != 1 || !facts.paths.iter().all(reads) {
                    wrong.push(text);
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
