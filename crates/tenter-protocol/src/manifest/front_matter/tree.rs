//! YAML as a tree in which every key and value knows where it stands. It reads one document with a limited number of values
//! and a limited depth; it refuses tags, merge keys, and keys that are not words.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;
use serde_saphyr::granit_parser::{Event, Options, Parser, ScalarStyle, Span};
use tenter_base::excerpt;

use super::escapes::Repaired;
use super::findings::{DUPLICATE, Findings, LIMIT, SYNTAX};
use super::scalar::{Scalar, Style};
use super::split::Fences;
use super::syntax;

/// The most keys and values of one front matter, those that aliases repeat included.
const MOST_VALUES: usize = 5000;
const DEEPEST: usize = 32;

/// A value and its place in the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) at: Range<usize>,
    pub(super) kind: NodeKind,
}

/// What a value is made of.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NodeKind {
    Scalar(Scalar),
    Sequence(Vec<Node>),
    Mapping(Vec<Entry>),
}

/// A key of a mapping, and its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) value: Node,
}

/// A key and its place in the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) at: Range<usize>,
}

impl Node {
    /// As JSON; keys are text there.
    pub(super) fn to_json(&self) -> Value {
        match &self.kind {
            NodeKind::Scalar(scalar) => scalar.to_json(),
            NodeKind::Sequence(items) => items.iter().map(Self::to_json).collect(),
            NodeKind::Mapping(entries) => entries
                .iter()
                .map(|entry| (entry.key.name.clone(), entry.value.to_json()))
                .collect(),
        }
    }

    /// How many values it is made of; long text counts as several.
    fn size(&self) -> usize {
        1 + match &self.kind {
            NodeKind::Scalar(scalar) => scalar.text.len() / 32,
            NodeKind::Sequence(items) => items.iter().map(Self::size).sum(),
            NodeKind::Mapping(entries) => entries.iter().map(|entry| entry.value.size()).sum(),
        }
    }
}

/// How the YAML parser is to read front matter.
pub(super) fn options() -> Options {
    let mut options = Options::default();
    options.disallow_directives = true;
    options.flow_nesting_limit = DEEPEST;
    options.block_nesting_limit = DEEPEST;
    options.set_emit_comments(false);
    options
}

/// Reads `yaml`, what stands between the fences. Nothing between them is a mapping without keys.
pub(super) fn parse(yaml: &str, fences: &Fences, findings: &mut Findings<'_>) -> Option<Node> {
    let repaired = Repaired::new(yaml);
    repaired.report(fences.yaml.start, findings);
    let mut builder = Builder::new(&repaired, fences.yaml.start, findings);
    for next in Parser::new_from_str_with_options(&repaired.text, options()) {
        let step = match next {
            Ok((event, span)) => builder.event(event, &span),
            Err(error) => {
                syntax::report(&error, yaml, &builder.position(), builder.findings);
                Err(Stop)
            }
        };
        if step.is_err() {
            return None;
        }
    }
    let empty = Node { at: fences.opening.clone(), kind: NodeKind::Mapping(Vec::new()) };
    Some(builder.root.unwrap_or(empty))
}

/// The rest cannot be read; the findings say why.
struct Stop;

/// A collection that has begun.
struct Open {
    at: Range<usize>,
    anchor: usize,
    /// The key that waits for its value.
    key: Option<Key>,
    kind: NodeKind,
}

struct Builder<'a, 'f> {
    repaired: &'a Repaired<'a>,
    base: usize,
    findings: &'a mut Findings<'f>,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    values: usize,
    /// Where the last event ended.
    last: usize,
    root: Option<Node>,
}

impl<'a, 'f> Builder<'a, 'f> {
    fn new(repaired: &'a Repaired<'a>, base: usize, findings: &'a mut Findings<'f>) -> Self {
        Self {
            repaired,
            base,
            findings,
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

    fn event(&mut self, event: Event<'_>, span: &Span) -> Result<(), Stop> {
        self.refuse_tag(span);
        let at = self.range(span);
        self.last = at.end;
        match event {
            Event::DocumentStart(explicit, _) if explicit || self.root.is_some() => {
                let help = "write exactly `---` where the front matter ends, and quote a value that begins with `---`";
                self.stop(&at, "a second document begins here", help)
            }
            Event::Scalar(text, style, anchor, _) => {
                let scalar = Scalar { text: text.into_owned(), style: written(style) };
                self.put(Node { at, kind: NodeKind::Scalar(scalar) }, anchor)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.begin(at, anchor, NodeKind::Sequence(Vec::new()))
            }
            Event::MappingStart(_, anchor, _) => {
                self.begin(at, anchor, NodeKind::Mapping(Vec::new()))
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(&at),
            Event::Alias(anchor) => self.repeat(anchor, at),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, at: Range<usize>, anchor: usize, kind: NodeKind) -> Result<(), Stop> {
        if self.open.last().is_some_and(Open::wants_a_key) {
            let before = at.start.saturating_sub(1)..at.start + 1;
            let help = match self.findings.source.text(&before) {
                "{{" => "put the value in quotes: without them `{{` begins two mappings",
                _ => "put the key in quotes if it is one",
            };
            return self.stop(&at, "a key has to be a word", help);
        }
        self.open.push(Open { at, anchor, key: None, kind });
        Ok(())
    }

    fn end(&mut self, at: &Range<usize>) -> Result<(), Stop> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        self.put(Node { at: open.at.start..at.end, kind: open.kind }, open.anchor)
    }

    /// Puts a complete value where it belongs.
    fn put(&mut self, node: Node, anchor: usize) -> Result<(), Stop> {
        self.count(1, &node.at)?;
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open { kind: NodeKind::Sequence(items), .. }) => items.push(node),
            Some(open) => match open.key.take() {
                Some(key) => self.pair(key, node),
                None => return self.key(node),
            },
        }
        Ok(())
    }

    fn key(&mut self, node: Node) -> Result<(), Stop> {
        let NodeKind::Scalar(scalar) = node.kind else {
            let help = "put the key in quotes if it is one";
            return self.stop(&node.at, "a key has to be a word", help);
        };
        if let Some(open) = self.open.last_mut() {
            open.key = Some(Key { name: scalar.text, at: node.at });
        }
        Ok(())
    }

    fn pair(&mut self, key: Key, value: Node) {
        let Some(Open { kind: NodeKind::Mapping(entries), .. }) = self.open.last_mut() else {
            return;
        };
        if key.name == "<<" {
            let help = "write the keys out";
            self.findings.add(&SYNTAX, Some(&key.at), "merge keys are not read", help);
        } else if let Some(first) = entries.iter().find(|entry| entry.key.name == key.name) {
            let line = self.findings.source.line(first.key.at.start);
            let message = format!("`{}` is given twice, first in line {line}", shown(&key.name));
            self.findings.add(&DUPLICATE, Some(&key.at), message, "keep one of the two");
        } else {
            entries.push(Entry { key, value });
        }
    }

    /// Repeats the value of an anchor.
    fn repeat(&mut self, anchor: usize, at: Range<usize>) -> Result<(), Stop> {
        let Some(node) = self.anchors.get(&anchor) else {
            return self.stop(&at, "this alias stands inside of what it repeats", "write it out");
        };
        let node = Node { at, kind: node.kind.clone() };
        self.count(node.size(), &node.at)?;
        self.put(node, 0)
    }

    fn count(&mut self, values: usize, at: &Range<usize>) -> Result<(), Stop> {
        self.values += values;
        if self.values <= MOST_VALUES {
            return Ok(());
        }
        let message = format!("the front matter has more than {MOST_VALUES} keys and values");
        self.findings.add(&LIMIT, Some(at), message, "front matter is a few lines");
        Err(Stop)
    }

    fn refuse_tag(&mut self, span: &Span) {
        if let Some(tag) = span.tag_span() {
            let at = self.range(&tag);
            let help = "leave the tag out; quotes make text of a value";
            self.findings.add(&SYNTAX, Some(&at), "YAML tags are not read", help);
        }
    }

    fn stop(&mut self, at: &Range<usize>, message: &str, help: &str) -> Result<(), Stop> {
        self.findings.add(&SYNTAX, Some(at), message, help);
        Err(Stop)
    }

    fn position(&self) -> syntax::Position<'a> {
        syntax::Position { repaired: self.repaired, base: self.base, last: self.last }
    }
}

impl Open {
    fn wants_a_key(&self) -> bool {
        matches!(self.kind, NodeKind::Mapping(_)) && self.key.is_none()
    }
}

fn written(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
        _ => Style::Literal,
    }
}

/// `text` as a message quotes it: on one line, and not endless.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut shown = String::new();
    for letter in excerpt::chars(text, LONGEST).chars() {
        if letter.is_control() {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
}
