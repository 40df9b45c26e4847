//! Expansion of words, as far as it is certain (C2).

mod braces;
mod parameters;
mod tilde;

use crate::facts::FlowSource;
use crate::field::Field;
use crate::limits::MAX_VALUE;
use crate::reader::{Context, NodeResult, Reader};
use crate::scope::Keep;
use crate::syntax::tree::{List, Part, Substitution, SubstitutionBody, Word};

pub(crate) use tilde::{Tildes, has_tildes};

/// A part of a word after expansion.
enum Piece {
    /// Text that is not split.
    Text(Field),
    /// The result of an expansion without quotes, which is split at blanks.
    Split(Field),
    /// `"$@"`.
    Fields(Vec<Field>),
}

impl Reader<'_> {
    /// Returns the field of a word that expands to itself, as most do; `None` if the word must be expanded.
    pub(crate) fn plain_field(&mut self, word: &Word, context: &Context) -> Option<Field> {
        let text =
            word.plain().filter(|text| !text.contains(['~', '{']) && !context.is_reparsed)?;
        self.expand_by(text.len()).then(|| plain(text))
    }

    /// Returns the fields that a word expands to. Its substitutions are read.
    pub(crate) fn fields(&mut self, word: &Word, context: &Context) -> Vec<Field> {
        if let [Part::Quoted(text)] = word.parts.as_slice() {
            return vec![Field::known(text)];
        }
        match braces::expand(word) {
            Some(words) if words.is_empty() => self.fields_of_one(word, Tildes::Argument, context),
            Some(words) => {
                let fields = |word| self.fields_of_one(word, Tildes::Start, context);
                words.iter().flat_map(fields).collect()
            }
            None => {
                self.facts.unparsed = true;
                // A list can have anything at its end, a range of numbers cannot.
                let is_list = |part: &Part| matches!(part, Part::Plain(text) if text.contains(','));
                self.facts.over_limit |= word.parts.iter().any(is_list);
                let mut fields = self.fields_of_one(word, Tildes::Argument, context);
                for field in &mut fields {
                    field.is_certain = false;
                }
                fields
            }
        }
    }

    /// Returns the text that a word expands to where it is not split: in redirections, tests and `case`.
    pub(crate) fn single(&mut self, word: &Word, context: &Context) -> Field {
        self.unsplit(&word.parts, Tildes::Argument, context)
    }

    /// Returns the value that an assignment gives to a variable.
    pub(crate) fn value(&mut self, word: &Word, context: &Context) -> Field {
        self.unsplit(&word.parts, Tildes::Value, context)
    }

    /// Returns the text of a here-document, of arithmetic, or of a part of `${…}`.
    pub(crate) fn text_of(&mut self, parts: &[Part], context: &Context) -> Field {
        self.unsplit(parts, Tildes::Start, context)
    }

    fn unsplit(&mut self, parts: &[Part], tildes: Tildes, context: &Context) -> Field {
        let mut text = Field::default();
        for piece in self.pieces(parts, tildes, context) {
            match piece {
                Piece::Text(field) | Piece::Split(field) => text.push(&field),
                Piece::Fields(fields) => text.push(&Field::join(&fields, " ")),
            }
        }
        text
    }

    fn fields_of_one(&mut self, word: &Word, tildes: Tildes, context: &Context) -> Vec<Field> {
        let pieces = self.pieces(&word.parts, tildes, context);
        let mut fields = Vec::new();
        let mut open: Option<Field> = None;
        for piece in pieces {
            match piece {
                Piece::Text(text) => open.get_or_insert_default().push(&text),
                Piece::Split(text) => split(&text, &self.separators(), &mut open, &mut fields),
                Piece::Fields(all) => {
                    for (index, field) in all.into_iter().enumerate() {
                        if index > 0 {
                            fields.extend(open.take());
                        }
                        open.get_or_insert_default().push(&field);
                    }
                }
            }
        }
        fields.extend(open);
        fields
    }

    /// Returns the characters at which the results of expansions are split.
    pub(crate) fn separators(&self) -> String {
        match self.scope.get("IFS") {
            Some(Some(separators)) if separators.is_certain => separators.text.clone(),
            _ => " \t\n".to_owned(),
        }
    }

    fn pieces(&mut self, parts: &[Part], tildes: Tildes, context: &Context) -> Vec<Piece> {
        let tildes = tilde::places(parts, tildes);
        let mut pieces = Vec::with_capacity(parts.len());
        for (index, part) in parts.iter().enumerate() {
            let piece = match part {
                // What `xargs` or `find` puts there is not known.
                Part::Plain(text) if context.is_reparsed && text.contains("{}") => {
                    Piece::Text(Field::unknown(text))
                }
                Part::Plain(text) => {
                    let here = tildes.iter().filter(|(part, _)| *part == index);
                    let offsets: Vec<usize> = here.map(|(_, offset)| *offset).collect();
                    Piece::Text(self.with_tildes(text, &offsets, index + 1 == parts.len()))
                }
                Part::Quoted(text) => Piece::Text(Field::known(text)),
                Part::Parameter(parameter) => self.parameter(parameter, context),
                Part::Command(substitution) => {
                    let field = self.substitution(substitution, context);
                    if substitution.is_quoted { Piece::Text(field) } else { Piece::Split(field) }
                }
                Part::Process { list, raw, is_output } => {
                    Piece::Text(self.process(list, raw, *is_output, context))
                }
                Part::Arithmetic { raw, parts } => {
                    Piece::Text(self.arithmetic(raw, parts, context))
                }
                Part::Array(words) => {
                    let fields = words.iter().flat_map(|word| self.fields(word, context)).collect();
                    self.array_arguments.push(fields);
                    Piece::Text(Field::unknown("()"))
                }
            };
            let length = match &piece {
                Piece::Text(field) | Piece::Split(field) => field.text.len(),
                Piece::Fields(fields) => fields.iter().map(|field| field.text.len()).sum(),
            };
            if !self.expand_by(length) {
                return pieces;
            }
            pieces.push(piece);
        }
        pieces
    }

    /// Returns the output of `$(…)`.
    fn substitution(&mut self, substitution: &Substitution, context: &Context) -> Field {
        if context.is_reparsed
            && let Some(sources) = self.unknown_outputs.get(&substitution.raw)
        {
            return Field { sources: sources.clone(), ..Field::unknown(&substitution.raw) };
        }
        let outcome = match &*substitution.script {
            SubstitutionBody::Inline(list) => self.subshell(list, "substitution", context),
            SubstitutionBody::Own(script) => {
                let heredocs = script.heredocs.clone();
                let context = context.clone().with_heredocs(heredocs);
                self.subshell(&script.commands, "substitution", &context)
            }
        };
        let sources: Vec<FlowSource> =
            outcome.commands.iter().map(|index| FlowSource::Command(*index)).collect();
        match outcome.text {
            Some(text) if text.text.len() <= MAX_VALUE && !text.is_partial => {
                let trimmed = text.text.trim_end_matches('\n').to_owned();
                let is_glob = !substitution.is_quoted && has_glob(&trimmed);
                Field { text: trimmed, is_glob, ..text }
            }
            _ => {
                self.unknown_outputs.insert(substitution.raw.clone(), sources.clone());
                Field { sources, ..Field::unknown(&substitution.raw) }
            }
        }
    }

    /// Reads `<(…)` and `>(…)`: a file whose data comes from, or goes to, the commands.
    fn process(&mut self, list: &List, raw: &str, is_output: bool, context: &Context) -> Field {
        let outcome = self.subshell(list, "process", context);
        let mut sources: Vec<FlowSource> =
            outcome.commands.iter().map(|index| FlowSource::Command(*index)).collect();
        if is_output {
            sources.clear();
            self.process_outputs.push((raw.to_owned(), outcome.commands));
        }
        let file = Field { sources, is_process: true, ..Field::known(raw) };
        if !is_output {
            self.keep_process(&file, outcome.text);
        }
        file
    }

    /// Reads commands in a subshell of their own.
    pub(crate) fn subshell(&mut self, list: &List, via: &str, context: &Context) -> NodeResult {
        let Some(inner) = context.inside(via) else {
            self.reach_limit();
            return NodeResult::default();
        };
        self.scope.open();
        let outcome = self.list(list, &inner);
        self.scope.close(Keep::Nothing);
        outcome
    }

    fn arithmetic(&mut self, raw: &str, parts: &[Part], context: &Context) -> Field {
        let inner = self.text_of(parts, context);
        self.evaluated(&inner, context);
        match inner.is_certain.then(|| inner.text.trim().parse::<i64>().ok()).flatten() {
            Some(number) => Field::known(number.to_string()),
            None => Field::unknown(raw),
        }
    }
}

/// Returns a field that is text without quotes. `!(a)` stands for almost as much as `*`.
fn plain(text: &str) -> Field {
    if let Some((before, rest)) = text.split_once("!(")
        && let Some((_, after)) = rest.rsplit_once(')')
    {
        return Field { is_glob: true, ..Field::known(format!("{before}*{after}")) };
    }
    Field { is_glob: has_glob(text), ..Field::known(text) }
}

/// Checks whether a text without quotes is a pattern.
pub(crate) fn has_glob(text: &str) -> bool {
    text.contains(['*', '?']) || text.find('[').is_some_and(|at| text[at..].contains(']'))
}

/// Splits the result of an expansion at these characters.
fn split(text: &Field, separators: &str, open: &mut Option<Field>, fields: &mut Vec<Field>) {
    if !text.is_certain {
        open.get_or_insert_default().push(text);
        return;
    }
    for (index, part) in text.text.split(|c| separators.contains(c)).enumerate() {
        if index > 0 {
            fields.extend(open.take());
        }
        if !part.is_empty() {
            let field = Field { is_glob: has_glob(part), ..text.with_text(part) };
            open.get_or_insert_default().push(&field);
        }
    }
}
