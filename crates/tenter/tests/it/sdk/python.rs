//! The generated part of the Python SDK.

use std::fmt::Write as _;

use tenter_protocol::lifecycle::TABLE;

use super::types::{Field, Record, Records, Type, executable_spelling, pascal, spellings};
use super::wrap;

/// Names of fields that a class cannot have.
const KEYWORDS: [&str; 3] = ["as", "from", "with"];

/// Hooks run more often than they are checked: the types are not loaded then.
const TYPES: &str = r#"
if TYPE_CHECKING:
    from tenter_hook_types import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        if name[:1].isupper():
            return dict
        raise AttributeError(f"module 'tenter_hook' has no attribute {name!r}")
"#;

pub(super) fn generated() -> String {
    events() + TYPES + &methods()
}

/// Returns the types, which only type checkers and editors read.
pub(super) fn types(records: &Records) -> String {
    records.all.iter().map(class).collect::<String>() + "\n"
}

fn events() -> String {
    let mut text =
        "\n#: Every spelling of an event, with its name.\nEVENTS: Dict[str, str] = {\n".to_owned();
    for (spelling, name) in spellings() {
        let _ = writeln!(text, "    \"{spelling}\": \"{name}\",");
    }
    text += "}\n#: What an executable hook prints for an event.\nEXECUTABLE_EVENTS: Dict[str, str] = {\n";
    for row in &TABLE {
        if let Some(spelling) = executable_spelling(row) {
            let _ = writeln!(text, "    \"{}\": \"{spelling}\",", row.name);
        }
    }
    text + "}\n"
}

fn class(Record { name, about, base, fields }: &Record) -> String {
    if fields.iter().any(|field| KEYWORDS.contains(&field.name.as_str())) {
        return functional(name, about, fields);
    }
    let base = base.unwrap_or("TypedDict");
    let docstring = wrap(about).join("\n    ");
    let mut text = format!("\n\nclass {name}({base}):\n    \"\"\"{docstring}\"\"\"\n");
    for field in fields {
        text += &comment("    ", &field.about);
        let _ = writeln!(text, "    {}: {}", field.name, field_kind(field));
    }
    text
}

/// Returns the type of a field, which says if it may be missing.
fn field_kind(field: &Field) -> String {
    let kind = kind(&field.kind);
    if field.is_required { kind } else { format!("NotRequired[{kind}]") }
}

/// Returns a record with a field that is a keyword.
fn functional(name: &str, about: &str, fields: &[Field]) -> String {
    let mut text =
        format!("\n\n{}{name} = TypedDict(\n    \"{name}\",\n    {{\n", comment("", about));
    for field in fields {
        text += &comment("        ", &field.about);
        let _ = writeln!(text, "        \"{}\": {},", field.name, field_kind(field));
    }
    text + "    },\n)\n"
}

fn comment(indent: &str, about: &str) -> String {
    let lines = wrap(about).into_iter().map(|line| format!("{indent}# {line}\n"));
    lines.collect::<Vec<_>>().concat()
}

fn kind(of: &Type) -> String {
    match of {
        Type::Any => "Any".to_owned(),
        Type::Text => "str".to_owned(),
        Type::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            format!("Literal[{}]", words.join(", "))
        }
        Type::Integer => "int".to_owned(),
        Type::Number => "float".to_owned(),
        Type::Boolean => "bool".to_owned(),
        Type::Null => "None".to_owned(),
        Type::Map(values) => format!("Dict[str, {}]", kind(values)),
        Type::List(items) => format!("List[{}]", kind(items)),
        Type::Named(name) => name.clone(),
        Type::AnyOf(kinds) => {
            format!("Union[{}]", kinds.iter().map(kind).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns a method for each event, which registers a function.
fn methods() -> String {
    let mut text = "\n\nclass _Events:\n    def _on(self, event: str, handler: R) -> R:\n        raise NotImplementedError\n".to_owned();
    for row in &TABLE {
        let name = pascal(row.name);
        let of = format!("Handler[{name}Payload, {name}Reply]");
        let _ = write!(
            text,
            "\n    def {}(self, handler: {of}) -> {of}:\n        \"\"\"Registers the function for {}.\"\"\"\n        return self._on(\"{0}\", handler)\n",
            row.name,
            format_args!("`{}`, which fires {}", row.name, row.fires),
        );
    }
    text + "\n\n"
}
