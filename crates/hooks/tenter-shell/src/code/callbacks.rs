//! Functions that a program passes to others, or gives another name: `files.forEach(fs.unlinkSync)`, `array_map("system", $list)`,
//! `f = os.system`. What they get is taken from the texts of the same statement.

use crate::facts::{Language, PathOp};

use super::calls::{has_object, names};
use super::delimiters::MAX_BYTES;
use super::tables::{Effect, is_known_call, known_calls};
use super::{CodeCall, CodeReader};

/// Maximum length of the name of a function with its modules, in bytes.
const MAX_NAME: usize = 128;

/// Maximum number of such functions whose statements are read, and of lists.
const MAX_READ: usize = 32;

/// Methods that pass each item of a list to a function.
const LOOPS: [&str; 6] = *tenter_base::words!(".each .every .filter .flatMap .forEach .map");

impl CodeReader<'_> {
    /// Reads a name that no arguments follow. `unlink $_` and `unlink for …` of Perl delete what is not known.
    pub(super) fn note_callback(&mut self, name: &str, start: usize, end: usize) {
        let (before, after) = (&self.text[..start], &self.text[end..]);
        if !is_passed(self.language, before, after) {
            return;
        }
        let (language, text) = (self.language, self.text);
        for call in known_calls(language, name) {
            let has_object = has_object(&call, text, before);
            match call.effect {
                Effect::Path { op: PathOp::Delete, .. } => {
                    self.deletes_unknown = true;
                    // Perl and Ruby list what they delete without naming it.
                    if has_object && !matches!(language, Language::Perl | Language::Ruby) {
                        self.touch_texts(PathOp::Delete, name, start);
                    }
                }
                Effect::Path { op: PathOp::Read, .. } | Effect::Open if has_object => {
                    self.reads_unknown = true;
                    self.touch_texts(PathOp::Read, name, start);
                }
                Effect::Shell | Effect::Words => self.facts.dynamic |= has_object,
                _ => {}
            }
        }
    }

    /// Adds that a function touches the other texts of its statement.
    fn touch_texts(&mut self, op: PathOp, name: &str, at: usize) {
        self.callbacks += 1;
        if self.callbacks > MAX_READ {
            self.facts.over_limit = true;
            return;
        }
        // The files of a pattern are those that the program lists.
        let is_path = |text: &String| text != name && !text.contains('*');
        let texts = texts(statement(self.text, at)).into_iter().filter(is_path);
        self.facts.calls.extend(texts.map(|path| CodeCall::Path { path, op, recursive: false }));
    }

    /// Adds that the items of `for x in ["a"]` and `["a"].forEach(…)` are touched, if the program touches files whose names it computes.
    pub(super) fn touch_iterated(&mut self) {
        let ops = [(PathOp::Read, self.reads_unknown), (PathOp::Delete, self.deletes_unknown)];
        let ops: Vec<PathOp> =
            ops.into_iter().filter_map(|(op, is_set)| is_set.then_some(op)).collect();
        if ops.is_empty() {
            return;
        }
        let lists = self.text.match_indices('[').take(MAX_READ);
        let items: Vec<String> =
            lists.filter_map(|(at, _)| iterated(self.text, at)).flat_map(texts).collect();
        for path in items.into_iter().filter(|item| !item.contains('*')) {
            let calls = ops.iter().map(|op| CodeCall::Path {
                path: path.clone(),
                op: *op,
                recursive: false,
            });
            self.facts.calls.extend(calls);
        }
    }
}

/// Returns a list that starts with the bracket at a position, if a loop gets its items.
fn iterated(text: &str, at: usize) -> Option<&str> {
    let start = text.floor_char_boundary(at.saturating_sub(MAX_NAME));
    let before = text[start..at].rsplit([';', '\n']).next()?.trim_end();
    let list = crate::limits::start(&text[at + 1..], MAX_BYTES);
    let (inner, after) = list.split_once(']')?;
    let is_loop =
        before.contains("for") && [" in", " of", "("].iter().any(|end| before.ends_with(end));
    let is_method = LOOPS.iter().any(|name| after.starts_with(name));
    (is_loop || is_method).then_some(inner)
}

/// Checks whether a name stands for its function: an argument, a text of PHP, `:name` of Ruby, or a call without brackets whose arguments
/// are not known.
fn is_passed(language: Language, before: &str, after: &str) -> bool {
    let next = after.trim_start();
    let is_argument = |rest: &str| rest.trim_start().starts_with([')', ',']);
    match language {
        Language::Perl => {
            next.starts_with(['$', '@', '}', ';', '<', ')', ','])
                || ["for", "while"].iter().any(|word| next.starts_with(word))
        }
        Language::Ruby => {
            let is_symbol = before.ends_with(':') && is_argument(after);
            let has_word = next.starts_with(|letter: char| letter.is_ascii_lowercase());
            is_symbol || after.starts_with([')', ',']) || (after.starts_with(' ') && has_word)
        }
        Language::Php => is_in_quotes(before, after) && is_argument(&after[1..]),
        _ => after.starts_with([')', ',']),
    }
}

/// Checks whether quotes are around what is between two texts.
pub(super) fn is_in_quotes(before: &str, after: &str) -> bool {
    ['"', '\''].iter().any(|quote| before.ends_with(*quote) && after.starts_with(*quote))
}

/// Returns the statement around a position, as far as it is not very long.
fn statement(text: &str, at: usize) -> &str {
    let mut start = text.floor_char_boundary(at.saturating_sub(MAX_BYTES));
    let limit = text.floor_char_boundary(at + MAX_BYTES);
    let (mut quote, mut depth) = (None, 0_usize);
    let mut letters = text[start..limit].char_indices();
    let first = start;
    while let Some((place, letter)) = letters.next() {
        match (quote, letter) {
            (Some(_), '\\') => drop(letters.next()),
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            (None, ';' | '\n') if letter == ';' || depth == 0 => {
                if first + place > at {
                    return &text[start..first + place];
                }
                start = first + place + 1;
            }
            _ => {}
        }
    }
    &text[start..limit]
}

/// Returns the texts in quotes.
fn texts(statement: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut open: Option<(char, String)> = None;
    let mut letters = statement.chars();
    while let Some(letter) = letters.next() {
        match &mut open {
            None if matches!(letter, '"' | '\'') => open = Some((letter, String::new())),
            None => {}
            Some((quote, _)) if *quote == letter => texts.extend(open.take().map(|(_, text)| text)),
            Some((_, text)) if letter == '\\' => text.extend(letters.next()),
            Some((_, text)) => text.push(letter),
        }
    }
    texts
}

/// Returns the new and old names of `f = os.system` and `$f = "system"`.
pub(super) fn assigned(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.match_indices('=').filter_map(move |(at, _)| {
        let before = text[..at].trim_end();
        let new = &before[before.trim_end_matches(is_part).len()..];
        let value = crate::limits::start(&text[at + 1..], MAX_NAME);
        let value = value.trim_start_matches([' ', '\\', '&']);
        let end = value.find([';', '\n', ',', ')']).unwrap_or(value.len());
        let value = value[..end].trim_end();
        let is_variable = before[..before.len() - new.len()].ends_with('$');
        let name = value.trim_matches(['"', '\'']);
        let is_name = name.chars().all(|letter| is_part(letter) || matches!(letter, '.' | ':'));
        if new.is_empty() || !is_name || (name.len() < value.len() && !is_variable) {
            return None;
        }
        let (_, old) = names(name).last()?;
        let is_whole = name.ends_with(old) && old != new && is_known_call(old);
        is_whole.then_some((new, old))
    })
}
