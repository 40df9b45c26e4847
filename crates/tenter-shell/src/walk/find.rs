//! `find`: what `-exec` runs, and what `-delete` deletes.

use crate::facts::PathOp;
use crate::field::Field;
use crate::flags::command_end;
use crate::reader::{Context, Outcome, Reader};

use super::call::{Call, Emitted};
use super::wrappers::values;

/// Maximum number of starting points that a command in `-exec` is read with.
const STARTS: usize = 8;

impl Reader<'_> {
    pub(super) fn find(&mut self, call: &Call, emitted: &Emitted, context: &Context) -> Outcome {
        let starts = starting_points(call);
        let found = found(&starts, emitted);
        for path in &starts {
            self.touch_recursively(path, PathOp::List, emitted.index);
        }
        if emitted.arguments.has("-delete") {
            for path in &found {
                self.touch_recursively(path, PathOp::Delete, emitted.index);
            }
        }
        let mut outcome = Outcome::default();
        let args = call.args();
        let mut next = 0;
        while next < args.len() {
            let at = next;
            next += 1;
            let Some(end) = command_end(args, at) else { continue };
            next = end;
            let has_end = matches!(args[end - 1].text.as_str(), ";" | "+") && end - 1 > at;
            let words = &args[at + 1..if has_end { end - 1 } else { end }];
            if !words.iter().any(|word| word.text.contains("{}")) {
                outcome.commands.extend(self.words(words, &[], "find", context).commands);
                continue;
            }
            for path in &found {
                let words: Vec<Field> =
                    words.iter().map(|word| replaced(word, "{}", path)).collect();
                outcome.commands.extend(self.words(&words, &[], "find", context).commands);
            }
        }
        outcome
    }

    /// The output of `find`, as patterns.
    pub(super) fn find_output(call: &Call, emitted: &Emitted) -> Option<Field> {
        if emitted.arguments.has("-exec -execdir -ok -printf -ls -fprint -delete") {
            return None;
        }
        Some(Field::joined(&found(&starting_points(call), emitted), "\n"))
    }
}

/// The operands before the first test.
fn starting_points(call: &Call) -> Vec<Field> {
    let is_test = |arg: &&Field| {
        !arg.text.starts_with(['-', '!', '(']) || matches!(arg.text.as_str(), "-H" | "-L" | "-P")
    };
    let starts: Vec<Field> = call
        .args()
        .iter()
        .take_while(is_test)
        .filter(|arg| !arg.text.starts_with('-'))
        .take(STARTS)
        .cloned()
        .collect();
    if starts.is_empty() { vec![Field::known(".")] } else { starts }
}

/// Patterns of what is found: the names in a starting point, or that itself and everything in it.
fn found(starts: &[Field], emitted: &Emitted) -> Vec<Field> {
    let name = values(emitted, "-name -iname").into_iter().next();
    let is_partial = emitted
        .arguments
        .has("-path -ipath -wholename -regex -mindepth -newer -mtime -size -user -type -empty");
    starts
        .iter()
        .map(|start| {
            let directory = start.text.trim_end_matches('/');
            let text = match &name {
                Some(name) => format!("{directory}/**/{}", name.text),
                None if is_partial => format!("{directory}/**"),
                None => start.text.clone(),
            };
            let is_certain = start.is_certain && name.as_ref().is_none_or(|name| name.is_certain);
            Field { is_glob: true, is_certain, ..start.with_text(text) }
        })
        .collect()
}

/// A word with another text for its placeholder.
pub(super) fn replaced(word: &Field, placeholder: &str, text: &Field) -> Field {
    if placeholder.is_empty() || !word.text.contains(placeholder) {
        return word.clone();
    }
    let mut parts = word.text.split(placeholder);
    let mut whole = word.with_text(parts.next().unwrap_or_default());
    for part in parts {
        if whole.text.len() > crate::limits::MAX_VALUE {
            return Field::unknown(placeholder);
        }
        whole.push(text);
        whole.text.push_str(part);
    }
    whole
}
