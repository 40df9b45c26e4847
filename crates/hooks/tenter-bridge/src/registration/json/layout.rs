//! Inserts members and elements into a JSON text, and removes them, without formatting anything else.
//!
//! A removal finds everything that an insertion added without knowing of it: the last element has a comma after it only if the last one had
//! a comma before the insertion.

use std::ops::Range;

use super::super::edit::Insertion;
use super::document::{Container, Document, TokenKind};

/// Returns the insertions that append `children` to a container. In a child, `\n` is a line end and `\t` one step of indentation.
pub(super) fn append(
    document: &Document,
    container: &Container,
    children: &[String],
) -> Vec<Insertion> {
    let layout = Layout::of(document, container);
    let children: Vec<String> = children.iter().map(|child| layout.render(child)).collect();
    let Some(last) = container.children.last() else {
        return vec![fill(document, container, &layout, &children)];
    };
    let comma = document.comma_after(last.end);
    let at = document.end_of_comments_on_line(comma.map_or(last.end, |comma| comma + 1));
    let is_inline = !document.has_line_end(&(at..container.inner.end));
    let before = if is_inline { " ".to_owned() } else { layout.line_start() };
    let children: Vec<String> = children.iter().map(|child| format!("{before}{child}")).collect();
    let end = if comma.is_some() { "," } else { "" };
    let text = children.join(",") + end;
    let separator = comma.is_none().then(|| Insertion { at: last.end, text: ",".to_owned() });
    separator.into_iter().chain([Insertion { at, text }]).collect()
}

/// The insertion that fills an empty container.
fn fill(
    document: &Document,
    container: &Container,
    layout: &Layout,
    children: &[String],
) -> Insertion {
    let at = document.last_comment(&container.inner).unwrap_or(container.inner.start);
    let lines: Vec<String> =
        children.iter().map(|child| format!("{}{child}", layout.line_start())).collect();
    let end = if document.has_line_end(&(at..container.inner.end)) {
        String::new()
    } else {
        format!("{}{}", layout.newline, layout.outer)
    };
    Insertion { at, text: lines.join(",") + &end }
}

/// Returns the insertion of a value into a text that has none.
pub(super) fn create(document: &Document, value: &str) -> Insertion {
    let newline = newline(document.text);
    let is_new_line = document.text.is_empty() || document.text.ends_with('\n');
    let before = if is_new_line { "" } else { newline };
    let value = value.replace('\n', newline).replace('\t', "  ");
    Insertion { at: document.text.len(), text: format!("{before}{value}{newline}") }
}

/// How the children of a container are laid out.
struct Layout<'d> {
    newline: &'static str,
    /// Indentation of the line in which the container begins.
    outer: &'d str,
    /// Indentation of a child.
    indent: String,
    /// One step of indentation.
    step: String,
}

impl<'d> Layout<'d> {
    fn of(document: &'d Document, container: &Container) -> Self {
        let outer = document.indent(container.inner.start);
        let step = step(document);
        let lined = container.children.iter().find(|child| document.begins_line(child.start));
        let indent = match (lined, container.children.is_empty()) {
            (Some(child), _) => document.indent(child.start).to_owned(),
            (None, true) => format!("{outer}{step}"),
            // The children are in the line of the container.
            (None, false) => outer.to_owned(),
        };
        Self { newline: newline(document.text), outer, indent, step }
    }

    fn line_start(&self) -> String {
        format!("{}{}", self.newline, self.indent)
    }

    fn render(&self, child: &str) -> String {
        child.replace('\n', &self.line_start()).replace('\t', &self.step)
    }
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// One step of indentation: that of the first member of the document, else two spaces.
fn step(document: &Document) -> String {
    let root = document.root.as_ref().and_then(|root| root.as_object());
    let first = root.and_then(|object| object.properties.first());
    let first = first.map(|member| member.range.start).filter(|at| document.begins_line(*at));
    let indent = first.map_or("", |at| document.indent(at));
    if indent.is_empty() { "  ".to_owned() } else { indent.to_owned() }
}

/// Returns the ranges to cut so that these children of a container, by index in ascending order, are gone.
pub(super) fn cuts(
    document: &Document,
    container: &Container,
    gone: &[usize],
) -> Vec<Range<usize>> {
    let mut cuts = Vec::new();
    let mut run = 0..0;
    for index in gone {
        let child = &container.children[*index];
        let comma = document.comma_after(child.end);
        let between = comma.map_or("", |comma| &document.text[child.end..comma]);
        let end = match comma {
            Some(comma) if between.trim().is_empty() => comma + 1,
            Some(comma) => {
                cuts.push(comma..comma + 1);
                child.end
            }
            None => child.end,
        };
        let start = start_with_whitespace(document, child.start, end, &run);
        run = if start == run.end { run.start..end } else { start..end };
        cuts.push(start..end);
    }
    let last = container.children.len().saturating_sub(1);
    let kept = (0..container.children.len()).rev().find(|index| !gone.contains(index));
    match kept {
        Some(kept) if kept < last => {
            let ends_without_comma = document.comma_after(container.children[last].end).is_none();
            let comma = document.comma_after(container.children[kept].end);
            cuts.extend(comma.filter(|_| ends_without_comma).map(|comma| comma..comma + 1));
        }
        None if is_blank(document.text, &container.inner, &cuts) => {
            return vec![container.inner.clone()];
        }
        _ => {}
    }
    cuts
}

/// Returns the start of the whitespace before `start`, where a cut that ends at `end` may begin: what follows must not become part of
/// a line comment, also of one before the `run` of cuts that this cut continues.
fn start_with_whitespace(
    document: &Document,
    start: usize,
    end: usize,
    run: &Range<usize>,
) -> usize {
    let Some(before) = document.token_before(start) else { return start };
    let continues = before.end == run.end;
    let left = if continues { document.token_before(run.start) } else { Some(before) };
    let follows_comment = left.is_some_and(|token| token.kind == TokenKind::LineComment);
    let rest = document.text[end..].trim_start_matches([' ', '\t']);
    let ends_line = rest.starts_with('\n') || rest.starts_with("\r\n");
    if follows_comment && !ends_line { start } else { before.end }
}

/// Whether only whitespace is left of `range` after the cuts.
fn is_blank(text: &str, range: &Range<usize>, cuts: &[Range<usize>]) -> bool {
    let is_cut = |position: usize| cuts.iter().any(|cut| cut.contains(&position));
    text[range.clone()]
        .bytes()
        .enumerate()
        .all(|(index, byte)| byte.is_ascii_whitespace() || is_cut(range.start + index))
}
