//! The generated parts of the JavaScript SDK: the table of events, and the types.

use std::fmt::Write as _;

use tenter_protocol::lifecycle::TABLE;

use super::types::{Record, Records, Type, executable_spelling, pascal, spellings};
use super::wrap;

/// Returns the name in camel case: `before_tool` → `beforeTool`.
fn camel(name: &str) -> String {
    let name = pascal(name);
    let (first, rest) = name.split_at(1);
    first.to_lowercase() + rest
}

pub(super) fn events() -> String {
    let mut text =
        "\n/** Every spelling of an event, with its name. */\nexport const EVENTS = {\n".to_owned();
    for (spelling, name) in spellings() {
        let _ = writeln!(text, "  \"{spelling}\": \"{name}\",");
    }
    text += "};\n/** What an executable hook prints for an event. */\nexport const EXECUTABLE_EVENTS = {\n";
    for row in &TABLE {
        if let Some(spelling) = executable_spelling(row) {
            let _ = writeln!(text, "  {}: \"{spelling}\",", row.name);
        }
    }
    text += "};\n/** The method of `Hook` for an event. */\nconst METHODS = {\n";
    for row in &TABLE {
        let _ = writeln!(text, "  {}: \"{}\",", row.name, camel(row.name));
    }
    text + "};\n\n"
}

pub(super) fn types(records: &Records) -> String {
    let mut text = "\n/** Every spelling of an event, with its name. */\nexport const EVENTS: Record<string, string>;\n/** What an executable hook prints for an event. */\nexport const EXECUTABLE_EVENTS: Record<string, string>;\n".to_owned();
    for record in &records.all {
        text += &interface(record);
    }
    text += "\n/** A method for each event, which registers a function. */\nexport interface Events {\n";
    for row in &TABLE {
        let (name, method) = (pascal(row.name), camel(row.name));
        let _ = write!(
            text,
            "  /** Registers the function for `{}`, which fires {}. */\n  {method}(handler: Handler<{name}Payload, {name}Reply>): this;\n",
            row.name, row.fires
        );
    }
    text + "}\n\n"
}

fn interface(Record { name, about, base, fields }: &Record) -> String {
    // `Message` is the type of messages in general.
    let extends = base.map(|base| format!(" extends {base}")).unwrap_or_default();
    let mut text = format!("\n{}export interface {name}{extends} {{\n", comment("", about));
    for field in fields {
        text += &comment("  ", &field.about);
        let mark = if field.is_required { "" } else { "?" };
        let _ = writeln!(text, "  {}{mark}: {};", field.name, kind(&field.kind));
    }
    text + "}\n"
}

fn comment(indent: &str, about: &str) -> String {
    match wrap(about).as_slice() {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let lines = lines.iter().map(|line| format!("{indent} * {line}\n"));
            format!("{indent}/**\n{}{indent} */\n", lines.collect::<Vec<_>>().concat())
        }
    }
}

fn kind(of: &Type) -> String {
    match of {
        Type::Any => "any".to_owned(),
        Type::Text => "string".to_owned(),
        Type::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            words.join(" | ")
        }
        Type::Integer | Type::Number => "number".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Map(values) => format!("Record<string, {}>", kind(values)),
        Type::List(items) => format!("Array<{}>", kind(items)),
        Type::Named(name) => name.clone(),
        Type::AnyOf(kinds) => kinds.iter().map(kind).collect::<Vec<_>>().join(" | "),
    }
}
