//! Handlers in JSON: `{"hooks": {EVENT: [HANDLER]}}`, or in groups: `{"hooks": {EVENT: [{"matcher": …, "hooks": [HANDLER]}]}}`.

use std::ops::Range;
use std::slice;

use jsonc_parser::ast::{Array, Object, Value as AstValue};
use serde_json::Value;
use tenter_protocol::Diagnostic;

use super::super::edit::{self, Insertion};
use super::super::entry::{Created, EventHandler, Handler, Installed};
use super::document::{Container, Document};
use super::layout;
use super::settings::{BYTE_ORDER_MARK, root, without_mark};

/// The key of the events, and of the handlers of a group.
const HOOKS: &str = "hooks";

/// Where handlers are in an event's array.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Shape {
    /// Whether they are in groups.
    pub(in super::super) groups: bool,
    /// Members that the outermost object must have.
    pub(in super::super) root: &'static [(&'static str, u64)],
}

/// Where a handler is: its event, its group, and itself, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position {
    event: usize,
    group: usize,
    handler: usize,
}

/// Returns the handlers in `text` that `is_ours` accepts, in order.
pub(in super::super) fn find(
    text: &str,
    shape: Shape,
    is_ours: impl Fn(&Value) -> bool,
) -> Result<Vec<Handler>, Diagnostic> {
    let document = Document::parse(text.trim_start_matches(BYTE_ORDER_MARK))?;
    let Some(hooks) = hooks(&document)? else { return Ok(Vec::new()) };
    Ok(handlers(&document, shape, hooks, is_ours).into_iter().map(|(_, handler)| handler).collect())
}

/// Appends each of these handlers to its event.
pub(in super::super) fn install(
    text: &str,
    shape: Shape,
    handlers: &[EventHandler],
) -> Result<Installed, Diagnostic> {
    let (mark, body) = without_mark(text);
    let document = Document::parse(body)?;
    let (insertions, created) = insertions(&document, shape, handlers)?;
    let (after, ranges) = edit::insert(body, insertions);
    let inserted = ranges.iter().map(|range| (range.start + mark.len(), range.end + mark.len()));
    Ok(Installed { text: format!("{mark}{after}"), inserted: inserted.collect(), created })
}

/// Removes the handlers that `is_ours` accepts, with groups, arrays and objects that are empty then and that the installation created.
pub(in super::super) fn remove(
    text: &str,
    shape: Shape,
    is_ours: impl Fn(&Value) -> bool,
    created: &Created,
) -> Result<String, Diagnostic> {
    let (mark, body) = without_mark(text);
    let document = Document::parse(body)?;
    let Some(hooks) = hooks(&document)? else { return Ok(text.to_owned()) };
    let ours = handlers(&document, shape, hooks, is_ours);
    let ours: Vec<Position> = ours.into_iter().map(|(position, _)| position).collect();
    if ours.is_empty() {
        return Ok(text.to_owned());
    }
    let mut cuts = Vec::new();
    let mut empty_events = Vec::new();
    for (index, (name, groups)) in events(hooks).enumerate() {
        let Some(groups) = groups else { continue };
        let of_event = cuts_in_event(&document, shape, groups, (index, &ours));
        let is_empty = of_event == [Container::from(groups).inner];
        if is_empty && created.events.iter().any(|created| created == name) {
            empty_events.push(index);
        } else {
            cuts.extend(of_event);
        }
    }
    let container = Container::from(hooks);
    let of_events = layout::cuts(&document, &container, &empty_events);
    let is_empty = created.hooks && of_events == [container.inner];
    match document.root.as_ref().and_then(AstValue::as_object) {
        Some(root) if is_empty => cuts = cuts_in_root(&document, root, created),
        _ => cuts.extend(of_events),
    }
    Ok(format!("{mark}{}", edit::cut(body, cuts)))
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

/// The handlers of an element of an event's array.
fn handlers_of<'d, 't>(shape: Shape, element: &'d AstValue<'t>) -> &'d [AstValue<'t>] {
    if !shape.groups {
        return slice::from_ref(element);
    }
    let handlers = element.as_object().and_then(|group| group.get_array(HOOKS));
    handlers.map_or(&[], |handlers| &handlers.elements)
}

fn handlers(
    document: &Document,
    shape: Shape,
    hooks: &Object,
    is_ours: impl Fn(&Value) -> bool,
) -> Vec<(Position, Handler)> {
    let mut found = Vec::new();
    for (event, (name, groups)) in events(hooks).enumerate() {
        let groups = groups.map_or(&[][..], |groups| &groups.elements);
        for (group, element) in groups.iter().enumerate() {
            let is_unconditional =
                element.as_object().is_some_and(|group| group.get("matcher").is_none());
            for (index, value) in handlers_of(shape, element).iter().enumerate() {
                let value = document.json(value);
                if is_ours(&value) {
                    let position = Position { event, group, handler: index };
                    let event = name.to_owned();
                    found
                        .push((position, Handler { event, group, index, value, is_unconditional }));
                }
            }
        }
    }
    found
}

/// Everything to cut in an event: our handlers, and groups that have no others.
fn cuts_in_event(
    document: &Document,
    shape: Shape,
    groups: &Array,
    (event, ours): (usize, &[Position]),
) -> Vec<Range<usize>> {
    let (mut empty, mut cuts) = (Vec::new(), Vec::new());
    for (group, element) in groups.elements.iter().enumerate() {
        let is_here = |one: &&Position| (one.event, one.group) == (event, group);
        let gone: Vec<usize> = ours.iter().filter(is_here).map(|one| one.handler).collect();
        if gone.is_empty() {
            continue;
        }
        let handlers = element.as_object().and_then(|group| group.get_array(HOOKS));
        match handlers.filter(|_| gone.len() < handlers_of(shape, element).len()) {
            Some(handlers) => {
                cuts.extend(layout::cuts(document, &Container::from(handlers), &gone));
            }
            None => empty.push(group),
        }
    }
    cuts.extend(layout::cuts(document, &Container::from(groups), &empty));
    cuts
}

/// Everything to cut to remove the object of the events, and the outermost object if it was created and is empty then.
fn cuts_in_root(document: &Document, root: &Object, created: &Created) -> Vec<Range<usize>> {
    let container = Container::from(root);
    let is_created = |name: &str| name == HOOKS || created.members.iter().any(|one| one == name);
    let members = root.properties.iter().enumerate();
    let gone = members.filter(|(_, member)| is_created(member.name.as_str()));
    let gone: Vec<usize> = gone.map(|(index, _)| index).collect();
    let cuts = layout::cuts(document, &container, &gone);
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
    shape: Shape,
    handlers: &[EventHandler],
) -> Result<(Vec<Insertion>, Created), Diagnostic> {
    let Some(root) = root(document)? else {
        let created = Created { root: true, ..everything(handlers, shape.root) };
        let mut members = required(shape.root);
        members.push(member_with(shape, handlers));
        return Ok((vec![layout::create(document, &object_with(&members))], created));
    };
    let missing = shape.root.iter().filter(|(name, _)| root.get(name).is_none());
    let missing: Vec<(&str, u64)> = missing.copied().collect();
    let mut in_root = required(&missing);
    let Some(hooks) = hooks(document)? else {
        in_root.push(member_with(shape, handlers));
        let insertions = layout::append(document, &Container::from(root), &in_root);
        return Ok((insertions, everything(handlers, &missing)));
    };
    let mut created = Created { members: names(&missing), ..Created::default() };
    let (mut insertions, mut members) = (Vec::new(), Vec::new());
    for (event, handler) in handlers {
        let Some((_, member)) = document.member(hooks, event)? else {
            members.push(event_with(shape, event, handler));
            created.events.push((*event).to_owned());
            continue;
        };
        let error = || document.unexpected(&member.value, format!("{event:?} is not an array"));
        let groups = member.value.as_array().ok_or_else(error)?;
        let element = element_with(shape, handler);
        insertions.extend(layout::append(document, &Container::from(groups), &[element]));
    }
    for (container, children) in [(hooks, members), (root, in_root)] {
        if !children.is_empty() {
            insertions.extend(layout::append(document, &Container::from(container), &children));
        }
    }
    Ok((insertions, created))
}

fn everything(handlers: &[EventHandler], members: &[(&str, u64)]) -> Created {
    let events = handlers.iter().map(|(event, _)| (*event).to_owned()).collect();
    Created { root: false, hooks: true, events, members: names(members) }
}

fn names(members: &[(&str, u64)]) -> Vec<String> {
    members.iter().map(|(name, _)| (*name).to_owned()).collect()
}

fn required(members: &[(&str, u64)]) -> Vec<String> {
    members.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect()
}

fn object_with(members: &[String]) -> String {
    let members = members.iter().map(|member| format!("\n\t{}", member.replace('\n', "\n\t")));
    format!("{{{}\n}}", members.collect::<Vec<_>>().join(","))
}

fn member_with(shape: Shape, handlers: &[EventHandler]) -> String {
    let events = handlers
        .iter()
        .map(|(event, handler)| format!("\n\t{}", event_with(shape, event, handler)));
    format!("\"{HOOKS}\": {{{}\n}}", events.collect::<Vec<_>>().join(","))
}

fn event_with(shape: Shape, event: &str, handler: &Value) -> String {
    format!("\"{event}\": [{}]", element_with(shape, handler))
}

fn element_with(shape: Shape, handler: &Value) -> String {
    let handler = on_one_line(handler);
    if shape.groups { format!("{{ \"{HOOKS}\": [{handler}] }}") } else { handler }
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
