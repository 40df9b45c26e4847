//! The functions of the template language: a table, and their implementations. `bash`, `and` and `or` are in the renderer, as
//! they run programs or do not evaluate all arguments.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value as Json;
use tenter_base::{nearest, or_list};

use super::Dialect;
use super::value::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    And,
    Bash,
    Default,
    Eq,
    Ge,
    Gt,
    Index,
    Le,
    Len,
    Lines,
    Lt,
    Ne,
    Not,
    Or,
    Percent,
    Split,
}

struct Row {
    name: &'static str,
    function: Function,
    /// Minimum and maximum number of arguments.
    min: usize,
    max: usize,
    usage: &'static str,
}

const fn row(
    name: &'static str,
    function: Function,
    (min, max): (usize, usize),
    usage: &'static str,
) -> Row {
    Row { name, function, min, max, usage }
}

const ANY: usize = usize::MAX;

const TABLE: [Row; 16] = [
    row("and", Function::And, (1, ANY), "and .one .other"),
    row("bash", Function::Bash, (1, ANY), "bash \"program\" \"argument\""),
    row("default", Function::Default, (2, 2), "default .name \"fallback\""),
    row("eq", Function::Eq, (2, ANY), "eq .name \"text\""),
    row("ge", Function::Ge, (2, 2), "ge .number 2"),
    row("gt", Function::Gt, (2, 2), "gt .number 2"),
    row("index", Function::Index, (2, 2), "index . \"name\""),
    row("le", Function::Le, (2, 2), "le .number 2"),
    row("len", Function::Len, (1, 1), "len .name"),
    row("lines", Function::Lines, (1, 1), "lines .text"),
    row("lt", Function::Lt, (2, 2), "lt .number 2"),
    row("ne", Function::Ne, (2, 2), "ne .name \"text\""),
    row("not", Function::Not, (1, 1), "not .name"),
    row("or", Function::Or, (1, ANY), "or .one .other"),
    row("percent", Function::Percent, (2, 2), "percent .part .whole"),
    row("split", Function::Split, (2, 2), "split \",\" .text"),
];

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.function)
    }

    fn row(self) -> &'static Row {
        // The table has every function, which a test checks.
        TABLE.iter().find(|row| row.function == self).unwrap_or(&TABLE[0])
    }

    pub(super) fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the error and the help text if the function cannot take so many values.
    pub(super) fn arity_error(self, values: usize) -> Option<(String, String)> {
        let Row { name, min, max, usage, .. } = self.row();
        let expected = match (*min, *max) {
            (min, max) if (min..=max).contains(&values) => return None,
            (1, 1) => "one value".to_owned(),
            (1, ANY) => "at least one value".to_owned(),
            (min, ANY) => format!("at least {min} values"),
            (_, max) => format!("{max} values"),
        };
        let message = format!("`{name}` takes {expected}, not {values}");
        Some((message, format!("write it as in `{{{{{usage}}}}}`")))
    }
}

/// Returns the help text for an unknown function.
pub(super) fn help(word: &str, dialect: Dialect) -> String {
    let rows =
        TABLE.iter().filter(|row| dialect.starts_programs() || row.function != Function::Bash);
    let names: Vec<&str> = rows.map(|row| row.name).collect();
    let value = dialect.value();
    match word {
        "define" | "template" | "block" | "break" | "continue" => {
            format!("`{word}` is not supported: recipes and hooks use a subset of Go's templates")
        }
        "print" | "printf" | "println" => {
            "write the values next to each other: `{{.one}} {{.other}}`".to_owned()
        }
        _ => match nearest(word, &names) {
            Some(rows) => {
                format!("did you mean `{rows}`? {value} is written `.{word}`, text in quotes")
            }
            None => format!(
                "{value} is written `.{word}`, text in quotes; functions are {}",
                or_list(&names)
            ),
        },
    }
}

/// Calls a function. No value is missing, except for functions that accept missing values.
///
/// # Errors
/// The message of the error.
pub(super) fn call<'v>(
    function: Function,
    values: &[Value<'v>],
    piped: bool,
) -> Result<Value<'v>, String> {
    match (function, values) {
        (Function::Default, [fallback, value]) if piped => Ok(or_else(value, fallback)),
        (Function::Default, [value, fallback]) => Ok(or_else(value, fallback)),
        (Function::Not, [value]) => Ok(Value::Boolean(!value.is_true())),
        (Function::Eq, [first, others @ ..]) => {
            let first = single(function, first)?;
            let mut equal = false;
            for other in others {
                equal |= first == single(function, other)?;
            }
            Ok(Value::Boolean(equal))
        }
        (Function::Ne, [one, other]) => {
            Ok(Value::Boolean(single(function, one)? != single(function, other)?))
        }
        (Function::Lt | Function::Le | Function::Gt | Function::Ge, [one, other]) => {
            let ordering = compare(&single(function, one)?, &single(function, other)?);
            Ok(Value::Boolean(satisfies(function, ordering)))
        }
        (Function::Len, [value]) => length(value),
        (Function::Index, [list, position]) if list.kind() == "a list" => item(list, position),
        (Function::Lines, [value]) => {
            let text = single(function, value)?;
            Ok(list(text.lines().filter(|line| !line.trim().is_empty())))
        }
        (Function::Percent, [part, whole]) => percent(part, whole),
        (Function::Split, [separator, value]) => {
            let separator = single(function, separator)?;
            if separator.is_empty() {
                return Err("the separator of `split` is empty".to_owned());
            }
            let text = single(function, value)?;
            let parts = text.split(separator.as_ref()).map(str::trim);
            Ok(list(parts.filter(|part| !part.is_empty())))
        }
        (function, values) => {
            let kind = values.first().map_or("nothing", Value::kind);
            Err(format!("`{}` cannot be used with {kind}", function.name()))
        }
    }
}

fn or_else<'v>(value: &Value<'v>, fallback: &Value<'v>) -> Value<'v> {
    let is_present = match value {
        Value::Missing(_) | Value::Json(Json::Null) => false,
        Value::Text(text) => !text.is_empty(),
        Value::Json(Json::String(text)) => !text.is_empty(),
        _ => true,
    };
    if is_present { value.clone() } else { fallback.clone() }
}

fn single<'t>(function: Function, value: &'t Value<'_>) -> Result<Cow<'t, str>, String> {
    let name = function.name();
    value.as_text().ok_or_else(|| format!("`{name}` takes single values, not {}", value.kind()))
}

/// Compares texts, as numbers if both look like one: values are often text.
fn compare(one: &str, other: &str) -> Ordering {
    if let (Ok(one), Ok(other)) = (one.trim().parse::<i64>(), other.trim().parse::<i64>()) {
        return one.cmp(&other);
    }
    let by_number = fraction(one).zip(fraction(other));
    let ordering = by_number.and_then(|(one, other)| one.partial_cmp(&other));
    ordering.unwrap_or_else(|| one.cmp(other))
}

/// Parses a number, without `inf` and `nan`, which are words here.
fn fraction(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_word = text.contains(|letter: char| letter.is_alphabetic() && letter != 'e');
    text.parse().ok().filter(|number: &f64| number.is_finite() && !is_word)
}

fn satisfies(function: Function, ordering: Ordering) -> bool {
    match function {
        Function::Lt => ordering.is_lt(),
        Function::Le => ordering.is_le(),
        Function::Gt => ordering.is_gt(),
        _ => ordering.is_ge(),
    }
}

/// Returns the percentage of `part` in `whole`, rounded down; 0 if the whole is 0, which means unknown.
fn percent<'v>(part: &Value<'v>, whole: &Value<'v>) -> Result<Value<'v>, String> {
    let number = |value: &Value| {
        let text = single(Function::Percent, value)?;
        let number = text.trim().parse::<i64>().map_err(|_| "`percent` takes whole numbers");
        Ok::<_, String>(i128::from(number?))
    };
    let (part, whole) = (number(part)?, number(whole)?);
    let hundredths = if whole > 0 { (part * 100).div_euclid(whole) } else { 0 };
    Ok(Value::Number(i64::try_from(hundredths).unwrap_or(i64::MAX)))
}

fn length<'v>(value: &Value<'v>) -> Result<Value<'v>, String> {
    Ok(count(match value {
        Value::List(items) => items.len(),
        Value::Json(Json::Array(items)) => items.len(),
        Value::Json(Json::Object(fields)) => fields.len(),
        value => single(Function::Len, value)?.chars().count(),
    }))
}

fn count<'v>(count: usize) -> Value<'v> {
    Value::Number(i64::try_from(count).unwrap_or(i64::MAX))
}

fn item<'v>(list: &Value<'v>, position: &Value<'v>) -> Result<Value<'v>, String> {
    let word = single(Function::Index, position)?;
    let position = word.trim().parse::<usize>().ok();
    let item = match list {
        Value::List(items) => position.and_then(|position| items.get(position).cloned()),
        Value::Json(Json::Array(items)) => {
            position.and_then(|position| items.get(position)).map(Value::Json)
        }
        _ => None,
    };
    item.ok_or_else(|| {
        format!("the list has no item {word}: it has {}, counted from 0", list.size())
    })
}

fn list<'v, 't>(texts: impl Iterator<Item = &'t str>) -> Value<'v> {
    Value::List(texts.map(Value::text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_one_row() {
        for row in &TABLE {
            assert_eq!(Function::named(row.name), Some(row.function));
            assert_eq!(row.function.name(), row.name);
        }
        assert_eq!(Function::named("printf"), None);
    }
}
