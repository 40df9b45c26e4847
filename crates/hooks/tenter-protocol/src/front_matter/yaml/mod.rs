//! Builds the tree from the events of the YAML parser: one document, with a maximum number of values and a maximum depth.
//! Tags, merge keys, and keys that are not single values are errors.

mod escapes;
mod events;
mod syntax;

use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{Event, ScalarStyle, Span};

use self::escapes::Repaired;
use super::report::{Report, quotable};
use super::scalar::{Scalar, Style};
use super::tree::{Field, Node, NodeKind, find};

/// Maximum number of keys and values in one front matter, counting what aliases repeat.
const MAX_VALUES: usize = 5000;

/// Parses `yaml`, which begins at `base` in the file. Empty text is an empty mapping.
pub(super) fn parse(yaml: &str, base: usize, report: &mut Report<'_>) -> Option<Node> {
    let repaired = Repaired::new(yaml);
    repaired.report(base, report);
    let mut builder = Builder::new(&repaired, base, report);
    for next in events::events(&repaired.text) {
        let step = match next {
            Ok((event, span)) => builder.event(event, &span),
            Err(error) => {
                syntax::report(&error, yaml, &builder.position(), builder.report);
                Err(Unreadable)
            }
        };
        if step.is_err() {
            return None;
        }
    }
    let empty = Node { at: base..base, kind: NodeKind::Mapping(Vec::new()) };
    Some(builder.root.unwrap_or(empty))
}

/// The rest of the YAML cannot be read; the report says why.
struct Unreadable;

/// A collection whose end has not been reached.
struct OpenCollection {
    at: Range<usize>,
    anchor: usize,
    /// The key whose value comes next.
    key: Option<Key>,
    kind: NodeKind,
}

/// A key and its position in the file.
struct Key {
    name: String,
    at: Range<usize>,
}

struct Builder<'a, 'r> {
    repaired: &'a Repaired<'a>,
    base: usize,
    report: &'a mut Report<'r>,
    open: Vec<OpenCollection>,
    anchors: HashMap<usize, Node>,
    values: usize,
    /// The end of the last event.
    last: usize,
    root: Option<Node>,
}

impl<'a, 'r> Builder<'a, 'r> {
    fn new(repaired: &'a Repaired<'a>, base: usize, report: &'a mut Report<'r>) -> Self {
        Self {
            repaired,
            base,
            report,
            open: Vec::new(),
            anchors: HashMap::new(),
            values: 0,
            last: base,
            root: None,
        }
    }

    fn offset(&self, byte: Option<usize>) -> usize {
        byte.map_or(self.last, |byte| self.base + self.repaired.original(byte))
    }

    fn range(&self, span: &Span) -> Range<usize> {
        let start = self.offset(span.start.byte_offset());
        start..self.offset(span.end.byte_offset()).max(start)
    }

    fn event(&mut self, event: Event<'_>, span: &Span) -> Result<(), Unreadable> {
        self.reject_tag(span);
        let at = self.range(span);
        self.last = at.end;
        match event {
            Event::DocumentStart(explicit, _) if explicit || self.root.is_some() => {
                let help = "end the front matter with exactly `---`, and quote a value that begins with `---`";
                self.fail(&at, "a second document begins here", help)
            }
            Event::Scalar(text, style, anchor, _) => {
                let scalar = Scalar { text: text.into_owned(), style: style_of(style) };
                self.add_node(Node { at, kind: NodeKind::Scalar(scalar) }, anchor)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.begin(at, anchor, NodeKind::List(Vec::new()))
            }
            Event::MappingStart(_, anchor, _) => {
                self.begin(at, anchor, NodeKind::Mapping(Vec::new()))
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(&at),
            Event::Alias(anchor) => self.add_alias(anchor, at),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, at: Range<usize>, anchor: usize, kind: NodeKind) -> Result<(), Unreadable> {
        if self.open.last().is_some_and(OpenCollection::expects_key) {
            let around = at.start.saturating_sub(1)..at.start + 1;
            let help = match self.report.source().text(&around) {
                "{{" => "quote the value: without quotes, `{{` begins two mappings",
                _ => QUOTE_KEY,
            };
            return self.fail(&at, NOT_A_KEY, help);
        }
        self.open.push(OpenCollection { at, anchor, key: None, kind });
        Ok(())
    }

    fn end(&mut self, at: &Range<usize>) -> Result<(), Unreadable> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        self.add_node(Node { at: open.at.start..at.end, kind: open.kind }, open.anchor)
    }

    /// Adds a complete node to the innermost collection.
    fn add_node(&mut self, node: Node, anchor: usize) -> Result<(), Unreadable> {
        self.count(1, &node.at)?;
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(OpenCollection { kind: NodeKind::List(items), .. }) => items.push(node),
            Some(open) => match open.key.take() {
                Some(key) => self.add_field(key, node),
                None => return self.set_key(node),
            },
        }
        Ok(())
    }

    fn set_key(&mut self, node: Node) -> Result<(), Unreadable> {
        let NodeKind::Scalar(scalar) = node.kind else {
            return self.fail(&node.at, NOT_A_KEY, QUOTE_KEY);
        };
        if let Some(open) = self.open.last_mut() {
            open.key = Some(Key { name: scalar.text, at: node.at });
        }
        Ok(())
    }

    fn add_field(&mut self, key: Key, value: Node) {
        let Some(OpenCollection { kind: NodeKind::Mapping(fields), .. }) = self.open.last_mut()
        else {
            return;
        };
        let format = self.report.format();
        if key.name == "<<" {
            let help = "write the keys out";
            self.report.add(&format.syntax, &key.at, "merge keys are not supported", help);
        } else if let Some(first) = find(fields, &key.name) {
            let line = self.report.source().line(first.key_at.start);
            let message = format!("duplicate key `{}`, first on line {line}", quotable(&key.name));
            self.report.add(&format.duplicate_key, &key.at, message, "keep one of the two");
        } else {
            fields.push(Field { key: key.name, key_at: key.at, value });
        }
    }

    /// Adds a copy of the node with this anchor.
    fn add_alias(&mut self, anchor: usize, at: Range<usize>) -> Result<(), Unreadable> {
        let Some(node) = self.anchors.get(&anchor) else {
            return self.fail(&at, "this alias is part of the value it repeats", "write it out");
        };
        let node = Node { at, kind: node.kind.clone() };
        self.count(node.size(), &node.at)?;
        self.add_node(node, 0)
    }

    fn count(&mut self, values: usize, at: &Range<usize>) -> Result<(), Unreadable> {
        self.values += values;
        if self.values <= MAX_VALUES {
            return Ok(());
        }
        let message = format!("the front matter has more than {MAX_VALUES} keys and values");
        self.report.add(
            &self.report.format().too_large,
            at,
            message,
            "front matter is a few lines",
        );
        Err(Unreadable)
    }

    fn reject_tag(&mut self, span: &Span) {
        if let Some(tag) = span.tag_span() {
            let at = self.range(&tag);
            let help = "remove the tag; to make a value text, quote it";
            self.report.add(&self.report.format().syntax, &at, "YAML tags are not supported", help);
        }
    }

    fn fail(&mut self, at: &Range<usize>, message: &str, help: &str) -> Result<(), Unreadable> {
        self.report.add(&self.report.format().syntax, at, message, help);
        Err(Unreadable)
    }

    fn position(&self) -> syntax::Position<'a> {
        syntax::Position { repaired: self.repaired, base: self.base, last: self.last }
    }
}

impl OpenCollection {
    fn expects_key(&self) -> bool {
        matches!(self.kind, NodeKind::Mapping(_)) && self.key.is_none()
    }
}

const NOT_A_KEY: &str = "a key must be a single value";
const QUOTE_KEY: &str = "quote the key";

fn style_of(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
        _ => Style::Literal,
    }
}
