//! Arguments that are paths (C4), in the words of the tables: `delete operands`, `write -o --output`, `write operands if -i`.

use crate::facts::PathOp;
use crate::field::Field;
use crate::flags::Arguments;
use crate::tables::Program;

/// When a rule of the tables applies: `if -a -b unless -c`, any of the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Condition<'a> {
    any: &'a str,
    none: &'a str,
}

/// A rule of the tables about paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PathRule<'a> {
    pub(crate) op: PathOp,
    arguments: &'a str,
    when: Condition<'a>,
}

impl<'a> Condition<'a> {
    pub(crate) fn parse(text: &'a str) -> Self {
        let (text, none) = text.split_once("unless ").unwrap_or((text, ""));
        let any = text.split_once("if ").map_or("", |(_, any)| any);
        Self { any: any.trim(), none: none.trim() }
    }

    pub(crate) fn holds(self, arguments: &Arguments) -> bool {
        (self.any.is_empty() || arguments.has(self.any)) && !arguments.has(self.none)
    }
}

impl<'a> PathRule<'a> {
    /// Parses a rule. A test parses all rules of the tables.
    pub(crate) fn parse(text: &'a str) -> Self {
        let (op, rest) = text.split_once(' ').unwrap_or((text, ""));
        let end = rest.find(" if ").or_else(|| rest.find(" unless ")).unwrap_or(rest.len());
        let op = match op {
            "read" => PathOp::Read,
            "write" => PathOp::Write,
            "create" => PathOp::Create,
            "move" => PathOp::Move,
            "execute" => PathOp::Execute,
            "link" => PathOp::Link,
            "mode" => PathOp::Mode,
            "list" => PathOp::List,
            // A rule that cannot be read is the one that guards look at.
            _ => PathOp::Delete,
        };
        Self { op, arguments: rest[..end].trim(), when: Condition::parse(&rest[end..]) }
    }

    pub(crate) fn applies(&self, arguments: &Arguments) -> bool {
        self.when.holds(arguments)
    }

    /// The arguments that are the paths.
    pub(crate) fn paths(&self, args: &[Field], arguments: &Arguments) -> Vec<Field> {
        let operands: Vec<&Field> =
            arguments.operands.iter().filter_map(|index| args.get(*index)).collect();
        let cloned = |fields: &[&Field]| fields.iter().map(|field| (*field).clone()).collect();
        match self.arguments {
            "directory" if operands.is_empty() => vec![Field::known(".")],
            "operands" | "directory" => cloned(&operands),
            "first" => cloned(&operands[..operands.len().min(1)]),
            "rest" => cloned(operands.get(1..).unwrap_or_default()),
            "second" => cloned(operands.get(1..2).unwrap_or_default()),
            "after-two" => cloned(operands.get(2..).unwrap_or_default()),
            "last" => cloned(&operands[operands.len().saturating_sub(1)..]),
            "init" => cloned(&operands[..operands.len().saturating_sub(1)]),
            "." => vec![Field::known(".")],
            options if options.starts_with('-') => {
                arguments.values(options).map(|(value, _)| value.clone()).collect()
            }
            // `of=` of `dd of=file`, or a fixed path.
            key if key.ends_with('=') => {
                operands.iter().filter_map(|field| value_of(field, key)).collect()
            }
            path => vec![Field::known(path)],
        }
    }
}

fn value_of(field: &Field, key: &str) -> Option<Field> {
    field.text.strip_prefix(key).map(|value| field.with_text(value))
}

/// Whether a program touches its paths recursively.
pub(crate) fn is_recursive(row: &Program, arguments: &Arguments) -> bool {
    row.recursive == "always" || arguments.has(row.recursive)
}
