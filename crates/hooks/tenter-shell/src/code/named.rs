//! Variables with a literal value, and calls that make a path of their arguments.

use super::delimiters::{MAX_BYTES, quoted_by_letters};
use super::literals::{Argument, Literals, join};

/// Calls and operators after a list that add words to it.
const ADDITIONS: [&str; 5] = [".append(", ".push(", ".extend(", " += ", "+="];

/// Names of arguments whose values are what they would be without the names.
const KEYWORDS: [&str; 14] = *tenter_base::words!(
    "path src dst source destination target file filename args command cmd mode url flags"
);

/// Maximum number of additions to one list.
const MAX_ADDED: usize = 64;

impl<'a> Literals<'a, '_> {
    pub(super) fn name(&mut self) -> &'a str {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '@');
        let length = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len()).min(self.budget);
        let name = self.rest.get(..length).unwrap_or_default();
        self.skip(name);
        name
    }

    /// Skips the module before a name: `require("path").join(…)`.
    fn skip_module(&mut self) {
        let is_module = ["require(", "__import__("].iter().any(|name| self.rest.starts_with(name));
        let end = self.rest.find(").").filter(|end| is_module && *end < 64);
        let module = end.and_then(|end| self.rest.get(..end + 2)).unwrap_or_default();
        self.skip(module);
    }

    /// Returns a variable, or a call that makes a path.
    pub(super) fn named(&mut self) -> Option<String> {
        let start = self.rest;
        self.skip_module();
        let mut last = self.name();
        if last.is_empty() {
            return None;
        }
        loop {
            let (rest, budget) = (self.rest, self.budget);
            if !self.skip("::") && !self.skip(".") {
                break;
            }
            let next = self.name();
            let is_of_path = match next {
                "expanduser" | "resolve" | "absolute" => self.rest.starts_with("()"),
                "joinpath" => true,
                _ => false,
            };
            if next.is_empty() || is_of_path {
                (self.rest, self.budget) = (rest, budget);
                break;
            }
            last = next;
        }
        let whole = &start[..start.len() - self.rest.len()];
        match self.peek() {
            Some('(') => self.call(whole, last),
            // `os.environ['HOME']`, `$ENV{HOME}`.
            Some('[' | '{') if is_environment(last) => {
                let end = self.rest.find([']', '}'])? + 1;
                let key = self.rest.get(..end)?;
                self.skip(key);
                let key = key.trim_matches(|c| "[]{}'\"".contains(c));
                (key == "HOME").then(|| "~".to_owned())
            }
            _ if whole.ends_with("env.HOME") || whole == "Dir.home" => Some("~".to_owned()),
            _ if whole == last => self.variable(last),
            _ => None,
        }
    }

    fn call(&mut self, whole: &str, name: &str) -> Option<String> {
        let arguments = self.in_brackets()?;
        let name = self.source.renamed.get(name).copied().unwrap_or(name);
        let first = || arguments.first().and_then(Argument::text);
        match name {
            "Path" | "PurePath" | "PosixPath" | "join" | "Pathname" | "resolve"
                if name != "join"
                    || whole.contains("ath")
                    || whole.contains("File")
                    || self.source.path_module.is_some_and(|module| {
                        whole.strip_suffix(".join").unwrap_or_default() == module
                    }) =>
            {
                let texts: Option<Vec<String>> = arguments.iter().map(Argument::text).collect();
                let mut parts = texts?.into_iter();
                let path = parts.next().unwrap_or_else(|| ".".to_owned());
                Some(parts.fold(path, |path, part| join(&path, &part)))
            }
            "home" | "homedir" => Some("~".to_owned()),
            "cwd" | "getcwd" => Some(".".to_owned()),
            "expandvars" => first().map(|path| path.replace("${HOME}", "~").replace("$HOME", "~")),
            "expanduser" | "expand_path" | "abspath" | "realpath" | "normpath" | "str"
            | "fspath" | "quote" => first(),
            "getenv" | "get" | "fetch" if first().as_deref() == Some("HOME") => {
                Some("~".to_owned())
            }
            _ => None,
        }
    }

    /// Returns the arguments in round brackets.
    fn in_brackets(&mut self) -> Option<Vec<Argument>> {
        self.skip("(");
        let arguments = self.arguments();
        self.all_blanks();
        self.skip(")").then_some(arguments)
    }

    /// Skips `name=` before an argument whose place the name stands for, and returns the name.
    pub(super) fn keyword(&mut self) -> &'static str {
        let is_given = |name: &&&str| {
            let value = self.rest.strip_prefix(**name).and_then(|rest| rest.strip_prefix('='));
            value.is_some_and(|value| !value.starts_with('='))
        };
        let Some(name) = KEYWORDS.iter().find(is_given) else { return "" };
        self.skip(name);
        self.skip("=");
        name
    }

    /// Reads the methods after a text: `.expanduser()` is the same path, and `.joinpath("a")` one below it; `.join(["a"])` and `.format("a")` are texts.
    pub(super) fn method_of_text(&mut self, value: &str) -> Option<String> {
        let (rest, budget) = (self.rest, self.budget);
        self.bump();
        let name = self.name();
        let path = match name {
            "expanduser" | "resolve" | "absolute" | "as_posix" | "to_s" if self.skip("()") => {
                Some(value.trim_end().to_owned())
            }
            "joinpath" if self.peek() == Some('(') => self.in_brackets().and_then(|arguments| {
                let parts: Option<Vec<String>> = arguments.iter().map(Argument::text).collect();
                let below = |path: String, part: String| join(&path, &part);
                Some(parts?.into_iter().fold(value.to_owned(), below))
            }),
            "join" if self.peek() == Some('(') => self.in_brackets().and_then(|arguments| {
                let Some(Argument::List(words)) = arguments.into_iter().next() else { return None };
                Some(words.into_iter().collect::<Option<Vec<String>>>()?.join(value))
            }),
            "format" if self.peek() == Some('(') => self.in_brackets().and_then(|arguments| {
                let values: Option<Vec<String>> = arguments.iter().map(Argument::text).collect();
                let fill = |text: String, value: String| text.replacen("{}", &value, 1);
                Some(values?.into_iter().fold(value.to_owned(), fill))
            }),
            _ => None,
        };
        if path.is_none() {
            (self.rest, self.budget) = (rest, budget);
        }
        path
    }

    /// Reads `"%s/a" % x`, after the sign.
    pub(super) fn read_format(&mut self, format: &str) -> Option<String> {
        self.blanks();
        let values = match self.argument_of_format() {
            Argument::List(values) => values.into_iter().collect::<Option<Vec<String>>>()?,
            argument => vec![argument.text()?],
        };
        let fill = |text: String, value: &String| text.replacen("%s", value, 1);
        Some(values.iter().fold(format.to_owned(), fill))
    }

    fn argument_of_format(&mut self) -> Argument {
        match self.peek() {
            Some('(') => self.list(),
            _ => self.term().map_or(Argument::Other, Argument::Text),
        }
    }

    /// Reads `["rm", "-rf"].join(" ")`, after the bracket.
    pub(super) fn joined_words(&mut self, words: &[Option<String>]) -> Argument {
        let separator = self.value();
        self.blanks();
        let words: Option<Vec<String>> = words.iter().cloned().collect();
        match (separator, words, self.skip(")")) {
            (Some(separator), Some(words), true) => Argument::Text(words.join(&separator)),
            _ => Argument::Other,
        }
    }

    /// Reads `qw(rm -rf a)` and `*%w[rm -rf a]`.
    pub(super) fn words_by_letters(&mut self) -> Option<Argument> {
        let text = self.rest.trim_start_matches('*');
        if !text.starts_with("qw") && !text.starts_with("%w") {
            return None;
        }
        let (words, length) = quoted_by_letters(text)?;
        let words = words.split_whitespace().map(|word| Some(word.to_owned())).collect();
        let whole = &self.rest[..self.rest.len() - text.len() + length];
        self.skip(whole);
        self.blanks();
        Some(Argument::List(words))
    }

    /// Returns a variable with a list, and what was added to it: `words = ["rm"]; words.append("a")`.
    pub(super) fn list_variable(&mut self) -> Option<Argument> {
        let (rest, budget) = (self.rest, self.budget);
        self.skip("*");
        let name = self.name();
        let is_whole = self.peek().is_none_or(|next| ",);\n".contains(next));
        let list = if is_whole && !self.is_too_deep() { self.list_named(name) } else { None };
        if list.is_none() {
            (self.rest, self.budget) = (rest, budget);
        }
        list
    }

    fn list_named(&self, name: &str) -> Option<Argument> {
        let (at, value) = self.source.assigned(name, self.at)?;
        let value = value.trim_start();
        if !value.starts_with(['[', '(']) && !value.starts_with("qw") {
            return None;
        }
        let reader = |rest, at| Literals {
            source: self.source,
            rest,
            budget: MAX_BYTES,
            at,
            depth: self.depth + 1,
        };
        let Some(Argument::List(mut words)) = reader(value, at).arguments().into_iter().next()
        else {
            return None;
        };
        let between = self.source.between(at, self.at);
        for (place, _) in between.match_indices(name).take(MAX_ADDED) {
            let after = &between[place + name.len()..];
            let addition = ADDITIONS.iter().find_map(|start| after.strip_prefix(start));
            let addition = addition.map(|addition| reader(addition, at + place).arguments());
            match addition.as_deref() {
                Some([Argument::List(more)]) => words.extend_from_slice(more),
                Some(more) => words.extend(more.iter().map(Argument::text)),
                None => {}
            }
        }
        Some(Argument::List(words))
    }

    /// Returns the value that a variable was given before.
    fn variable(&self, name: &str) -> Option<String> {
        if self.is_too_deep() {
            return None;
        }
        let (at, value) = self.source.assigned(name, self.at)?;
        let mut reader = Literals {
            source: self.source,
            rest: value,
            budget: MAX_BYTES,
            at,
            depth: self.depth + 1,
        };
        reader.blanks();
        let value = reader.value()?;
        reader.blanks();
        reader.peek().is_none_or(|next| ";\n,)}".contains(next)).then_some(value)
    }
}

/// Checks whether a name is a table of environment variables.
fn is_environment(name: &str) -> bool {
    matches!(name, "environ" | "env" | "ENV" | "$ENV" | "$_ENV" | "$_SERVER")
        || name.eq_ignore_ascii_case("environ")
}
