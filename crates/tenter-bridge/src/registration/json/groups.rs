//! The format of Claude Code's settings: `{"hooks": {EVENT: [{"matcher": …, "hooks": [HANDLER]}]}}`.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, Value as AstValue};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter_protocol::Diagnostic;

use super::document::{Container, Document};
use super::edit;

/// The key of the events, and of the handlers of a group.
const HOOKS: &str = "hooks";
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// What an installation created besides its handlers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Created {
    /// The outermost object.
    pub(in super::super) root: bool,
    /// The object of the events.
    pub(in super::super) hooks: bool,
    /// The arrays of these events.
    pub(in super::super) events: Vec<String>,
}

/// A text after an installation.
#[derive(Debug)]
pub(in super::super) struct Installed {
    /// The text.
    pub(in super::super) text: String,
    /// Start and end of everything that was inserted, in bytes.
    pub(in super::super) inserted: Vec<(usize, usize)>,
    /// What was created.
    pub(in super::super) created: Created,
}

/// A handler in a settings file.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct Handler {
    /// The native event.
    pub(in super::super) event: String,
    /// The handler itself.
    pub(in super::super) value: Value,
    /// Whether it runs at every event: its group has no matcher.
    pub(in super::super) is_unconditional: bool,
}

/// Where a handler is: its event, its group, and itself, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position {
    event: usize,
    group: usize,
    handler: usize,
}

/// A setting that switches hooks off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Silencer {
    /// The key.
    pub(in super::super) key: &'static str,
    /// The line in the file, from 1.
    pub(in super::super) line: usize,
}

/// Returns the handlers in `text` that `is_ours` accepts, in order.
pub(in super::super) fn find(
    text: &str,
    is_ours: impl Fn(&Value) -> bool,
) -> Result<Vec<Handler>, Diagnostic> {
    let document = Document::parse(text.trim_start_matches(BYTE_ORDER_MARK))?;
    let Some(hooks) = hooks(&document)? else { return Ok(Vec::new()) };
    Ok(handlers(&document, hooks, is_ours).into_iter().map(|(_, handler)| handler).collect())
}

/// Appends a group with each of these handlers to its event.
pub(in super::super) fn install(
    text: &str,
    handlers: &[(&'static str, Value)],
) -> Result<Installed, Diagnostic> {
    let (mark, body) = without_mark(text);
    let document = Document::parse(body)?;
    let (insertions, created) = insertions(&document, handlers)?;
    let (after, ranges) = edit::insert(body, insertions);
    let inserted = ranges.iter().map(|range| (range.start + mark.len(), range.end + mark.len()));
    Ok(Installed { text: format!("{mark}{after}"), inserted: inserted.collect(), created })
}

/// Removes the handlers that `is_ours` accepts, with groups, arrays and objects that are empty then and that the installation created.
pub(in super::super) fn remove(
    text: &str,
    is_ours: impl Fn(&Value) -> bool,
    created: &Created,
) -> Result<String, Diagnostic> {
    let (mark, body) = without_mark(text);
    let document = Document::parse(body)?;
    let Some(hooks) = hooks(&document)? else { return Ok(text.to_owned()) };
    let ours = handlers(&document, hooks, is_ours);
    let ours: Vec<Position> = ours.into_iter().map(|(position, _)| position).collect();
    if ours.is_empty() {
        return Ok(text.to_owned());
    }
    let mut cuts = Vec::new();
    let mut empty_events = Vec::new();
    for (index, (name, groups)) in events(hooks).enumerate() {
        let Some(groups) = groups else { continue };
        let of_event = cuts_in_event(&document, groups, index, &ours);
        let is_empty = of_event == [Container::from(groups).inner];
        if is_empty && created.events.iter().any(|created| created == name) {
            empty_events.push(index);
        } else {
            cuts.extend(of_event);
        }
    }
    let container = Container::from(hooks);
    let of_events = edit::cuts(&document, &container, &empty_events);
    let is_empty = created.hooks && of_events == [container.inner];
    match document.root.as_ref().and_then(AstValue::as_object) {
        Some(root) if is_empty => cuts = cuts_in_root(&document, root, created),
        _ => cuts.extend(of_events),
    }
    Ok(format!("{mark}{}", edit::cut(body, cuts)))
}

/// Returns the settings among `keys` that are true.
pub(in super::super) fn silencers(
    text: &str,
    keys: &[&'static str],
) -> Result<Vec<Silencer>, Diagnostic> {
    let document = Document::parse(text.trim_start_matches(BYTE_ORDER_MARK))?;
    let Some(root) = root(&document)? else { return Ok(Vec::new()) };
    let line = |at: usize| document.text[..at].matches('\n').count() + 1;
    let silencer = |key: &&'static str| {
        let member = root.get(key)?;
        let is_true = member.value.as_boolean_lit().is_some_and(|value| value.value);
        is_true.then(|| Silencer { key, line: line(member.range.start) })
    };
    Ok(keys.iter().filter_map(silencer).collect())
}

/// Where `text` stops to be JSON without comments and trailing commas: line and column, from 1.
pub(in super::super) fn not_plain(text: &str) -> Option<(usize, usize)> {
    let (_, body) = without_mark(text);
    let parsed: Result<serde::de::IgnoredAny, _> = serde_json::from_str(body);
    parsed.err().filter(|_| !body.trim().is_empty()).map(|error| (error.line(), error.column()))
}

fn without_mark(text: &str) -> (&str, &str) {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(body) => (BYTE_ORDER_MARK, body),
        None => ("", text),
    }
}

/// The outermost object; `None` if the text is empty.
fn root<'d, 't>(document: &'d Document<'t>) -> Result<Option<&'d Object<'t>>, Diagnostic> {
    let Some(root) = &document.root else { return Ok(None) };
    let error = || document.unexpected(root, "the file is not a JSON object".to_owned());
    root.as_object().ok_or_else(error).map(Some)
}

/// The object of the events.
fn hooks<'d, 't>(document: &'d Document<'t>) -> Result<Option<&'d Object<'t>>, Diagnostic> {
    let Some(root) = root(document)? else { return Ok(None) };
    let Some((_, member)) = document.member(root, HOOKS)? else { return Ok(None) };
    let error = || document.unexpected(&member.value, format!("{HOOKS:?} is not an object"));
    member.value.as_object().ok_or_else(error).map(Some)
}

/// The events with their groups; `None` instead of groups that are not an array.
fn events<'d, 't>(hooks: &'d Object<'t>) -> impl Iterator<Item = (&'d str, Option<&'d Array<'t>>)> {
    hooks.properties.iter().map(|member| (member.name.as_str(), member.value.as_array()))
}

/// The handlers of a group.
fn handlers_of<'d, 't>(group: &'d AstValue<'t>) -> Option<&'d Array<'t>> {
    group.as_object()?.get_array(HOOKS)
}

fn handlers(
    document: &Document,
    hooks: &Object,
    is_ours: impl Fn(&Value) -> bool,
) -> Vec<(Position, Handler)> {
    let mut found = Vec::new();
    for (event, (name, groups)) in events(hooks).enumerate() {
        let groups = groups.map_or(&[][..], |groups| &groups.elements);
        for (group, value) in groups.iter().enumerate() {
            let is_unconditional =
                value.as_object().is_some_and(|group| group.get("matcher").is_none());
            let of_group = handlers_of(value).map_or(&[][..], |handlers| &handlers.elements);
            for (handler, value) in of_group.iter().enumerate() {
                let value = document.json(value);
                if is_ours(&value) {
                    let event_name = name.to_owned();
                    let position = Position { event, group, handler };
                    found.push((position, Handler { event: event_name, value, is_unconditional }));
                }
            }
        }
    }
    found
}

/// Everything to cut in an event: our handlers, and groups that have no others.
fn cuts_in_event(
    document: &Document,
    groups: &Array,
    event: usize,
    ours: &[Position],
) -> Vec<Range<usize>> {
    let (mut empty, mut cuts) = (Vec::new(), Vec::new());
    for (group, value) in groups.elements.iter().enumerate() {
        let Some(handlers) = handlers_of(value) else { continue };
        let is_here = |one: &&Position| (one.event, one.group) == (event, group);
        let gone: Vec<usize> = ours.iter().filter(is_here).map(|one| one.handler).collect();
        if !gone.is_empty() && gone.len() == handlers.elements.len() {
            empty.push(group);
        } else {
            cuts.extend(edit::cuts(document, &Container::from(handlers), &gone));
        }
    }
    cuts.extend(edit::cuts(document, &Container::from(groups), &empty));
    cuts
}

/// Everything to cut to remove the object of the events, and the outermost object if it was created and is empty then.
fn cuts_in_root(document: &Document, root: &Object, created: &Created) -> Vec<Range<usize>> {
    let container = Container::from(root);
    let index = root.properties.iter().position(|member| member.name.as_str() == HOOKS);
    let cuts = edit::cuts(document, &container, &Vec::from_iter(index));
    if !created.root || cuts != [container.inner] {
        return cuts;
    }
    let rest = &document.text[root.range.end..];
    let line_end = rest.len() - rest.trim_start_matches(['\r', '\n']).len();
    let everything = root.range.start..root.range.end + line_end;
    vec![everything]
}

fn insertions(
    document: &Document,
    handlers: &[(&'static str, Value)],
) -> Result<(Vec<edit::Insertion>, Created), Diagnostic> {
    let mut created = Created::default();
    let Some(root) = root(document)? else {
        created = everything(handlers);
        created.root = true;
        return Ok((vec![edit::create(document, &object_with(handlers))], created));
    };
    let Some(hooks) = hooks(document)? else {
        let member = member_with(handlers);
        let insertions = edit::append(document, &Container::from(root), &[member]);
        return Ok((insertions, everything(handlers)));
    };
    let (mut insertions, mut members) = (Vec::new(), Vec::new());
    for (event, handler) in handlers {
        let Some((_, member)) = document.member(hooks, event)? else {
            members.push(event_with(event, handler));
            created.events.push((*event).to_owned());
            continue;
        };
        let error = || document.unexpected(&member.value, format!("{event:?} is not an array"));
        let groups = member.value.as_array().ok_or_else(error)?;
        insertions.extend(edit::append(document, &Container::from(groups), &[group_with(handler)]));
    }
    if !members.is_empty() {
        insertions.extend(edit::append(document, &Container::from(hooks), &members));
    }
    Ok((insertions, created))
}

fn everything(handlers: &[(&'static str, Value)]) -> Created {
    let events = handlers.iter().map(|(event, _)| (*event).to_owned()).collect();
    Created { root: false, hooks: true, events }
}

fn object_with(handlers: &[(&'static str, Value)]) -> String {
    format!("{{\n\t{}\n}}", member_with(handlers).replace('\n', "\n\t"))
}

fn member_with(handlers: &[(&'static str, Value)]) -> String {
    let events =
        handlers.iter().map(|(event, handler)| format!("\n\t{}", event_with(event, handler)));
    format!("\"{HOOKS}\": {{{}\n}}", events.collect::<Vec<_>>().join(","))
}

fn event_with(event: &str, handler: &Value) -> String {
    format!("\"{event}\": [{}]", group_with(handler))
}

fn group_with(handler: &Value) -> String {
    format!("{{ \"{HOOKS}\": [{}] }}", on_one_line(handler))
}

/// A value on one line, with spaces as people write them.
fn on_one_line(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| {
                format!("{}: {}", Value::from(key.as_str()), on_one_line(value))
            });
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(on_one_line).collect();
            format!("[{}]", elements.join(", "))
        }
        other => other.to_string(),
    }
}
