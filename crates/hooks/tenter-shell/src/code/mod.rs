//! Programs in other languages: the calls with literal arguments that run commands or touch files (C1).
//!
//! This is no parser. A call counts wherever its name is, so that the facts contain at least what a plain program does. Strings
//! and comments can contain calls that never happen, which is why the facts that come of this are not certain.

mod literals;
mod marked;
mod named;
mod tables;
mod taint;

use crate::facts::{Language, PathOp};

use literals::{Argument, Source};
use tables::{CALLS, Call, Effect, NO_OBJECT, OBJECT};

/// The facts about a program, as far as it can be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CodeFacts {
    pub(crate) calls: Vec<CodeCall>,
    /// It runs something that is not literal.
    pub(crate) dynamic: bool,
    /// It runs what it decodes.
    pub(crate) runs_decoded: bool,
    /// It runs what it downloads.
    pub(crate) runs_download: bool,
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
    };
    let mut tried = 0;
    let renamed = renamed(text);
    for (start, name) in names(text) {
        let length = name.len();
        let name = renamed.iter().find(|(new, _)| *new == name).map_or(name, |(_, old)| old);
        let before = &text[..start];
        let after = &text[start + length..];
        if !may_be_call(language, name, after) {
            reader.note_callback(name, after);
            continue;
        }
        if tried >= MAX_CALLS {
            reader.facts.dynamic = true;
            break;
        }
        let mut calls = CALLS.iter().filter(|call| call.language == language && call.name == name);
        if let Some(call) = calls.find(|call| is_call(call, text, before, after)) {
            tried += 1;
            // `File.rm_rf!("a")`.
            let mark = usize::from(language == Language::Other && after.starts_with('!'));
            reader.add(call, start, start + length + mark);
        }
    }
    reader.delete_listed();
    reader.backticks();
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

/// Checks whether arguments may follow a name. `eval` needs no brackets, and can be an argument itself: `.then(eval)`.
/// `Dir["a/*"]` lists files, and `unlink glob("a/*")` deletes them.
fn may_be_call(language: Language, name: &str, after: &str) -> bool {
    let next = after.trim_start();
    let is_eval = name == "eval" && !next.starts_with(['{', '=', ':']);
    let is_marked = language == Language::Other && next.starts_with("!(");
    let is_list = name == "Dir" && next.starts_with('[');
    let is_nested = ["glob(", "glob ", "Dir", "qw", "q(", "qq", "*%w"]
        .iter()
        .any(|start| next.starts_with(start));
    let is_open = language == Language::Perl && name == "open";
    is_eval || is_open || is_marked || is_list || is_nested || next.starts_with(['(', '"', '\''])
}

/// The new and old names of `from shutil import rmtree as remove` and `import {rmSync as remove} from "fs"`.
fn renamed(text: &str) -> Vec<(&str, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // `const {rmSync: remove} = require("fs")`.
    let in_braces = || text.match_indices(": ").chain(text.match_indices(':'));
    let has_braces = text.contains("require(") && text.contains('{');
    let markers = text.match_indices(" as ").take(MAX_CALLS);
    let markers = markers.chain(in_braces().take(if has_braces { MAX_CALLS } else { 0 }));
    let pairs = markers.filter_map(|(at, marker)| {
        let before = text[..at].trim_end();
        let old = &before[before.trim_end_matches(is_part).len()..];
        let after = text[at + marker.len()..].trim_start();
        let new = &after[..after.find(|c| !is_part(c)).unwrap_or(after.len())];
        let is_known = CALLS.iter().any(|call| call.name == old);
        (is_known && !new.is_empty()).then_some((new, old))
    });
    pairs.collect()
}

/// The identifiers of a text, with their positions.
fn names(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text[rest..].find(|c: char| c.is_ascii_alphabetic() || c == '_')?;
        let length = text[start..].find(|c| !is_part(c)).unwrap_or(text.len() - start);
        rest = start + length;
        Some((start, &text[start..rest]))
    })
}

/// Checks whether a name names a call: its object fits, and arguments follow.
fn is_call(call: &Call, text: &str, before: &str, after: &str) -> bool {
    // `shell-command` of Lisp.
    let separators: &[char] =
        if call.language == Language::Other { &['.', ':', '-'] } else { &['.', ':'] };
    let object = before.trim_end().strip_suffix(separators);
    let object = object.map(|before| before.trim_end_matches(':'));
    let has_object = match call.object {
        "" => true,
        NO_OBJECT => object.is_none(),
        name => match object {
            Some(object) => object.ends_with(name) || is_import_of(text, name, object),
            None => text.contains(&format!("from {name} import ")),
        },
    };
    let next = after.trim_start().trim_start_matches('!').chars().next();
    if call.effect == Effect::Eval {
        let is_bare = match call.language {
            Language::Node => call.name == "eval" && matches!(next, Some(')' | ',')),
            Language::Perl | Language::Ruby => {
                next.is_some_and(|next| next.is_alphanumeric() || "$\"'[".contains(next))
            }
            _ => false,
        };
        return has_object && (is_bare || next == Some('('));
    }
    let is_command = matches!(call.language, Language::Perl | Language::Ruby | Language::Other);
    let takes_list = matches!((call.effect, next), (Effect::List(_), Some('[')));
    let is_open = call.effect == Effect::OpenLast && next.is_some_and(char::is_alphabetic);
    let is_nested = is_open || (is_command && matches!(next, Some('g' | 'D' | 'q' | '*')));
    let is_quoted = is_command && matches!(next, Some('"' | '\''));
    has_object && (next == Some('(') || is_quoted || takes_list || is_nested)
}

/// Checks whether the text imports a module under the name at the end of `before`: `import subprocess as sp`.
fn is_import_of(text: &str, module: &str, before: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = &before[before.trim_end_matches(is_part).len()..];
    !name.is_empty() && text.contains(&format!("import {module} as {name}"))
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
}

impl CodeReader<'_> {
    /// Adds a call whose name is between two positions.
    fn add(&mut self, call: &Call, start: usize, end: usize) {
        // `Dir["a/*"]`.
        let is_index = matches!(call.effect, Effect::List(_)) && self.text[end..].starts_with('[');
        let end = end + usize::from(is_index);
        let arguments = self.source.arguments(end);
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
            Effect::Program => self.program(arguments, end),
            Effect::Transfer(op) => {
                let is_recursive = op == PathOp::Move;
                self.path(arguments.first(), op, is_recursive);
                self.path(arguments.get(1), PathOp::Write, false);
            }
            Effect::Eval => self.eval(&arguments, end),
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
                if let Some(path) = path {
                    self.facts.calls.push(CodeCall::Path { path, op, recursive });
                }
            }
            Effect::List(index) => self.list(index, &arguments, start),
        }
    }

    /// The first argument of `(delete-file "a" t)`, where no comma follows.
    fn first_of_lisp(&self, end: usize) -> Option<String> {
        let text = self.text[end..].trim_start().strip_prefix('"')?;
        let is_lisp = self.language == Language::Other && self.text.trim_start().starts_with('(');
        is_lisp.then(|| text.split('"').next().map(str::to_owned)).flatten()
    }

    /// `os.listdir("a")`, `Path("a").iterdir()`, `Dir["a/*"]`.
    fn list(&mut self, index: usize, arguments: &[Argument], start: usize) {
        let path = match (index, arguments.get(index)) {
            (OBJECT, _) => self.source.object(start),
            (_, Some(Argument::List(words))) => words.first().cloned().flatten(),
            (_, argument) => argument.and_then(Argument::text),
        };
        self.listed.extend(path);
    }

    /// `files.forEach(fs.unlinkSync)`, `map(os.remove, files)`: a function that deletes is an argument. `unlink $_` and `unlink for …` of
    /// Perl delete what is not known.
    fn note_callback(&mut self, name: &str, after: &str) {
        let next = after.trim_start();
        let is_perl = self.language == Language::Perl
            && (next.starts_with(['$', '@', '}', ';']) || next.starts_with("for"));
        if !is_perl && !after.starts_with([')', ',']) {
            return;
        }
        let mut calls = CALLS.iter().filter(|call| call.language == self.language);
        self.deletes_unknown |= calls.any(|call| {
            call.name == name && matches!(call.effect, Effect::Path { op: PathOp::Delete, .. })
        });
    }

    /// A program that lists files, and deletes files whose names it computes, deletes those.
    fn delete_listed(&mut self) {
        if !self.deletes_unknown {
            return;
        }
        for listed in std::mem::take(&mut self.listed) {
            let literal = listed.split(['*', '?', '[', '{']).next().unwrap_or_default();
            let path = if literal.len() == listed.len() {
                listed
            } else {
                literal.rsplit_once('/').map_or(".", |(directory, _)| directory).to_owned()
            };
            let path = if path.is_empty() { "/".to_owned() } else { path };
            self.facts.calls.push(CodeCall::Path { path, op: PathOp::Delete, recursive: true });
        }
    }

    /// `execFile("rm", ["-rf", "/"])`, `system("rm", "-rf", "/")`.
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

    /// A command: it cannot be read if its program is unknown, or if an interpreter gets something unknown.
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

    /// `eval("…")`: a program in the same language.
    fn eval(&mut self, arguments: &[Argument], end: usize) {
        match arguments.first() {
            // `source("https://…")` of R.
            Some(Argument::Text(program)) if program.starts_with("http") => {
                self.facts.runs_download = true;
            }
            Some(Argument::Text(program)) if self.depth < 3 => {
                let inner = read_nested(self.language, program, self.depth + 1);
                self.facts.calls.extend(inner.calls);
                self.facts.dynamic |= inner.dynamic;
                self.facts.runs_decoded |= inner.runs_decoded;
                self.facts.runs_download |= inner.runs_download;
            }
            _ => {
                self.runs_unknown(end);
                // What `then(eval)` runs is not in its arguments.
                if !self.text[end..].trim_start().starts_with('(') {
                    self.facts.runs_decoded |= taint::decodes(self.text);
                    self.facts.runs_download |= taint::downloads(self.text);
                }
            }
        }
    }

    /// A call runs something that is not literal.
    fn runs_unknown(&mut self, end: usize) {
        self.facts.dynamic = true;
        let (decodes, downloads) = taint::of_arguments(&self.source, end);
        self.facts.runs_decoded |= decodes;
        self.facts.runs_download |= downloads;
        if self.language == Language::Awk && self.text.contains("getline") {
            self.facts.runs_download |=
                ["curl", "wget", "/inet/"].iter().any(|name| self.text.contains(name));
        }
    }

    /// `execvp("rm", ["rm", "-rf", "/"])`, `spawnl(os.P_WAIT, "/bin/rm", "rm", "-rf", "/")`: the program's own name is in its words.
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

    /// `open("file", "w")`: what the mode says.
    fn open(&mut self, arguments: &[Argument]) {
        let mode = arguments.get(1).and_then(Argument::text).unwrap_or_default();
        let is_write = mode.contains(['w', 'a', 'x', '+']);
        let op = if is_write { PathOp::Write } else { PathOp::Read };
        self.path(arguments.first(), op, false);
    }

    /// `open(F, ">file")` and `open(F, ">", "file")` of Perl.
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
