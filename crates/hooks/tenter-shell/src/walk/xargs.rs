//! `xargs` and `parallel`: commands whose arguments come from the standard input or from a list.

use crate::facts::{Class, FlowRole, PathOp};
use crate::field::Field;
use crate::reader::{Context, NodeResult, Reader};

use super::call::{Call, Emitted};
use super::find::replaced;
use super::wrappers::values;

/// Maximum number of arguments with which a command is read.
const ARGUMENTS: usize = 64;

/// Other forms of `{}` in the commands of `parallel`: the item without its end, its name, its directory, its place.
const PLACEHOLDERS: [&str; 6] = ["{.}", "{/}", "{//}", "{/.}", "{1}", "{1.}"];

/// The way in which the standard input becomes arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Splitting {
    Words,
    Lines,
    /// At a character, and quotes are text.
    At(char),
}

impl Reader<'_> {
    pub(super) fn xargs(
        &mut self,
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        let mut words: Vec<Field> = call.operands(emitted).cloned().collect();
        if words.is_empty() {
            words.push(Field::known("echo"));
        }
        let placeholder = placeholder(emitted);
        let splitting = match separator(emitted) {
            Some(separator) => Splitting::At(separator),
            None if placeholder.is_some() => Splitting::Lines,
            None => Splitting::Words,
        };
        let items = self.items(splitting, emitted, context);
        let inner = context.with_stdin(None);
        let Some(placeholder) = placeholder else {
            words.extend(items);
            return self.words(&words, &call.env, "xargs", &inner);
        };
        let mut outcome = NodeResult::default();
        for item in items.iter().take(ARGUMENTS) {
            let words: Vec<Field> =
                words.iter().map(|word| replaced(word, &placeholder, item)).collect();
            outcome.commands.extend(self.words(&words, &call.env, "xargs", &inner).commands);
        }
        outcome
    }

    /// Returns the arguments that come from the standard input.
    fn items(&mut self, splitting: Splitting, emitted: &Emitted, context: &Context) -> Vec<Field> {
        let file = values(emitted, "-a --arg-file").into_iter().next();
        let (sources, text) = match (&file, &context.stdin) {
            (Some(file), _) => {
                let content = self.written(file).cloned().unwrap_or_default();
                (content.sources, content.text)
            }
            (None, Some(input)) => (input.sources.clone(), input.text.clone()),
            (None, None) => return vec![Field::unknown("{}")],
        };
        let Some(text) = &text else { return vec![Field { sources, ..Field::unknown("{}") }] };
        // Quotes only mean something where no separator is given.
        let unquoted = |item: &'_ str| item.trim_matches(['"', '\'']).to_owned();
        let split: Vec<String> = match splitting {
            Splitting::Words => text.text.split_whitespace().map(unquoted).collect(),
            Splitting::Lines => {
                text.text.lines().filter(|line| !line.is_empty()).map(unquoted).collect()
            }
            Splitting::At(separator) => {
                let items = text.text.strip_suffix(separator).unwrap_or(&text.text);
                items.split(separator).map(str::to_owned).collect()
            }
        };
        if split.len() > ARGUMENTS {
            self.reach_limit();
        }
        for source in &text.sources {
            self.flow(*source, emitted.index, FlowRole::Data);
        }
        let unknown = text.is_partial.then(|| Field { sources, ..Field::unknown("{}") });
        split.into_iter().take(ARGUMENTS).map(|item| text.with_text(item)).chain(unknown).collect()
    }

    /// Reads `parallel command ::: arguments`; without a command, the arguments are commands.
    pub(super) fn parallel(
        &mut self,
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        let operands: Vec<Field> = call.operands(emitted).cloned().collect();
        let is_separator = |field: &Field| matches!(field.text.as_str(), ":::" | ":::+" | "::::");
        let at = operands.iter().position(is_separator);
        let words = &operands[..at.unwrap_or(operands.len())];
        let inner = context.with_stdin(None);
        let items = match at {
            Some(at) if operands[at].text == "::::" => {
                for file in operands[at + 1..].iter().filter(|field| !is_separator(field)) {
                    self.touch(file, PathOp::Read, Some(emitted.index));
                }
                vec![Field::unknown("{}")]
            }
            Some(at) => {
                if operands.len() - at > ARGUMENTS {
                    self.reach_limit();
                }
                operands[at + 1..].iter().filter(|field| !is_separator(field)).cloned().collect()
            }
            None => self.items(Splitting::Lines, emitted, context),
        };
        if context.stdin.is_none() && at.is_none() && words.is_empty() {
            return NodeResult::default();
        }
        // Without a command, the lines are commands.
        if let Some(input) = context.stdin.as_ref().filter(|_| at.is_none() && words.is_empty()) {
            self.classify(emitted.index, Class::Interpreter);
            for source in &input.sources {
                self.flow(*source, emitted.index, FlowRole::Code);
            }
        }
        let own = values(emitted, "-I").into_iter().next().map(|value| value.text);
        let placeholders = own.as_deref().into_iter().chain(PLACEHOLDERS);
        let mut outcome = NodeResult::default();
        for item in items.iter().take(ARGUMENTS) {
            let mut script = Field::join(words, " ");
            for placeholder in placeholders.clone() {
                script.text = script.text.replace(placeholder, "{}");
            }
            if words.is_empty() || !script.text.contains("{}") {
                if !words.is_empty() {
                    script.push(&Field::known(" "));
                }
                let is_code = words.is_empty();
                script.push(&if is_code { item.clone() } else { super::scripts::quote(item) });
            } else {
                script = replaced(&script, "{}", &super::scripts::quote(item));
            }
            outcome.commands.extend(self.script_of(&script, emitted, &inner).commands);
        }
        // `parallel bash -c 'git status'`: the shell that parallel starts splits the script, which is hardly ever meant.
        if words.iter().any(|word| word.is_certain && word.text.contains(' ')) && words.len() > 1 {
            for item in items.iter().take(ARGUMENTS) {
                let with_item = |word: &Field| {
                    let mut marks = placeholders.clone().filter(|text| word.text.contains(*text));
                    replaced(word, marks.next().unwrap_or("{}"), item)
                };
                let words: Vec<Field> = words.iter().map(with_item).collect();
                outcome.commands.extend(self.words(&words, &[], "parallel", &inner).commands);
            }
        }
        outcome
    }
}

/// Returns the character between the items, if `xargs` is given one.
fn separator(emitted: &Emitted) -> Option<char> {
    if emitted.arguments.has("-0 --null") {
        return Some('\0');
    }
    let delimiter = values(emitted, "-d --delimiter").into_iter().next()?;
    Some(match delimiter.text.as_str() {
        "\\n" | "" => '\n',
        "\\0" => '\0',
        "\\t" => '\t',
        text => text.chars().next().unwrap_or('\n'),
    })
}

/// Returns the text that `xargs -I` replaces.
fn placeholder(emitted: &Emitted) -> Option<String> {
    let value = values(emitted, "-I -J --replace -i").into_iter().next().map(|value| value.text);
    let is_default = emitted.arguments.has("-i --replace");
    value.filter(|text| !text.is_empty()).or_else(|| is_default.then(|| "{}".to_owned()))
}
