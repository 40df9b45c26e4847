//! Parameters: `$name` and `${…}`.

use crate::field::Field;
use crate::limits::MAX_VALUE;
use crate::reader::{Context, Reader};
use crate::syntax::tree::{Parameter, ParameterChange, Part, Word};

use super::Piece;

/// The value of a variable, as far as it is known.
enum VariableValue {
    Value(Field),
    Unset,
    Nothing,
}

impl Reader<'_> {
    pub(super) fn parameter(&mut self, parameter: &Parameter, context: &Context) -> Piece {
        if matches!(parameter.name.as_str(), "@" | "*")
            && matches!(parameter.change, ParameterChange::None)
        {
            return self.all_positional(parameter);
        }
        if let Some(piece) = self.element(parameter) {
            return piece;
        }
        let variable = self.variable(&parameter.name);
        let field = match &parameter.change {
            ParameterChange::None => match variable {
                VariableValue::Value(value) => value,
                VariableValue::Unset => Field::default(),
                VariableValue::Nothing => Field::unknown(&parameter.raw),
            },
            ParameterChange::Default { kind, colon, word } => {
                self.default((*kind, *colon, word), variable, parameter, context)
            }
            ParameterChange::Strip { kind, is_longest, pattern } => {
                let pattern = self.text_of(&pattern.parts, context);
                match variable {
                    VariableValue::Value(value) if value.is_certain && pattern.is_certain => {
                        strip(&value.text, (*kind, *is_longest), &pattern.text).map_or_else(
                            || unknown(parameter, &value),
                            |text| value.with_text(text),
                        )
                    }
                    VariableValue::Value(value) => unknown(parameter, &value),
                    VariableValue::Unset => Field::default(),
                    VariableValue::Nothing => Field::unknown(&parameter.raw),
                }
            }
            ParameterChange::Indirect => self.indirect(variable, parameter),
            ParameterChange::Other(parts) => self.other(parts, variable, parameter, context),
        };
        if parameter.is_quoted { Piece::Text(field) } else { Piece::Split(field) }
    }

    /// Reads `${name[@]}`, `${name[1]}`: elements of an array that is known. `None` for anything else.
    fn element(&self, parameter: &Parameter) -> Option<Piece> {
        let ParameterChange::Other(parts) = &parameter.change else { return None };
        let [Part::Plain(subscript) | Part::Quoted(subscript)] = parts.as_slice() else {
            return None;
        };
        let subscript = subscript.strip_prefix('[')?;
        let subscript = subscript.strip_suffix(']').unwrap_or(subscript);
        if let Some(Some(value)) = self.scope.get(&format!("{}[{subscript}]", parameter.name)) {
            let value = value.clone();
            return Some(if parameter.is_quoted {
                Piece::Text(value)
            } else {
                Piece::Split(value)
            });
        }
        let fields = match self.scope.array(&parameter.name) {
            Some(fields) => fields.to_vec(),
            None => self.single_elements(&parameter.name)?,
        };
        // `${name[@]:1}`.
        if let Some((kind @ ("@" | "*"), start)) = subscript.split_once("]:") {
            let rest = fields.into_iter().skip(start.trim().parse().ok()?).collect();
            return Some(self.join_fields(rest, kind, parameter.is_quoted));
        }
        if matches!(subscript, "@" | "*") {
            return Some(self.join_fields(fields, subscript, parameter.is_quoted));
        }
        let index: usize = match subscript.parse::<isize>().ok()? {
            index if index < 0 => fields.len().checked_sub(index.unsigned_abs())?,
            index => usize::try_from(index).ok()?,
        };
        let field = fields.get(index).cloned().unwrap_or_default();
        Some(if parameter.is_quoted { Piece::Text(field) } else { Piece::Split(field) })
    }

    /// Returns the elements of an array that were set one by one.
    fn single_elements(&self, name: &str) -> Option<Vec<Field>> {
        /// Maximum number of elements.
        const MAX_ELEMENTS: usize = 256;
        let element = |index| self.scope.get(&format!("{name}[{index}]"))?.clone();
        let fields: Vec<Field> = (0..MAX_ELEMENTS).map_while(element).collect();
        (!fields.is_empty()).then_some(fields)
    }

    /// Returns all of several fields: each of them with `@` in quotes, else one text.
    fn join_fields(&self, fields: Vec<Field>, name: &str, is_quoted: bool) -> Piece {
        if is_quoted && name == "@" {
            return Piece::Fields(fields);
        }
        if !is_quoted {
            return Piece::Split(Field::join(
                &fields,
                &self.separators().chars().next().map_or_else(|| " ".to_owned(), String::from),
            ));
        }
        let separator = self.separators().chars().next().map_or_else(String::new, String::from);
        Piece::Text(Field::join(&fields, &separator))
    }

    fn all_positional(&mut self, parameter: &Parameter) -> Piece {
        let Some(fields) = self.scope.positional() else {
            return Piece::Text(Field::unknown(&parameter.raw));
        };
        self.join_fields(fields.to_vec(), &parameter.name, parameter.is_quoted)
    }

    fn variable(&self, name: &str) -> VariableValue {
        if let Some(number) = name.parse::<usize>().ok().filter(|number| *number > 0) {
            return match self.scope.positional() {
                Some(fields) => fields
                    .get(number - 1)
                    .cloned()
                    .map_or(VariableValue::Unset, VariableValue::Value),
                None => VariableValue::Nothing,
            };
        }
        if let Some(fields) = self.scope.array(name) {
            return fields.first().cloned().map_or(VariableValue::Unset, VariableValue::Value);
        }
        match self.scope.get(name) {
            Some(Some(value)) => return VariableValue::Value(value.clone()),
            Some(None) => return VariableValue::Unset,
            None => {}
        }
        let value = match name {
            "HOME" => self.surroundings.home.clone(),
            "PWD" => self.scope.cwd().map(str::to_owned),
            "IFS" => Some(" \t\n".to_owned()),
            _ => self.surroundings.variables.get(name).cloned(),
        };
        value.map_or(VariableValue::Nothing, |value| VariableValue::Value(Field::known(value)))
    }

    /// Reads `${x:-word}` and its relatives.
    fn default(
        &mut self,
        (kind, colon, word): (char, bool, &Word),
        variable: VariableValue,
        parameter: &Parameter,
        context: &Context,
    ) -> Field {
        let word = self.text_of(&word.parts, context);
        let is_null = match &variable {
            VariableValue::Value(value) if !value.is_certain => None,
            VariableValue::Value(value) => Some(colon && value.text.is_empty()),
            VariableValue::Unset => Some(true),
            VariableValue::Nothing => None,
        };
        match (kind, is_null, variable) {
            ('+', Some(true), _) => Field::default(),
            ('?', Some(true), _) => Field::unknown(&parameter.raw),
            ('=', Some(true), _) => {
                self.scope.set(&parameter.name, Some(word.clone()));
                word
            }
            ('+', Some(false), _) | (_, Some(true), _) => word,
            (_, Some(false), VariableValue::Value(value))
            | ('?', None, VariableValue::Value(value)) => value,
            // It is a directory for temporary files in either case.
            ('-' | '=', None, VariableValue::Nothing) if parameter.name == "TMPDIR" => word,
            ('?', ..) => Field::unknown(&parameter.raw),
            _ => {
                if kind == '=' {
                    self.scope.set(&parameter.name, Some(word.clone()));
                }
                Field { is_certain: false, ..word }
            }
        }
    }

    fn indirect(&self, variable: VariableValue, parameter: &Parameter) -> Field {
        match variable {
            VariableValue::Value(name) if name.is_certain => match self.variable(&name.text) {
                VariableValue::Value(value) => value,
                VariableValue::Unset => Field::default(),
                VariableValue::Nothing => Field::unknown(&parameter.raw),
            },
            _ => Field::unknown(&parameter.raw),
        }
    }

    /// Applies changes of case, substrings and replacements to known values.
    fn other(
        &mut self,
        parts: &[Part],
        variable: VariableValue,
        parameter: &Parameter,
        context: &Context,
    ) -> Field {
        let operation = self.text_of(parts, context);
        match variable {
            // As in a prompt, what is in the value is expanded.
            VariableValue::Value(value) if value.is_certain && operation.text == "@P" => {
                let expansion = self.expanded_again(&value, context);
                expansion.unwrap_or_else(|| unknown(parameter, &value))
            }
            VariableValue::Value(value) if value.is_certain && operation.is_certain => {
                let is_length = parameter.raw.starts_with("${#");
                let text = match operation.text.as_str() {
                    "" if is_length => Some(value.text.chars().count().to_string()),
                    operation => changed(&value.text, operation),
                };
                text.filter(|text| text.len() <= MAX_VALUE)
                    .map_or_else(|| unknown(parameter, &value), |text| value.with_text(text))
            }
            VariableValue::Value(value) => unknown(parameter, &value),
            VariableValue::Unset => Field::default(),
            VariableValue::Nothing => Field::unknown(&parameter.raw),
        }
    }
}

/// Returns a value with an unknown change: the sources stay.
fn unknown(parameter: &Parameter, value: &Field) -> Field {
    Field { is_certain: false, ..value.with_text(&parameter.raw) }
}

/// Reads `${x%pattern}` and its relatives, for patterns that are literal but for one `*` at the outer end.
fn strip(value: &str, (kind, is_longest): (char, bool), pattern: &str) -> Option<String> {
    let (literal, has_star) = match kind {
        '%' => pattern.strip_suffix('*').map_or((pattern, false), |literal| (literal, true)),
        _ => pattern.strip_prefix('*').map_or((pattern, false), |literal| (literal, true)),
    };
    if super::has_glob(literal) {
        return None;
    }
    let cut = match (kind, has_star) {
        ('%', false) => value.strip_suffix(literal),
        ('%', true) if is_longest => value.find(literal).map(|at| &value[..at]),
        ('%', true) => value.rfind(literal).map(|at| &value[..at]),
        (_, false) => value.strip_prefix(literal),
        (_, true) if is_longest => value.rfind(literal).map(|at| &value[at + literal.len()..]),
        (_, true) => value.find(literal).map(|at| &value[at + literal.len()..]),
    };
    Some(cut.unwrap_or(value).to_owned())
}

/// Reads `,,`, `^^`, `^`, `,`, `:start:length`, `/from/to`, `//from/to`.
fn changed(value: &str, operation: &str) -> Option<String> {
    match operation {
        ",," | "@L" => return Some(value.to_lowercase()),
        "^^" | "@U" => return Some(value.to_uppercase()),
        "@E" => return Some(crate::escapes::ansi(value).0),
        _ => {}
    }
    if let Some(range) = operation.strip_prefix(':') {
        let (start, length) = range.split_once(':').unwrap_or((range, ""));
        let start: usize = start.trim().parse().ok()?;
        let length = match length.trim() {
            "" => usize::MAX,
            length => length.parse().ok()?,
        };
        return Some(value.chars().skip(start).take(length).collect());
    }
    let (is_all, rest) = match operation.strip_prefix("//") {
        Some(rest) => (true, rest),
        None => (false, operation.strip_prefix('/')?),
    };
    let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
    if from.is_empty()
        || super::has_glob(from)
        || from.starts_with(['#', '%'])
        || from.contains('\\')
    {
        return None;
    }
    let count = if is_all { value.matches(from).take(MAX_VALUE).count() } else { 1 };
    if count.saturating_mul(to.len()) > MAX_VALUE {
        return None;
    }
    Some(if is_all { value.replace(from, to) } else { value.replacen(from, to, 1) })
}
