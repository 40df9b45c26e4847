//! Settings in a JSON file: what switches hooks off, and what makes a host ignore the file.

use jsonc_parser::ast::{Object, Value as AstValue};
use serde::de::IgnoredAny;
use tenter_protocol::Diagnostic;

use super::document::Document;
use crate::host::Reads;

pub(super) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The byte order mark of a text, which may be empty, and the rest.
pub(super) fn without_mark(text: &str) -> (&str, &str) {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(body) => (BYTE_ORDER_MARK, body),
        None => ("", text),
    }
}

/// The outermost object; `None` if the text is empty.
pub(super) fn root<'d, 't>(
    document: &'d Document<'t>,
) -> Result<Option<&'d Object<'t>>, Diagnostic> {
    let Some(root) = &document.root else { return Ok(None) };
    let error = || document.unexpected(root, "the file is not a JSON object".to_owned());
    root.as_object().ok_or_else(error).map(Some)
}

/// The value of a setting that is true or false, and its line, from 1.
pub(in super::super) fn switch(
    text: &str,
    keys: &[&str],
) -> Result<Option<(bool, usize)>, Diagnostic> {
    let document = Document::parse(without_mark(text).1)?;
    let Some(mut object) = root(&document)? else { return Ok(None) };
    let Some((last, path)) = keys.split_last() else { return Ok(None) };
    for key in path {
        let Some(inner) = object.get_object(key) else { return Ok(None) };
        object = inner;
    }
    let Some(member) = object.get(last) else { return Ok(None) };
    let line = line(document.text, member.range.start);
    Ok(member.value.as_boolean_lit().map(|value| (value.value, line)))
}

/// Why a host ignores a file with this text: what the host does not read, and line and column of it, from 1.
pub(in super::super) fn ignored(text: &str, reads: Reads) -> Option<(&'static str, usize, usize)> {
    let keys = match reads {
        Reads::Comments => return None,
        Reads::PlainJson => None,
        Reads::StrictJson(keys) => Some(keys),
    };
    let (mark, body) = without_mark(text);
    if keys.is_some() && !mark.is_empty() {
        return Some(("no byte order mark", 1, 1));
    }
    if body.trim().is_empty() {
        return None;
    }
    if let Err(error) = serde_json::from_str::<IgnoredAny>(body) {
        return Some(("no comments and no trailing commas", error.line(), error.column()));
    }
    let document = Document::parse(body).ok()?;
    let root = document.root.as_ref().and_then(AstValue::as_object)?;
    let is_unknown = |name: &str| keys.is_some_and(|keys| !keys.contains(&name));
    let unknown = root.properties.iter().find(|member| is_unknown(member.name.as_str()))?;
    let start = unknown.range.start;
    let column = body[..start].rfind('\n').map_or(start, |end| start - end - 1) + 1;
    Some(("no keys of other programs", line(body, start), column))
}

fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}
