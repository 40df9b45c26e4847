//! `sed`: the commands that its scripts run, and the files that they write.

use crate::facts::{FlowSource, PathOp};
use crate::field::Field;
use crate::reader::{Context, NodeResult, Reader};

use super::call::{Call, Emitted};
use super::wrappers::values;

impl Reader<'_> {
    /// Reads the commands that `e command` and `s/…/command/e` run, and keeps the files that `w file` and `s/…/…/w file` write and
    /// `r file` inserts.
    pub(super) fn sed(&mut self, call: &Call, emitted: &Emitted, context: &Context) -> NodeResult {
        let mut scripts = values(emitted, "-e --expression");
        if scripts.is_empty() {
            scripts.extend(call.operands(emitted).next().cloned());
        }
        let mut commands = Vec::new();
        for script in &scripts {
            for line in script.text.split([';', '\n']) {
                commands.extend(executed(line).map(|command| script.with_text(command)));
                let files = written(line).map(|file| (file, PathOp::Write));
                for (file, op) in files.into_iter().chain(inserted(line)) {
                    self.touch(&script.with_text(file), op, Some(emitted.index));
                }
            }
        }
        if emitted.arguments.has("-i --in-place") {
            self.sed_in_place(&scripts, call, emitted);
        }
        self.scripts(&commands, emitted, context)
    }

    /// Keeps what a file that the text wrote is changed to.
    fn sed_in_place(&mut self, scripts: &[Field], call: &Call, emitted: &Emitted) {
        let files: Vec<Field> = call.operands(emitted).cloned().collect();
        for file in &files {
            let old = self.written_here(file).and_then(|file| file.text.as_ref());
            if let Some(new) = old.and_then(|old| super::transform::substitute(old, scripts)) {
                self.writes_file(file, &[FlowSource::Command(emitted.index)], Some(new));
            }
        }
    }
}

/// Returns a command of sed without its address.
fn command_of(line: &str) -> &str {
    let is_address = |c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | ' ' | '~' | '!' | '{');
    let command = line.trim_start_matches(is_address);
    match command.strip_prefix('/').and_then(|pattern| pattern.split_once('/')) {
        Some((_, rest)) => command_of(rest),
        None => command,
    }
}

/// Returns the file that one command of sed writes.
fn written(line: &str) -> Option<String> {
    let command = command_of(line);
    let file = |text: &str| {
        let file = text.trim_matches([' ', '}']);
        (!file.is_empty()).then(|| file.to_owned())
    };
    if let Some(rest) = command.strip_prefix(['w', 'W']) {
        return rest.starts_with([' ', '/', '.', '~']).then(|| file(rest))?;
    }
    let mut letters = command.strip_prefix('s')?.chars();
    let delimiter = letters.next().filter(char::is_ascii_punctuation)?;
    let parts = parts(letters.as_str(), delimiter);
    let (_, rest) = parts.get(2)?.split_once('w')?;
    // A path has the delimiter.
    let more: String =
        parts[3..].iter().flat_map(|part| [delimiter.to_string(), part.clone()]).collect();
    file(&format!("{rest}{more}"))
}

/// Returns the file that one command of sed inserts: `r file`, `R file`.
fn inserted(line: &str) -> Option<(String, PathOp)> {
    let file = command_of(line).strip_prefix(['r', 'R'])?.strip_prefix(' ')?;
    let file = file.trim_matches([' ', '}']);
    (!file.is_empty()).then(|| (file.to_owned(), PathOp::Read))
}

/// Returns the command that one command of sed runs.
fn executed(line: &str) -> Option<String> {
    let command = command_of(line);
    if let Some(rest) = command.strip_prefix("e ") {
        return Some(rest.to_owned());
    }
    let mut letters = command.strip_prefix('s')?.chars();
    let delimiter = letters.next().filter(char::is_ascii_punctuation)?;
    let parts = parts(letters.as_str(), delimiter);
    match parts.as_slice() {
        [_, replacement, flags] if flags.contains('e') && flags.len() < 8 => {
            Some(replacement.clone())
        }
        _ => None,
    }
}

/// Returns the parts of `s/…/…/…` after the first delimiter, without the backslashes before delimiters.
pub(super) fn parts(text: &str, delimiter: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let Some(last) = parts.last_mut() else { break };
        match letter {
            '\\' => match letters.next() {
                Some(next) if next == delimiter => last.push(next),
                next => {
                    last.push('\\');
                    last.extend(next);
                }
            },
            letter if letter == delimiter => parts.push(String::new()),
            letter => last.push(letter),
        }
    }
    parts
}
