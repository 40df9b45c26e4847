//! The diagnostics of one file, collected while it is read.

use std::ops::Range;
use std::path::Path;

use tenter_base::excerpt;

use crate::{Diagnostic, Severity, SourceText};

/// Maximum number of diagnostics kept for one file: each contains a copy of its line.
const MAX_DIAGNOSTICS: usize = 100;

/// The strictness of reading a file (R16).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// For validation: every violation of the format is an error.
    Strict,
    /// For running: a violation with an obvious reading (a number out of range, an unknown key, a missing description) is a
    /// warning.
    Tolerant,
    /// As tolerant, for managed hooks: an invalid rule is left out, and the others apply.
    RuleByRule,
}

/// A diagnostic code and its severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    id: &'static str,
    level: Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Error,
    /// An error under strict rules, a warning under tolerant ones.
    Lenient,
    Warning,
    Info,
}

impl Code {
    /// Returns an error: the file cannot be used.
    pub const fn error(id: &'static str) -> Self {
        Self { id, level: Level::Error }
    }

    /// Returns a violation with an obvious reading: an error under strict rules, a warning under tolerant ones (R16).
    pub const fn lenient(id: &'static str) -> Self {
        Self { id, level: Level::Lenient }
    }

    /// Reports what is valid, but perhaps not what the author expects.
    pub const fn warning(id: &'static str) -> Self {
        Self { id, level: Level::Warning }
    }

    /// Reports what is worth knowing.
    pub const fn info(id: &'static str) -> Self {
        Self { id, level: Level::Info }
    }

    fn severity(&self, strictness: Strictness) -> Severity {
        match (self.level, strictness) {
            (Level::Error, _) | (Level::Lenient, Strictness::Strict) => Severity::Error,
            (Level::Lenient, Strictness::Tolerant | Strictness::RuleByRule)
            | (Level::Warning, _) => Severity::Warning,
            (Level::Info, _) => Severity::Info,
        }
    }
}

/// A file format with front matter: its size limit, its required fields, and the codes of its syntax errors.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Maximum size of a file, in bytes.
    pub max_file_size: usize,
    /// The help for a larger file.
    pub too_large_help: &'static str,
    /// The fields that every file needs. Without any, front matter is optional.
    pub required_fields: &'static [&'static str],
    /// The file exceeds its size limit.
    pub file_too_large: Code,
    /// The front matter exceeds a limit.
    pub too_large: Code,
    /// The file is not UTF-8.
    pub encoding: Code,
    /// Front matter is missing or has no end.
    pub fence: Code,
    /// The front matter is not YAML.
    pub syntax: Code,
    /// A mapping contains a key twice.
    pub duplicate_key: Code,
    /// A double-quoted value contains an escape that YAML does not have.
    pub escape: Code,
    /// The id of the diagnostic that counts those over the limit.
    pub more: &'static str,
}

impl Format {
    /// Optional front matter, in a file of any size.
    pub const GENERIC: Self = Self {
        max_file_size: usize::MAX,
        too_large_help: "shorten the file",
        required_fields: &[],
        file_too_large: Code::error("front-matter-too-large"),
        too_large: Code::error("front-matter-too-large"),
        encoding: Code::error("front-matter-encoding"),
        fence: Code::error("front-matter-incomplete"),
        syntax: Code::error("front-matter-syntax"),
        duplicate_key: Code::error("front-matter-duplicate-key"),
        escape: Code::warning("front-matter-escape"),
        more: "front-matter-more-problems",
    };
}

/// Reads one file and collects its diagnostics.
#[derive(Debug)]
pub struct Report<'a> {
    path: &'a Path,
    source: SourceText<'a>,
    strictness: Strictness,
    format: &'static Format,
    diagnostics: Vec<Diagnostic>,
    /// The diagnostics of parts that are left out.
    part_diagnostics: Vec<Diagnostic>,
    omitted_count: usize,
    worst_omitted: Severity,
}

impl<'a> Report<'a> {
    /// Creates an empty report on the file at `path`, whose content is `bytes`. The path is for the diagnostics; nothing is
    /// opened.
    pub fn new(
        path: &'a Path,
        bytes: &'a [u8],
        strictness: Strictness,
        format: &'static Format,
    ) -> Self {
        Self {
            path,
            source: SourceText::new(bytes),
            strictness,
            format,
            diagnostics: Vec::new(),
            part_diagnostics: Vec::new(),
            omitted_count: 0,
            worst_omitted: Severity::Info,
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// Returns the content of the file.
    pub fn source(&self) -> SourceText<'a> {
        self.source
    }

    /// Returns the strictness of reading the file.
    pub fn strictness(&self) -> Strictness {
        self.strictness
    }

    /// Returns the format of the file.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Adds a diagnostic: what is wrong, at which bytes of the file, and what to write instead.
    pub fn add<'r>(
        &mut self,
        code: &Code,
        at: impl Into<Option<&'r Range<usize>>>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let diagnostic = Diagnostic::new(code.id, code.severity(self.strictness), message)
            .at(self.path)
            .help(help);
        self.push(match at.into() {
            Some(range) => diagnostic.with_span(self.source.span(range)),
            None => diagnostic,
        });
    }

    /// Adds a finished diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        } else {
            self.omitted_count += 1;
            self.worst_omitted = self.worst_omitted.max(diagnostic.severity);
        }
    }

    /// Reads a part of the file. If it is invalid and [`Strictness::RuleByRule`] applies, it is left out: its errors are reported, and the
    /// file stays valid.
    pub(crate) fn part<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.strictness != Strictness::RuleByRule {
            return read(self);
        }
        let before = std::mem::take(&mut self.diagnostics);
        let value = read(self);
        let own = std::mem::replace(&mut self.diagnostics, before);
        if own.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            self.part_diagnostics.extend(own);
            return None;
        }
        self.diagnostics.extend(own);
        value
    }

    /// Returns the end of a message that says what happens despite a diagnostic; empty if the diagnostic is an error.
    pub fn fallback(&self, code: &Code, what: &str) -> String {
        match code.severity(self.strictness) {
            Severity::Error => String::new(),
            _ => format!("; {what}"),
        }
    }

    /// Returns true if the file is within its size limit; reports it if not.
    pub(super) fn is_within_limit(&mut self) -> bool {
        let format = self.format;
        let is_within = self.source.bytes().len() <= format.max_file_size;
        if !is_within {
            let message = format!("the file is longer than {} KiB", format.max_file_size / 1024);
            self.add(&format.file_too_large, None, message, format.too_large_help);
        }
        is_within
    }

    /// Returns the whole file as text. `None`, with a diagnostic, if it is too large or not UTF-8.
    pub fn text_of_file(&mut self) -> Option<&'a str> {
        if !self.is_within_limit() {
            return None;
        }
        let text = self.decode(self.source.bytes().len())?;
        Some(text)
    }

    /// Returns the first `end` bytes as text; reports the first byte that is not UTF-8.
    pub(super) fn decode(&mut self, end: usize) -> Option<&'a str> {
        match std::str::from_utf8(&self.source.bytes()[..end]) {
            Ok(text) => Some(text),
            Err(error) => {
                let first = error.valid_up_to();
                let help = "save the file as UTF-8";
                self.add(&self.format.encoding, &(first..first), "the file is not UTF-8", help);
                None
            }
        }
    }

    /// Ends the report. There is a value exactly when no diagnostic is an error, except in parts that are left out; diagnostics
    /// are in the order of the file.
    pub fn finish<T>(mut self, value: Option<T>) -> (Option<T>, Vec<Diagnostic>) {
        let is_valid = self.worst_omitted != Severity::Error
            && self.diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error);
        self.diagnostics.append(&mut self.part_diagnostics);
        let position =
            |diagnostic: &Diagnostic| diagnostic.span.as_ref().map(|span| (span.line, span.column));
        self.diagnostics.sort_by_key(position);
        if self.omitted_count > 0 {
            let message = format!("{} more problems are not shown", self.omitted_count);
            let more = Diagnostic::new(self.format.more, self.worst_omitted, message);
            self.diagnostics.push(more.at(self.path).help("fix those above first"));
        }
        (value.filter(|_| is_valid), self.diagnostics)
    }
}

/// Returns `text` as a message quotes it: on one line, at most 80 characters.
pub(crate) fn quotable(text: &str) -> String {
    const MAX_LENGTH: usize = 80;
    let mut quotable = String::new();
    for letter in excerpt::chars(text, MAX_LENGTH).chars() {
        if letter.is_control() {
            quotable.extend(letter.escape_default());
        } else {
            quotable.push(letter);
        }
    }
    quotable
}
