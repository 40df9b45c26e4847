//! Names in a program, and whether they are calls.

use super::tables::{Call, Effect, NO_OBJECT, is_known_call};
use crate::facts::Language;

/// Functions and classes that make a path of their arguments.
const PATHS: [&str; 6] = ["Path", "expanduser", "homedir", "join", "resolve", "getenv"];

/// Checks whether arguments may follow a name. `eval` needs no brackets, and can be an argument itself: `.then(eval)`.
/// `Dir["a/*"]` lists files, and `unlink glob("a/*")` deletes them.
pub(super) fn may_be_call(language: Language, name: &str, after: &str) -> bool {
    let next = after.trim_start();
    let is_eval = name == "eval" && !next.starts_with(['{', '=', ':']);
    let is_marked = language == Language::Other && next.starts_with("!(");
    let is_list = name == "Dir" && next.starts_with('[');
    let is_nested = ["glob(", "glob ", "Dir", "File.", "qw", "q(", "qq", "*%w"]
        .iter()
        .any(|start| next.starts_with(start));
    let is_open = language == Language::Perl && name == "open";
    // `system $_`, `system decode_base64("…")`.
    let is_run = language == Language::Perl
        && matches!(name, "system" | "exec")
        && (next.starts_with(['$', '@']) || begins_with_call(next));
    is_eval
        || is_open
        || is_run
        || is_marked
        || is_list
        || is_nested
        || next.starts_with(['(', '"', '\''])
}

/// Checks whether a text begins with `name(`.
fn begins_with_call(text: &str) -> bool {
    let name = text.find(|c: char| !c.is_ascii_alphanumeric() && !"_:".contains(c));
    name.is_some_and(|end| end > 0 && text[end..].starts_with('('))
}

/// Returns the new and old names of `from shutil import rmtree as remove` and `import {rmSync as remove} from "fs"`.
pub(super) fn renamed(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // `const {rmSync: remove} = require("fs")`.
    let in_braces = move || text.match_indices(": ").chain(text.match_indices(':'));
    let has_braces = text.contains("require(") && text.contains('{');
    let markers = text.match_indices(" as ");
    let markers = markers.chain(in_braces().take(if has_braces { usize::MAX } else { 0 }));
    markers.filter_map(move |(at, marker)| {
        let before = text[..at].trim_end();
        let old = &before[before.trim_end_matches(is_part).len()..];
        let after = text[at + marker.len()..].trim_start();
        let new = &after[..after.find(|c| !is_part(c)).unwrap_or(after.len())];
        let is_known = PATHS.contains(&old) || is_known_call(old);
        (is_known && !new.is_empty()).then_some((new, old))
    })
}

/// Returns the name of the module for paths: `p = require("path")`, `import p from "node:path"`, `import os.path as p`. It is empty if names are
/// imported from it.
pub(super) fn path_module(text: &str) -> Option<&str> {
    let modules = ["'path'", "\"path\"", "'node:path'", "\"node:path\""];
    let at = modules.iter().find_map(|module| text.find(module));
    let import = at.and_then(|at| {
        let before = text[..at].strip_suffix("require(").or(text[..at].strip_suffix("from "))?;
        Some(before.trim_end().trim_end_matches('=').trim_end())
    });
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = import.map(|before| &before[before.trim_end_matches(is_part).len()..]);
    let module = || text.split_once("path as ").and_then(|(_, after)| names(after).next());
    name.or_else(|| module().map(|(_, name)| name))
        .or_else(|| text.contains("path import ").then_some(""))
}

/// Returns the identifiers of a text, with their positions.
pub(super) fn names(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text[rest..].find(|c: char| c.is_ascii_alphabetic() || c == '_')?;
        let length = text[start..].find(|c| !is_part(c)).unwrap_or(text.len() - start);
        rest = start + length;
        Some((start, &text[start..rest]))
    })
}

/// Checks whether a name names a call: its object fits, and arguments follow.
pub(super) fn is_call(call: &Call, text: &str, before: &str, after: &str) -> bool {
    let has_object = has_object(call, text, before);
    let next = after.trim_start().trim_start_matches('!').chars().next();
    if call.effect == Effect::Eval {
        let is_bare = match call.language {
            Language::Node => call.name == "eval" && matches!(next, Some(')' | ',')),
            Language::Perl | Language::Ruby | Language::Php => {
                next.is_some_and(|next| next.is_alphanumeric() || "$\"'[".contains(next))
            }
            _ => false,
        };
        return has_object && (is_bare || next == Some('('));
    }
    let is_command = matches!(call.language, Language::Perl | Language::Ruby | Language::Other);
    let takes_list = matches!((call.effect, next), (Effect::List(_), Some('[')));
    let is_open = call.effect == Effect::OpenLast && next.is_some_and(char::is_alphabetic);
    let is_run = call.effect == Effect::Words
        && (matches!(next, Some('$' | '@')) || begins_with_call(after.trim_start()));
    let is_nested =
        is_open || (is_command && (is_run || matches!(next, Some('g' | 'D' | 'F' | 'q' | '*'))));
    // The name itself can be a text: `"rm" "a"`.
    let is_text = before.ends_with(['"', '\'']) && after.starts_with(['"', '\'']);
    let is_quoted = is_command && !is_text && matches!(next, Some('"' | '\''));
    has_object && (next == Some('(') || is_quoted || takes_list || is_nested)
}

/// Checks whether the object of a call fits: `os` before `.remove`, or a module from which the name is imported.
pub(super) fn has_object(call: &Call, text: &str, before: &str) -> bool {
    // `shell-command` of Lisp.
    let separators: &[char] =
        if call.language == Language::Other { &['.', ':', '-'] } else { &['.', ':'] };
    let object = before.trim_end().strip_suffix(separators);
    // `require("rimraf").sync`, `__import__("os").system`, `File.method(:read)`.
    let object = object.map(|before| before.trim_end_matches([':', '(', ')', '"', '\'']));
    let object = object.map(|before| before.strip_suffix(".method").unwrap_or(before));
    // `[IO.File]::Delete`.
    let is_class = call.language == Language::Powershell;
    let object =
        object.map(|before| before.strip_suffix(']').filter(|_| is_class).unwrap_or(before));
    match call.object {
        "" => true,
        NO_OBJECT => object.is_none() && !before.ends_with("->"),
        name => match object {
            Some(object) => object.ends_with(name) || is_import_of(text, name, object),
            None => {
                text.contains(&format!("from {name} import "))
                    || text.contains(&format!("= {name}.{}", call.name))
            }
        },
    }
}

/// Checks whether the text imports a module under the name at the end of `before`: `import subprocess as sp`.
fn is_import_of(text: &str, module: &str, before: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = &before[before.trim_end_matches(is_part).len()..];
    !name.is_empty() && text.contains(&format!("import {module} as {name}"))
}
