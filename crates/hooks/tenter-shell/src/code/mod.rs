//! Programs in other languages: the calls with literal arguments that run commands or touch files (C1).
//!
//! This is no parser. A call counts wherever its name is, so that the facts contain at least what a plain program does. Strings
//! and comments can contain calls that never happen, which is why the facts that come of this are not certain.

mod callbacks;
mod calls;
mod connected;
mod delimiters;
mod literals;
mod marked;
mod named;
mod tables;
mod taint;

pub(crate) use taint::decodes;

use crate::facts::{Language, PathOp};

use callbacks::is_in_quotes;
use calls::{is_call, may_be_call, names};
use literals::{Argument, Limit, Source};
use tables::{Call, Effect, OBJECT, known_calls};

/// The facts about a program, as far as it can be read.
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CodeFacts {
    pub(crate) calls: Vec<CodeCall>,
    /// It runs something that is not literal.
    pub(crate) dynamic: bool,
    /// It runs what it decodes.
    pub(crate) runs_decoded: bool,
    /// It runs what it downloads.
    pub(crate) runs_download: bool,
    /// It runs what it reads from its standard input.
    pub(crate) runs_input: bool,
    /// It downloads something.
    pub(crate) downloads: bool,
    /// It contains all variables of its environment.
    pub(crate) has_environment: bool,
    /// A limit was reached: calls that were not read may follow.
    pub(crate) over_limit: bool,
}

/// A call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CodeCall {
    Script(String),
    /// The words of a command; `None` for those that are not literal.
    Words(Vec<Option<String>>),
    Path {
        path: String,
        op: PathOp,
        recursive: bool,
    },
    Network,
    Sql(String),
}

/// Maximum number of calls that are read.
const MAX_CALLS: usize = 256;

/// Reads a program.
pub(crate) fn read(language: Language, text: &str) -> CodeFacts {
    read_nested(language, text, 0)
}

/// As [`read`], for a program in `depth` programs that run it.
fn read_nested(language: Language, text: &str, depth: usize) -> CodeFacts {
    let mut reader = CodeReader {
        facts: CodeFacts::default(),
        source: Source::new(text),
        text,
        language,
        depth,
        listed: Vec::new(),
        deletes_unknown: false,
        reads_unknown: false,
        callbacks: 0,
    };
    reader.facts.downloads = taint::downloads(text);
    let mut tried = 0;
    for (start, name) in names(text) {
        let mut length = name.len();
        // `cp["exec"]("a")`, `getattr(os, "system")("a")`.
        let signs = &text.as_bytes()[start + length..];
        if matches!(signs, [b'"' | b'\'', b']' | b')', b'(', ..]) {
            length += 2;
        }
        let name = reader.source.renamed.get(name).copied().unwrap_or(name);
        let before = &text[..start];
        let after = &text[start + length..];
        let is_text = language == Language::Php && is_in_quotes(before, after);
        if is_text || !may_be_call(language, name, after) {
            reader.note_callback(name, start, start + length);
            continue;
        }
        if tried >= MAX_CALLS {
            reader.facts.dynamic = true;
            reader.facts.over_limit = true;
            break;
        }
        let mut calls = known_calls(language, name);
        if let Some(call) = calls.find(|call| is_call(call, text, before, after)) {
            tried += 1;
            // `File.rm_rf!("a")`.
            let mark = usize::from(language == Language::Other && after.starts_with('!'));
            reader.add(call, start, start + length + mark);
        }
    }
    reader.facts.has_environment = taint::has_environment(text);
    reader.facts.over_limit |= reader.source.is_exhausted();
    reader.touch_iterated();
    reader.read_listed();
    reader.delete_listed();
    reader.backticks();
    reader.connect_shells();
    match language {
        Language::Awk => reader.pipes(),
        Language::Other => {
            reader.executed_texts();
            reader.lines_after(&["exec ", "spawn "]);
        }
        // `!command` of IPython.
        Language::Python => reader.lines_after(&["!"]),
        _ => {}
    }
    reader.facts
}

/// Reads one program.
struct CodeReader<'a> {
    facts: CodeFacts,
    source: Source<'a>,
    text: &'a str,
    language: Language,
    depth: usize,
    /// Directories and patterns whose files the program lists.
    listed: Vec<String>,
    /// It deletes files whose names it computes.
    deletes_unknown: bool,
    /// It reads files whose names it computes.
    reads_unknown: bool,
    /// Number of functions that it passes to others.
    callbacks: usize,
}

impl CodeReader<'_> {
    /// Adds a call whose name is between two positions.
    fn add(&mut self, call: Call, start: usize, end: usize) {
        // `Dir["a/*"]`.
        let is_index = matches!(call.effect, Effect::List(_)) && self.text[end..].starts_with('[');
        let end = end + usize::from(is_index);
        let arguments = self.source.arguments(end);
        self.facts.over_limit |= self.is_cut(call.effect, &arguments);
        match call.effect {
            Effect::Shell => match arguments.first() {
                Some(Argument::Text(script)) => {
                    self.facts.calls.push(CodeCall::Script(script.clone()));
                }
                Some(Argument::List(words)) => self.words(words.clone(), end),
                _ if arguments.contains(&Argument::NoShell) => {}
                _ => self.runs_unknown(end),
            },
            Effect::Words => self.argv(&arguments, end),
            Effect::Lisp => {
                let words = self.words_of_lisp(end);
                self.words(words.into_iter().map(Some).collect(), end);
            }
            Effect::Builder => self.builder(&arguments, end),
            Effect::Git => {
                let name = Some(call.name.to_owned()).filter(|name| name != "raw");
                let words = arguments.into_iter().flat_map(|argument| match argument {
                    Argument::List(words) => words,
                    argument => vec![argument.text()],
                });
                let git = [Some("git".to_owned())].into_iter().chain(name.map(Some));
                self.words(git.chain(words).collect(), end);
            }
            Effect::Program => self.program(arguments, end),
            Effect::Transfer(op) => self.transfer(&arguments, op, call.name == "copytree"),
            Effect::MoveTo => {
                if let [_] = arguments[..]
                    && let Some(from) = self.source.object(start)
                {
                    let both = [[Argument::Text(from)].as_slice(), &arguments].concat();
                    self.transfer(&both, PathOp::Move, false);
                }
            }
            Effect::Eval => self.eval(&arguments, end),
            Effect::Sql => {
                let text = arguments.first().and_then(Argument::text);
                self.facts.calls.extend(text.map(CodeCall::Sql));
            }
            Effect::Network => self.facts.calls.push(CodeCall::Network),
            Effect::Open => self.open(&arguments),
            Effect::OpenLast => self.open_last(&arguments),
            Effect::Path { op, recursive, index } => {
                let path = match index {
                    OBJECT => self.source.object(start),
                    index => arguments.get(index).and_then(Argument::text),
                };
                let path = path.or_else(|| self.first_of_lisp(end));
                self.deletes_unknown |= path.is_none() && op == PathOp::Delete;
                // `file.read()` reads what was opened.
                self.reads_unknown |= path.is_none() && op == PathOp::Read && call.name != "read";
                if let Some(path) = path {
                    self.facts.calls.push(CodeCall::Path { path, op, recursive });
                }
            }
            Effect::List(index) => self.list(index, &arguments, start),
        }
    }

    /// Checks whether an argument that says what a call does is too long to be read.
    fn is_cut(&self, effect: Effect, arguments: &[Argument]) -> bool {
        let is_read = |index: usize| match arguments.get(index) {
            Some(Argument::Text(_)) => true,
            Some(Argument::List(words)) => words.iter().all(Option::is_some),
            _ => false,
        };
        let (first, any) = self.source.limits();
        match effect {
            Effect::Path { index: OBJECT, .. }
            | Effect::List(OBJECT)
            | Effect::MoveTo
            | Effect::Network => false,
            Effect::Path { index, .. } | Effect::List(index) => any.is_some() && !is_read(index),
            Effect::Open | Effect::OpenLast | Effect::Transfer(_) | Effect::Sql => {
                first.is_some() && !is_read(0)
            }
            _ => any == Some(Limit::Words) || (first.is_some() && !is_read(0)),
        }
    }

    /// Reads `Command::new("rm").arg("-rf").args(["a"])`: the words of a command in calls that follow each other.
    fn builder(&mut self, arguments: &[Argument], end: usize) {
        let mut words: Vec<Option<String>> = match arguments {
            [Argument::List(words), ..] => words.clone(),
            arguments => arguments.iter().map(Argument::text).collect(),
        };
        let statement = self.text[end..].split(';').next().unwrap_or_default();
        for (at, name) in statement.match_indices(".arg").take(literals::MAX_ARGUMENTS) {
            let after = end + at + name.len();
            let after = after + usize::from(self.text[after..].starts_with('s'));
            if self.text[after..].starts_with('(') {
                // `&["a"]`, `vec!["a"]`.
                let list = self.text[after + 1..].trim_start_matches(['&', ' ', '\n']);
                let list = list.strip_prefix("vec!").unwrap_or(list);
                let start =
                    if list.starts_with('[') { self.text.len() - list.len() } else { after };
                match self.source.arguments(start).as_slice() {
                    [Argument::List(more), ..] => words.extend_from_slice(more),
                    more => words.extend(more.iter().map(Argument::text)),
                }
            }
        }
        self.words(words, end);
    }

    /// Returns the first argument of `(delete-file "a" t)`, where no comma follows.
    fn first_of_lisp(&self, end: usize) -> Option<String> {
        let text = self.text[end..].trim_start().strip_prefix('"')?;
        let is_lisp = self.language == Language::Other && self.text.trim_start().starts_with('(');
        is_lisp.then(|| text.split('"').next().map(str::to_owned)).flatten()
    }

    /// Returns the texts in the rest of a list: `(sh "rm" "-rf" "a")`. Without any, it runs what is not known.
    fn words_of_lisp(&mut self, end: usize) -> Vec<String> {
        let mut depth = 0_usize;
        let text = crate::limits::start(&self.text[end..], delimiters::MAX_BYTES);
        let length = text.find(|letter| {
            depth += usize::from(letter == '(');
            let is_end = letter == ')' && depth == 0;
            depth -= usize::from(letter == ')' && depth > 0);
            is_end
        });
        self.facts.over_limit |= length.is_none() && text.len() + 4 > delimiters::MAX_BYTES;
        let list = &text[..length.unwrap_or(text.len())];
        list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
    }

    /// Adds the directory that a program lists: `os.listdir("a")`, `Path("a").iterdir()`, `Dir["a/*"]`.
    fn list(&mut self, index: usize, arguments: &[Argument], start: usize) {
        let path = match (index, arguments.get(index)) {
            (OBJECT, _) => self.source.object(start),
            (_, Some(Argument::List(words))) => words.first().cloned().flatten(),
            (_, argument) => argument.and_then(Argument::text),
        };
        self.listed.extend(path);
    }

    /// Adds that listed files are read, if a program lists files and reads files whose names it computes.
    fn read_listed(&mut self) {
        let lists = self.listed.iter().filter(|_| self.reads_unknown);
        self.facts.calls.extend(lists.map(|list| CodeCall::Path {
            path: list.clone(),
            op: PathOp::Read,
            recursive: !list.contains('*'),
        }));
    }

    /// Adds the deletion of listed files, if a program lists files and deletes files whose names it computes.
    fn delete_listed(&mut self) {
        if !self.deletes_unknown {
            return;
        }
        if self.language == Language::Perl {
            // `unlink </etc/*>`.
            let lists = self.text.split('<').skip(1).filter_map(|text| text.split('>').next());
            let lists = lists.filter(|list| list.contains('*') && !list.contains(['\n', ';']));
            self.listed.extend(lists.map(str::to_owned));
        }
        for list in std::mem::take(&mut self.listed) {
            let literal = list.split(['*', '?', '[', '{']).next().unwrap_or_default();
            let path = if literal.len() == list.len() {
                list
            } else {
                literal.rsplit_once('/').map_or(".", |(directory, _)| directory).to_owned()
            };
            let path = if path.is_empty() { "/".to_owned() } else { path };
            self.facts.calls.push(CodeCall::Path { path, op: PathOp::Delete, recursive: true });
        }
    }

    /// Reads `execFile("rm", ["-rf", "/"])`, `system("rm", "-rf", "/")`.
    fn argv(&mut self, arguments: &[Argument], end: usize) {
        match arguments {
            [Argument::Text(script)] => self.facts.calls.push(CodeCall::Script(script.clone())),
            [Argument::Text(program), Argument::List(rest), ..] => {
                self.words([&[Some(program.clone())], rest.as_slice()].concat(), end);
            }
            [Argument::List(words), ..] => self.words(words.clone(), end),
            [Argument::Text(program), rest @ ..] => {
                let rest: Vec<_> = rest.iter().map(Argument::text).collect();
                self.words([&[Some(program.clone())], rest.as_slice()].concat(), end);
            }
            _ => self.runs_unknown(end),
        }
    }

    /// Adds a command. It cannot be read if its program is unknown, or if an interpreter gets something unknown.
    fn words(&mut self, words: Vec<Option<String>>, end: usize) {
        const RUN_WORDS: [&str; 10] =
            ["sh", "bash", "zsh", "dash", "env", "sudo", "python", "python3", "perl", "node"];
        let program = words.first().and_then(|program| program.as_deref());
        let name = program.map(|program| program.rsplit('/').next().unwrap_or_default());
        let is_interpreter = name.is_some_and(|name| RUN_WORDS.contains(&name));
        let is_unknown = is_interpreter && words.contains(&None);
        if !words.is_empty() && (program.is_none() || is_unknown) {
            self.runs_unknown(end);
        }
        if program.is_some() {
            self.facts.calls.push(CodeCall::Words(words));
        }
    }

    /// Reads `eval("…")`: a program in the same language.
    fn eval(&mut self, arguments: &[Argument], end: usize) {
        match arguments.first() {
            // `source("https://…")` of R.
            Some(Argument::Text(program)) if program.starts_with("http") => {
                self.facts.runs_download = true;
            }
            Some(Argument::Text(program)) if self.depth < 3 && !program.is_empty() => {
                let inner = read_nested(self.language, program, self.depth + 1);
                self.facts.calls.extend(inner.calls);
                self.facts.dynamic |= inner.dynamic;
                self.facts.runs_decoded |= inner.runs_decoded;
                self.facts.runs_download |= inner.runs_download;
                self.facts.over_limit |= inner.over_limit;
            }
            Some(Argument::Text(program)) if !program.is_empty() => self.facts.over_limit = true,
            // `let d = ""` has more in it when it runs.
            _ => {
                self.runs_unknown(end);
                // What `then(eval)` runs is not in its arguments, and what a callback has received is not in an assignment.
                self.facts.runs_download |= self.facts.downloads;
                if !self.text[end..].trim_start().starts_with('(') {
                    self.facts.runs_decoded |= taint::decodes(self.text);
                }
            }
        }
    }

    /// Notes that a call runs something that is not literal.
    fn runs_unknown(&mut self, end: usize) {
        self.facts.dynamic = true;
        let origin = taint::trace_arguments(&self.source, end);
        self.facts.runs_decoded |= origin.decodes;
        self.facts.runs_download |= origin.downloads;
        self.facts.runs_input |= origin.reads_input
            || (self.language == Language::Awk && self.source.raw_arguments(end).contains('$'));
        if self.language == Language::Awk && self.text.contains("getline") {
            self.facts.runs_download |=
                ["curl", "wget", "/inet/"].iter().any(|name| self.text.contains(name));
        }
    }

    /// Reads `execvp("rm", ["rm", "-rf", "/"])`, `spawnl(os.P_WAIT, "/bin/rm", "rm", "-rf", "/")`: the program's own name is in its words.
    fn program(&mut self, mut arguments: Vec<Argument>, end: usize) {
        let is_mode = arguments.first().is_some_and(|first| *first == Argument::Other);
        if is_mode && arguments.len() > 1 {
            arguments.remove(0);
        }
        match arguments.get_mut(1) {
            Some(Argument::List(words)) if !words.is_empty() => {
                words.remove(0);
            }
            Some(Argument::Text(_)) => {
                arguments.remove(1);
            }
            _ => {}
        }
        // A single text would be a script.
        if arguments.len() == 1 {
            arguments.push(Argument::List(Vec::new()));
        }
        self.argv(&arguments, end);
    }

    fn path(&mut self, argument: Option<&Argument>, op: PathOp, recursive: bool) {
        if let Some(path) = argument.and_then(Argument::text) {
            self.facts.calls.push(CodeCall::Path { path, op, recursive });
        }
    }

    /// Reads `copy("file", "target")`. In a directory, the copy has the name of the file.
    fn transfer(&mut self, arguments: &[Argument], op: PathOp, is_tree: bool) {
        self.path(arguments.first(), op, op == PathOp::Move);
        self.path(arguments.get(1), PathOp::Write, is_tree);
        if let [Argument::Text(from), Argument::Text(into), ..] = arguments {
            let name = from.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            let copy = Argument::Text(literals::join(into, name));
            self.path(Some(&copy), PathOp::Write, false);
        }
    }

    /// Reads `open("file", "w")`: what the mode says.
    fn open(&mut self, arguments: &[Argument]) {
        let mode = arguments.get(1).and_then(Argument::text).unwrap_or_default();
        // `open("|command")` of Ruby.
        if let Some(script) = arguments.first().and_then(Argument::text)
            && let Some(script) = script.strip_prefix('|')
        {
            self.facts.calls.push(CodeCall::Script(script.to_owned()));
            return;
        }
        let is_write = mode.contains(['w', 'a', 'x', '+']);
        let op = if is_write { PathOp::Write } else { PathOp::Read };
        self.reads_unknown |= !is_write && arguments.first().and_then(Argument::text).is_none();
        self.path(arguments.first(), op, false);
    }

    /// Reads `open(F, ">file")` and `open(F, ">", "file")` of Perl.
    fn open_last(&mut self, arguments: &[Argument]) {
        let texts: Vec<String> = arguments.iter().filter_map(Argument::text).collect();
        let Some(last) = texts.last() else { return };
        if texts[0].starts_with('|') || texts[0].ends_with('|') || texts[0] == "-|" {
            let command = texts[1..].join(" ");
            let script = texts[0].trim_matches(['|', '-', ' ']);
            let script = if script.is_empty() { command } else { script.to_owned() };
            self.facts.calls.push(CodeCall::Script(script));
            return;
        }
        let is_write = texts[0].contains('>');
        let path = last.trim_start_matches(['<', '>', '+', ' ']).to_owned();
        let op = if is_write { PathOp::Write } else { PathOp::Read };
        self.facts.calls.push(CodeCall::Path { path, op, recursive: false });
    }
}

#[cfg(test)]
mod tests;
