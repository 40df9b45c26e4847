//! Registrations in JSON files that users edit: comments, order, unknown keys and line ends stay as they are (B39).
//!
//! Handlers are in `{"hooks": {EVENT: [HANDLER]}}`, or in groups: `{"hooks": {EVENT: [{"matcher": …, "hooks": [HANDLER]}]}}`.

use std::fmt::Display;
use std::ops::Range;

use jsonc_parser::ast::Value as AstValue;
use jsonc_parser::common::Ranged;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast, parse_to_serde_value};
use serde::de::IgnoredAny;
use serde_json::Value;
use tenter_protocol::Diagnostic;

use super::entry::{Created, EventHandler, Handler, Installed, invalid};
use crate::host::{EntryFormat, EntryLayout, Reads};

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The key of the events, and of the handlers of a group.
const HOOKS: &str = "hooks";

/// Comments and trailing commas are allowed; everything else is as the standard says.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Splits a text into its byte order mark, which may be empty, and the rest.
fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 })
}

/// Returns the value of a text; null if it has only whitespace and comments.
///
/// # Errors
/// It is not JSON; the diagnostic has the position.
pub(crate) fn value(text: &str) -> Result<Value, Diagnostic> {
    let (_, body) = split_mark(text);
    let value: Option<Value> =
        parse_to_serde_value(body, &OPTIONS).map_err(|error| syntax_error(body, &error))?;
    Ok(value.unwrap_or_default())
}

fn syntax_error(body: &str, error: &jsonc_parser::errors::ParseError) -> Diagnostic {
    let message = format!("it is not valid JSON: {}", error.kind());
    let range = error.range().start..error.range().end;
    invalid(body, &range, message).help("fix the file at this position, and run the command again")
}

/// Returns a problem with the value to which `path` leads, by keys and indices, or with the nearest one around it.
pub(crate) fn problem(text: &str, path: &[String], message: String) -> Diagnostic {
    let (_, body) = split_mark(text);
    match range(body, path) {
        Ok(range) => invalid(body, &range, message),
        Err(error) => syntax_error(body, &error),
    }
}

/// Returns the position of the value to which `path` leads, or of the nearest one around it.
fn range(
    body: &str,
    path: &[impl AsRef<str>],
) -> Result<Range<usize>, jsonc_parser::errors::ParseError> {
    let tree = parse_to_ast(body, &CollectOptions::default(), &OPTIONS)?;
    let mut value = tree.value.as_ref();
    let mut range = 0..0;
    let mut steps = path.iter().map(AsRef::as_ref);
    while let Some(inner) = value {
        range = inner.start()..inner.end();
        let Some(step) = steps.next() else { break };
        value = match inner {
            AstValue::Object(object) => {
                let member = object.properties.iter().rfind(|member| member.name.as_str() == step);
                member.map(|member| &member.value)
            }
            AstValue::Array(array) => {
                step.parse().ok().and_then(|index: usize| array.elements.get(index))
            }
            _ => None,
        };
    }
    Ok(range)
}

/// Reads a setting that is true or false. Returns its value and its line, from 1.
pub(super) fn switch(text: &str, keys: &[&str]) -> Result<Option<(bool, usize)>, Diagnostic> {
    let settings = value(text)?;
    let setting = keys.iter().try_fold(&settings, |value, key| value.get(key));
    let Some(value) = setting.and_then(Value::as_bool) else { return Ok(None) };
    let (_, body) = split_mark(text);
    let start = range(body, keys).map_or(0, |range| range.start);
    Ok(Some((value, line(body, start))))
}

/// Returns why a host ignores a file with this text: what the host does not read, with its line and column, from 1.
pub(super) fn ignored(text: &str, reads: Reads) -> Option<(&'static str, usize, usize)> {
    let keys = match reads {
        Reads::Comments => return None,
        Reads::PlainJson => None,
        Reads::StrictJson(keys) => Some(keys),
    };
    let (mark, body) = split_mark(text);
    if keys.is_some() && !mark.is_empty() {
        return Some(("no byte order mark", 1, 1));
    }
    if body.trim().is_empty() {
        return None;
    }
    if let Err(error) = serde_json::from_str::<IgnoredAny>(body) {
        return Some(("no comments and no trailing commas", error.line(), error.column()));
    }
    let tree = parse_to_ast(body, &CollectOptions::default(), &OPTIONS).ok()?;
    let members = &tree.value.as_ref()?.as_object()?.properties;
    let is_unknown = |name: &str| keys.is_some_and(|keys| !keys.contains(&name));
    let start = members.iter().find(|member| is_unknown(member.name.as_str()))?.start();
    let column = body[..start].rfind('\n').map_or(start, |end| start - end - 1) + 1;
    Some(("no keys of other programs", line(body, start), column))
}

/// Checks that no event is there twice.
///
/// # Errors
/// One is, or there is no object with events; the diagnostic has the position.
pub(crate) fn check_events(text: &str) -> Result<(), Diagnostic> {
    let document = JsonDocument::parse(text)?;
    let Some(hooks) = document.hooks()? else { return Ok(()) };
    for event in hooks.properties().iter().filter_map(CstObjectProp::decoded_name) {
        document.member(&hooks, &[HOOKS, &event])?;
    }
    Ok(())
}

/// Returns the line of a position, from 1.
fn line(text: &str, position: usize) -> usize {
    text[..position].matches('\n').count() + 1
}

/// A parsed settings file.
pub(super) struct JsonDocument<'t> {
    mark: &'t str,
    body: &'t str,
    pub(super) root: CstRootNode,
}

impl<'t> JsonDocument<'t> {
    pub(super) fn parse(text: &'t str) -> Result<Self, Diagnostic> {
        let (mark, body) = split_mark(text);
        let root =
            CstRootNode::parse(body, &OPTIONS).map_err(|error| syntax_error(body, &error))?;
        Ok(Self { mark, body, root })
    }

    /// Returns the outermost object; `None` if the text has no value.
    pub(super) fn object(&self) -> Result<Option<CstObject>, Diagnostic> {
        let Some(value) = self.root.value() else { return Ok(None) };
        let error = || self.unexpected(&[], "the file is not a JSON object".to_owned());
        value.as_object().ok_or_else(error).map(Some)
    }

    /// Returns the object of the events.
    fn hooks(&self) -> Result<Option<CstObject>, Diagnostic> {
        let Some(root) = self.object()? else { return Ok(None) };
        let Some(value) = self.member(&root, &[HOOKS])? else { return Ok(None) };
        let error = || self.unexpected(&[HOOKS], format!("{HOOKS:?} is not an object"));
        value.as_object().ok_or_else(error).map(Some)
    }

    /// Returns the array of an event.
    fn groups(&self, hooks: &CstObject, event: &str) -> Result<Option<CstArray>, Diagnostic> {
        let path = [HOOKS, event];
        let Some(value) = self.member(hooks, &path)? else { return Ok(None) };
        let error = || self.unexpected(&path, format!("{event:?} is not an array"));
        value.as_array().ok_or_else(error).map(Some)
    }

    /// Returns the value of the member of `object` to which `path` leads. There must not be two.
    pub(super) fn member(
        &self,
        object: &CstObject,
        path: &[&str],
    ) -> Result<Option<CstNode>, Diagnostic> {
        let name = path.last().copied().unwrap_or_default();
        let members = object.properties().into_iter();
        let mut members = members.filter(|member| member.decoded_name().as_deref() == Some(name));
        let first = members.next();
        if members.next().is_some() {
            return Err(self.unexpected(
                path,
                format!("the key {name:?} is there twice: only the last one counts"),
            ));
        }
        Ok(first.and_then(|member| member.value()))
    }

    /// Returns the error that the value at `path` is not the expected one.
    pub(super) fn unexpected(&self, path: &[&str], message: String) -> Diagnostic {
        let range = range(self.body, path).unwrap_or_default();
        invalid(self.body, &range, message).help("correct the value, and run the command again")
    }

    pub(super) fn text(&self) -> String {
        format!("{}{}", self.mark, self.root)
    }
}

impl EntryFormat {
    fn has_groups(&self) -> bool {
        self.layout == EntryLayout::JsonGroups
    }

    /// Returns the handlers of an element of an event's array.
    fn handlers(&self, element: &CstNode) -> Vec<CstNode> {
        if !self.has_groups() {
            return vec![element.clone()];
        }
        let handlers = element.as_object().and_then(|group| group.array_value(HOOKS));
        handlers.map(|handlers| handlers.elements()).unwrap_or_default()
    }
}

/// Returns the handlers in `text` that `is_ours` accepts, in order.
pub(super) fn find(
    text: &str,
    format: &EntryFormat,
    is_ours: impl Fn(&Value) -> bool,
) -> Result<Vec<Handler>, Diagnostic> {
    let document = JsonDocument::parse(text)?;
    let mut handlers = Vec::new();
    for member in document.hooks()?.map(|hooks| hooks.properties()).unwrap_or_default() {
        let elements = member.array_value().map(|array| array.elements()).unwrap_or_default();
        for (group, element) in elements.iter().enumerate() {
            let object = element.as_object();
            let is_unconditional = object.is_some_and(|group| group.get("matcher").is_none());
            for (index, handler) in format.handlers(element).iter().enumerate() {
                let value = json(handler);
                if is_ours(&value) {
                    let event = member.decoded_name().unwrap_or_default();
                    handlers.push(Handler { event, group, index, value, is_unconditional });
                }
            }
        }
    }
    Ok(handlers)
}

/// Appends each of these handlers to its event.
pub(super) fn install(
    text: &str,
    format: &EntryFormat,
    handlers: &[EventHandler],
) -> Result<Installed, Diagnostic> {
    let document = JsonDocument::parse(text)?;
    let mut structure = Created::default();
    let root = document.object()?.unwrap_or_else(|| {
        structure.root = true;
        document.root.object_value_or_set()
    });
    for (name, value) in format.root {
        if root.get(name).is_none() {
            structure.members.push((*name).to_owned());
            root.append(name, raw(value));
        }
    }
    let hooks = document.hooks()?.unwrap_or_else(|| {
        structure.hooks = true;
        root.object_value_or_set(HOOKS)
    });
    for (event, handler) in handlers {
        let groups = document.groups(&hooks, event)?.unwrap_or_else(|| {
            structure.events.push((*event).to_owned());
            hooks.array_value_or_set(event)
        });
        let handler = on_one_line(handler);
        groups.append(raw(if format.has_groups() {
            format!("{{ \"{HOOKS}\": [{handler}] }}")
        } else {
            handler
        }));
    }
    Ok(Installed { text: document.text(), created: structure })
}

/// Returns a value that is written as this text: what the library formats itself takes several lines for each handler.
pub(super) fn raw(text: impl Display) -> CstInputValue {
    CstInputValue::Number(text.to_string())
}

/// Formats a value on one line: `{ "command": "x", "args": [1, 2] }`.
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

fn json(node: &CstNode) -> Value {
    value(&node.to_string()).unwrap_or_default()
}

/// Removes the handlers that `is_ours` accepts, with the groups that are empty then, and with the arrays and objects that are empty then
/// and that the installation created.
pub(super) fn remove(
    text: &str,
    format: &EntryFormat,
    is_ours: impl Fn(&Value) -> bool,
    structure: &Created,
) -> Result<String, Diagnostic> {
    let document = JsonDocument::parse(text)?;
    let (Some(root), Some(hooks)) = (document.object()?, document.hooks()?) else {
        return Ok(text.to_owned());
    };
    let mut is_changed = false;
    for event in hooks.properties() {
        let Some(groups) = event.array_value() else { continue };
        let mut has_ours = false;
        for element in groups.elements() {
            let (ours, others): (Vec<CstNode>, Vec<CstNode>) =
                format.handlers(&element).into_iter().partition(|handler| is_ours(&json(handler)));
            has_ours |= !ours.is_empty();
            if others.is_empty() && !ours.is_empty() {
                remove_node(&element);
            } else {
                ours.iter().for_each(remove_node);
            }
        }
        is_changed |= has_ours;
        if has_ours && trim_empty(&groups.into()) {
            remove_created(&event, &structure.events);
        }
    }
    if is_changed && trim_empty(&hooks.into()) && structure.hooks {
        let mut names = structure.members.clone();
        names.push(HOOKS.to_owned());
        root.properties().iter().for_each(|member| remove_created(member, &names));
        if trim_empty(&root.clone().into()) && structure.root {
            root.replace_with(raw(""));
        }
    }
    Ok(document.text())
}

/// Removes a member that is one of `names`.
fn remove_created(member: &CstObjectProp, names: &[String]) {
    if member.decoded_name().is_some_and(|name| names.contains(&name)) {
        remove_node(&member.clone().into());
    }
}

/// Removes an element or a member with its comma and the whitespace before it. The comments around it stay, which
/// the library's own `remove` does not ensure.
pub(super) fn remove_node(node: &CstNode) {
    let comma = node.trailing_comma().map(CstNode::from);
    let comma = comma.or_else(|| node.previous_siblings().find(CstNode::is_comma));
    comma.into_iter().for_each(CstNode::remove);
    let rest: String = node.next_siblings().map(|next| next.to_string()).collect();
    let ends_line = rest.trim_start_matches([' ', '\t']).starts_with(['\n', '\r']);
    let text_before = node.previous_siblings().find(|one| !one.to_string().trim().is_empty());
    let follows_line_comment = text_before
        .and_then(|before| before.as_comment())
        .is_some_and(|comment| comment.is_line_comment());
    if ends_line || !follows_line_comment {
        let is_space = |node: &CstNode| node.is_whitespace() || node.is_newline();
        let spaces: Vec<CstNode> = node.previous_siblings().take_while(is_space).collect();
        spaces.into_iter().for_each(CstNode::remove);
    }
    clear(node);
}

/// Empties the text of a node, which stays in the tree.
fn clear(node: &CstNode) {
    if let Some(object) = node.as_object() {
        object.replace_with(raw(""));
        return;
    }
    let Some(member) = node.as_object_prop() else { return };
    member.set_value(raw(""));
    for child in member.children() {
        if let Some(name) = child.as_string_lit() {
            name.set_raw_value(String::new());
        } else if child.is_trivia() || child.is_token() {
            child.remove();
        }
    }
}

/// Removes the whitespace in an object or array without members, elements and comments. Returns whether it is one.
pub(super) fn trim_empty(container: &CstNode) -> bool {
    let text = container.to_string();
    let is_empty = text[1..text.len() - 1].trim().is_empty();
    if is_empty {
        let children = container.children().into_iter();
        children.filter(CstNode::is_trivia).for_each(CstNode::remove);
    }
    is_empty
}
