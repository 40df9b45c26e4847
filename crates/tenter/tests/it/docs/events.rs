//! `docs/events.md` is generated from the tables of the protocol: events, payload fields, reply fields and samples.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde_json::Value;
use tenter_protocol::facts::Facts;
use tenter_protocol::lifecycle::{Lifecycle, ProtocolName, TABLE};
use tenter_protocol::reply_fields::{ReplyField, example, reply_fields};
use tenter_protocol::schema::{HookDocument, PayloadField, RENAMED_FIELDS};
use tenter_protocol::{EventName, executable, json, manifest, sample};

use super::markdown::text_of;

/// Maximum number of characters in a line of JSON.
const WIDTH: usize = 100;

const INTRO: &str = "# Events

A hook runs at an event: when a session starts, before a tool runs, when the agent is about to stop. It reads a *payload* on stdin,
one JSON object, and may print a *reply* on stdout, also one JSON object. Without a reply nothing changes.

There are two kinds of hooks. An [executable hook](executable-hooks.md) is a single file; run as `HOOK hook`, it prints the events
that it subscribes to. A [manifest hook](manifest-hooks.md) is a directory with a `HOOK.md`, whose `trigger` names the event. Both
are in `.agents/hooks`. The two protocols have different names for some events and fields; this page shows them side by side.

- `tenter hooks new NAME --event EVENT` creates a hook that explains its event.
- `tenter hooks test NAME --sample` runs a hook on a payload like the ones below.
- `tenter hooks schema EVENT` prints the JSON Schema of the payload, and with `--reply` that of the reply.
";

const PAYLOADS: &str = "## Payloads

A payload is one line of JSON with a space after each `:` and `,`, in the order of the examples. Later versions may add fields; they
do not remove any. Every payload has these fields:
";

const REPLIES: &str = "## Replies

| The hook ends with | Executable | Manifest |
| --- | --- | --- |
| exit code 0, no output | no effect | no effect |
| exit code 0, one JSON object | the reply | the reply |
| exit code 0, other output | failure | no effect, unless it begins with `{`: failure |
| exit code 2 | failure | a deny, with stderr as the reason |
| another exit code, a signal, a timeout | failure | failure |

After a failure the agent shows a warning and continues. A hook with `metadata.fail: closed` blocks instead, where that is possible.

These are the fields of replies. A field that the event does not have is ignored with a warning.
";

#[test]
#[expect(clippy::disallowed_methods, reason = "TENTER_UPDATE asks the test to update the page")]
fn the_page_of_events_is_up_to_date() {
    let generated = page();
    if env::var_os("TENTER_UPDATE").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/events.md");
        fs::write(path, &generated).unwrap();
    }
    let line = text_of("events.md")
        .lines()
        .zip(generated.lines())
        .position(|(table_line, generated)| table_line != generated);
    assert!(
        text_of("events.md") == generated,
        "docs/events.md is stale (line {line:?}); update it with TENTER_UPDATE=1 cargo test --test it page_of_events"
    );
}

fn page() -> String {
    let mut page = format!("{INTRO}\n{}\n{PAYLOADS}\n{}", all_events(), common_fields());
    page += "\nThe event itself is in `event` (executable) or `event_type` (manifest), in the hook's own spelling.\n";
    let tool = properties(EventName::AfterTool);
    let turn = properties(EventName::AfterTurn);
    let message = &turn["messages"]["items"];
    for (title, intro, object) in [
        ("Agents", "`host`, the agent that fires the event:", &tool["host"]),
        (
            "Subagents",
            "`agent`, a subagent of another agent than Tenter's:",
            &tool["context"]["properties"]["agent"],
        ),
        ("Token counts", "`usage`, at `after_turn` and `before_stop`:", &turn["usage"]),
        ("Messages", "Each entry of `messages`, at `after_turn` and `before_stop`:", message),
        (
            "Blocks",
            "Each entry of a message's `blocks`:",
            &message["properties"]["blocks"]["items"],
        ),
        (
            "Tool results",
            "`tool_output`, at `after_tool` and `after_tool_failure`:",
            &tool["tool_output"],
        ),
        (
            "Commands",
            "Each entry of `commands`, at the tool events, for a shell tool:",
            &tool["commands"]["items"],
        ),
        ("Paths", "Each entry of `paths`, at the tool events:", &tool["paths"]["items"]),
        (
            "Code",
            "Each entry of `code`, at the tool events, for a shell tool:",
            &tool["code"]["items"],
        ),
        (
            "Flows",
            "Each entry of `flows`, at the tool events, for a shell tool:",
            &tool["flows"]["items"],
        ),
    ] {
        let fields = object_fields(&PayloadField::all(object));
        write!(page, "\n### {title}\n\n{intro}\n\n{fields}").unwrap();
    }
    write!(page, "\n{REPLIES}\n{}", all_reply_fields()).unwrap();
    for row in &TABLE {
        page += &section(row);
    }
    page
}

fn all_events() -> String {
    let mut table = "## All events\n\n| Event | Executable | Manifest | Fires | A reply may |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for row in &TABLE {
        let powers: Vec<&str> = row.may.iter().map(|(power, _)| power.as_str()).collect();
        let name = row.name;
        let executable = spellings(row, ProtocolName::Executable);
        let manifest = spellings(row, ProtocolName::Manifest);
        let powers = if powers.is_empty() { "–".to_owned() } else { powers.join(", ") };
        writeln!(
            table,
            "| [{name}](#{name}) | {executable} | {manifest} | {} | {powers} |",
            row.fires
        )
        .unwrap();
    }
    table
}

fn spellings(row: &Lifecycle, protocol: ProtocolName) -> String {
    code(row.spellings(protocol).iter().copied())
}

/// Returns the words as code, or a dash.
fn code<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    if words.is_empty() { "–".to_owned() } else { words.join(", ") }
}

/// Returns the properties of the payload of a manifest hook.
fn properties(event: EventName) -> Value {
    let mut schema = HookDocument::Payload.schema(event, ProtocolName::Manifest).unwrap();
    schema["properties"].take()
}

/// Returns the fields of every payload, except for the event's name. Those in `context` have its name before their own.
fn common_fields() -> String {
    let context = &properties(EventName::SessionStart)["context"];
    let mut manifest = PayloadField::common(ProtocolName::Manifest);
    manifest.retain(|field| field.name != "context" && field.name != "event_type");
    let inner = PayloadField::all(context).into_iter();
    manifest.extend(
        inner.map(|field| PayloadField { name: format!("context.{}", field.name), ..field }),
    );
    let mut executable = PayloadField::common(ProtocolName::Executable);
    executable.retain(|field| field.name != "event");
    named_fields(&executable, &manifest)
}

/// Returns the fields with their names in both protocols: each field of manifest hooks with its counterpart, then the others.
fn named_fields(executable: &[PayloadField], manifest: &[PayloadField]) -> String {
    let mut table =
        "| Executable | Manifest | Type | Meaning |\n| --- | --- | --- | --- |\n".to_owned();
    let mut row = |executable: Option<&PayloadField>, manifest: Option<&PayloadField>| {
        let field = manifest.or(executable).unwrap();
        let name = |field: Option<&PayloadField>| code(field.map(|field| field.name.as_str()));
        let names = format!("{} | {}", name(executable), name(manifest));
        writeln!(table, "| {names} | {} | {} |", field.kind, field.description).unwrap();
    };
    let mut rest: Vec<&PayloadField> = executable.iter().collect();
    for field in manifest {
        let index = rest.iter().position(|other| is_counterpart(other, field));
        row(index.map(|index| rest.remove(index)), Some(field));
    }
    for field in rest {
        row(Some(field), None);
    }
    table
}

/// Returns true if both fields have the same meaning and, apart from renamed fields, the same name.
fn is_counterpart(executable: &PayloadField, manifest: &PayloadField) -> bool {
    let name = manifest.name.trim_start_matches("context.");
    let is_renamed = RENAMED_FIELDS.contains(&(executable.name.as_str(), name));
    (executable.name == name || is_renamed) && executable.description == manifest.description
}

/// Returns the fields of an event that only manifest hooks have, or of an object, whose fields have the same names in both protocols.
fn object_fields(fields: &[PayloadField]) -> String {
    let mut table = "| Name | Type | Meaning |\n| --- | --- | --- |\n".to_owned();
    for field in fields {
        writeln!(table, "| `{}` | {} | {} |", field.name, field.kind, field.description).unwrap();
    }
    table
}

fn all_reply_fields() -> String {
    let mut table =
        "| Executable | Manifest | Type | At | Meaning |\n| --- | --- | --- | --- | --- |\n"
            .to_owned();
    let executables = reply_fields(ProtocolName::Executable);
    let manifests = reply_fields(ProtocolName::Manifest);
    let is_shared =
        |field: &&&ReplyField| manifests.iter().any(|other| std::ptr::eq(*other, **field));
    for field in executables.iter().filter(|field| !is_shared(field)) {
        reply_field(&mut table, field, &format!("`{}`", field.name()), "–");
    }
    for field in manifests {
        let name = format!("`{}`", field.name());
        let is_of_both = executables.iter().any(|other| std::ptr::eq(*other, *field));
        reply_field(&mut table, field, if is_of_both { &name } else { "–" }, &name);
    }
    table
        + "\nA manifest hook may also write names in camel case (`modifiedInput`) and print replies in Claude Code's format.\n"
}

fn reply_field(table: &mut String, field: &ReplyField, executable: &str, manifest: &str) {
    let has_protocol = |row: &&Lifecycle| manifest != "–" || !row.executable.is_empty();
    let events = TABLE.iter().filter(has_protocol).filter(|row| field.applies_at(row.event));
    let events = events.map(|row| row.name);
    let events = if field.power.is_none() { "all events".to_owned() } else { code(events) };
    let (kind, meaning) = (field.kind.name(), field.meaning);
    writeln!(table, "| {executable} | {manifest} | {kind} | {events} | {meaning} |").unwrap();
}

fn section(row: &Lifecycle) -> String {
    let name = row.name;
    let mut text = format!("\n## {name}\n\nFires {}.", row.fires);
    if !row.notes.is_empty() {
        write!(text, " {}", row.notes).unwrap();
    }
    let subscription = subscription(row);
    write!(text, "\n\n{subscription}\n\n### Payload of {name}\n\n").unwrap();
    let fields = PayloadField::own(row.event, ProtocolName::Manifest);
    text += &if row.executable.is_empty() {
        object_fields(&fields)
    } else {
        named_fields(&PayloadField::own(row.event, ProtocolName::Executable), &fields)
    };
    for (title, protocol) in
        [("Executable", ProtocolName::Executable), ("Manifest", ProtocolName::Manifest)]
    {
        if let Some(sample) = sample_payload(row, protocol) {
            let note = format!("<!-- test: sample {name} -->");
            write!(text, "\n{title}:\n\n{note}\n```json\n{sample}\n```\n").unwrap();
        }
    }
    text + &replies(row)
}

/// Returns the subscriptions to the event of hooks of both kinds.
fn subscription(row: &Lifecycle) -> String {
    let trigger = spellings(row, ProtocolName::Manifest).replace(", ", " or ");
    let matcher = if row.matcher { "; a `matcher` selects tool calls" } else { "" };
    if row.executable.is_empty() {
        return format!("Only manifest hooks have this event: `trigger` is {trigger}{matcher}.");
    }
    let names = spellings(row, ProtocolName::Executable).replace(", ", " or ");
    format!("- Executable hooks print {names}.\n- Manifest hooks: `trigger` is {trigger}{matcher}.")
}

fn replies(row: &Lifecycle) -> String {
    let mut text = format!("\n### Reply to {}\n\n", row.name);
    if row.may.is_empty() {
        text += "Nothing can be changed here. A manifest hook may write to the journal with `{\"log\": \"…\"}`.\n";
        return text;
    }
    let protocols: &[ProtocolName] = if row.executable.is_empty() {
        text += "| To | Manifest | Effect |\n| --- | --- | --- |\n";
        &[ProtocolName::Manifest]
    } else {
        text += "| To | Executable | Manifest | Effect |\n| --- | --- | --- | --- |\n";
        &[ProtocolName::Executable, ProtocolName::Manifest]
    };
    for (power, effect) in row.may {
        let examples = protocols.iter().map(|protocol| code(example(*power, *protocol)));
        let examples = examples.collect::<Vec<_>>().join(" | ");
        writeln!(text, "| {} | {examples} | {effect} |", power.as_str()).unwrap();
    }
    text
}

/// Returns the sample of the event as JSON, with only the first of its messages.
fn sample_payload(row: &Lifecycle, protocol: ProtocolName) -> Option<String> {
    let spelling = row.spellings(protocol).first()?;
    let event = sample::event(row.event, "2026-03-01T09:30:00.000Z", Path::new("/home/ada/shop"));
    let facts = Facts::default();
    let line = match protocol {
        ProtocolName::Executable => executable::payload(&event, spelling, &facts)?,
        ProtocolName::Manifest => {
            manifest::payload(&event, spelling, None, &facts, false).to_line()
        }
    };
    let mut payload: Value = serde_json::from_str(&line).unwrap();
    if let Some(messages) = payload.get_mut("messages").and_then(Value::as_array_mut) {
        messages.truncate(1);
    }
    let mut text = String::new();
    pretty(&payload, 0, 0, &mut text);
    Some(text)
}

/// Writes `value` on one line if it is a list of strings or fits behind `width` characters, else one entry a line.
fn pretty(value: &Value, indent: usize, width: usize, text: &mut String) {
    let line = json::to_string(value);
    let is_strings = value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
    if indent > 0 && (is_strings || width + line.chars().count() < WIDTH) {
        *text += &line;
        return;
    }
    let (open, close, entries): (_, _, Vec<(String, &Value)>) = match value {
        Value::Object(object) => {
            let entries = object.iter().map(|(key, value)| (format!("\"{key}\": "), value));
            ('{', '}', entries.collect())
        }
        Value::Array(array) => {
            ('[', ']', array.iter().map(|value| (String::new(), value)).collect())
        }
        _ => {
            *text += &line;
            return;
        }
    };
    text.push(open);
    for (index, (key, value)) in entries.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let start = " ".repeat(indent + 2) + key;
        write!(text, "{comma}\n{start}").unwrap();
        pretty(value, indent + 2, start.chars().count(), text);
    }
    write!(text, "\n{}{close}", " ".repeat(indent)).unwrap();
}
