//! What a template can call: one table, and what each comes to. Nothing here starts anything; `bash`, `and` and `or`, which
//! may leave work undone, are the renderer's.

use std::cmp::Ordering;
use std::sync::Arc;

use tenter_protocol::manifest::front_matter::{listed, nearest};

use super::value::Value;

/// A function.
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
    Split,
}

struct Row {
    name: &'static str,
    function: Function,
    /// How many values it takes.
    least: usize,
    most: usize,
    usage: &'static str,
}

const fn row(
    name: &'static str,
    function: Function,
    (least, most): (usize, usize),
    usage: &'static str,
) -> Row {
    Row { name, function, least, most, usage }
}

const ANY: usize = usize::MAX;

const TABLE: [Row; 15] = [
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
    row("split", Function::Split, (2, 2), "split \",\" .text"),
];

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.function)
    }

    fn row(self) -> &'static Row {
        // The table has every function; a test holds it to that.
        TABLE.iter().find(|row| row.function == self).unwrap_or(&TABLE[0])
    }

    pub(super) fn name(self) -> &'static str {
        self.row().name
    }

    /// What is wrong with a call of it with so many values, and what would be right.
    pub(super) fn misfit(self, values: usize) -> Option<(String, String)> {
        let Row { name, least, most, usage, .. } = self.row();
        let wanted = match (*least, *most) {
            (least, most) if (least..=most).contains(&values) => return None,
            (1, 1) => "one value".to_owned(),
            (1, ANY) => "at least one value".to_owned(),
            (least, ANY) => format!("at least {least} values"),
            (_, most) => format!("{most} values"),
        };
        let message = format!("`{name}` takes {wanted}, not {values}");
        Some((message, format!("write it as in `{{{{{usage}}}}}`")))
    }
}

/// What to write instead of an unknown function's name.
pub(super) fn help(word: &str) -> String {
    let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
    match word {
        "define" | "template" | "block" | "break" | "continue" => {
            format!("`{word}` of Go's templates is not part of recipes")
        }
        "print" | "printf" | "println" => {
            "write what is to be printed side by side: `{{.one}} {{.other}}`".to_owned()
        }
        _ => match nearest(word, &names) {
            Some(known) => {
                format!("did you mean `{known}`? An argument is written `.{word}`, text in quotes")
            }
            None => format!(
                "an argument is written `.{word}`, text in quotes; functions are {}",
                listed(&names)
            ),
        },
    }
}

/// What a function comes to, of values of which none is missing but where it can do without.
///
/// # Errors
/// Why it comes to nothing, as a sentence.
pub(super) fn call(function: Function, values: &[Value], piped: bool) -> Result<Value, String> {
    match (function, values) {
        (Function::Default, [fallback, value]) if piped => Ok(or_else(value, fallback)),
        (Function::Default, [value, fallback]) => Ok(or_else(value, fallback)),
        (Function::Not, [value]) => Ok(Value::Boolean(!value.holds())),
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
            Ok(Value::Boolean(is_so(function, ordering)))
        }
        (Function::Len, [Value::List(items)]) => Ok(count(items.len())),
        (Function::Len, [value]) => Ok(count(single(function, value)?.chars().count())),
        (Function::Index, [Value::List(items), position]) => item(items, position),
        (Function::Lines, [value]) => {
            let text = single(function, value)?;
            Ok(list(text.lines().filter(|line| !line.trim().is_empty())))
        }
        (Function::Split, [separator, value]) => {
            let separator = single(function, separator)?;
            if separator.is_empty() {
                return Err("`split` needs something to split at, and it is empty".to_owned());
            }
            let text = single(function, value)?;
            let parts = text.split(separator.as_str()).map(str::trim);
            Ok(list(parts.filter(|part| !part.is_empty())))
        }
        (function, values) => {
            let kind = values.first().map_or("nothing", Value::kind);
            Err(format!("`{}` cannot be used with {kind}", function.name()))
        }
    }
}

fn or_else(value: &Value, fallback: &Value) -> Value {
    let is_there = match value {
        Value::Missing(_) => false,
        Value::Text(text) => !text.is_empty(),
        _ => true,
    };
    if is_there { value.clone() } else { fallback.clone() }
}

fn single(function: Function, value: &Value) -> Result<String, String> {
    let name = function.name();
    value
        .as_text()
        .ok_or_else(|| format!("`{name}` takes single values, and this is {}", value.kind()))
}

/// Arguments are text, so what looks like a number is compared as one.
fn compare(one: &str, other: &str) -> Ordering {
    match (one.trim().parse::<i64>(), other.trim().parse::<i64>()) {
        (Ok(one), Ok(other)) => one.cmp(&other),
        _ => one.cmp(other),
    }
}

fn is_so(function: Function, ordering: Ordering) -> bool {
    match function {
        Function::Lt => ordering.is_lt(),
        Function::Le => ordering.is_le(),
        Function::Gt => ordering.is_gt(),
        _ => ordering.is_ge(),
    }
}

fn count(count: usize) -> Value {
    Value::Number(i64::try_from(count).unwrap_or(i64::MAX))
}

fn item(items: &Arc<[Value]>, position: &Value) -> Result<Value, String> {
    let written = single(Function::Index, position)?;
    let found = written.trim().parse::<usize>().ok().and_then(|position| items.get(position));
    found.cloned().ok_or_else(|| {
        format!("the list has no item {written}: it has {}, counted from 0", items.len())
    })
}

fn list<'t>(texts: impl Iterator<Item = &'t str>) -> Value {
    Value::List(texts.map(Value::text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_found_by_its_name_and_back() {
        for row in &TABLE {
            assert_eq!(Function::named(row.name), Some(row.function));
            assert_eq!(row.function.name(), row.name);
        }
        assert_eq!(Function::named("printf"), None);
    }
}
