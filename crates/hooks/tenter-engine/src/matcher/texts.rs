//! The texts of a tool's input: every string, with numbers and booleans as text, and last the whole input as JSON (R19). Each file
//! of a patch counts as an input of its own, with the file as `file_path` (B10).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::{fmt, iter};

use serde_json::Value;
use tenter_protocol::patch::Patch;
use tenter_protocol::{Object, json};

/// The field of an input that names the file.
const FILE_PATH: &str = "file_path";

/// The location of a text in an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TextLocation<'v> {
    /// A leaf, with the path to it.
    Leaf(Vec<Step<'v>>),
    /// The whole input.
    Whole,
}

/// One step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step<'v> {
    /// The value of a key.
    Key(&'v str),
    /// An element of a list, from 0.
    Index(usize),
}

impl fmt::Display for TextLocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Leaf(steps) = self else { return f.write_str("the whole input") };
        for (index, step) in steps.iter().enumerate() {
            match step {
                Step::Key(key) if index == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(element) => write!(f, "[{element}]")?,
            }
        }
        Ok(())
    }
}

/// A text and where it stands.
type LocatedText<'v> = (TextLocation<'v>, Cow<'v, str>);

/// Returns the texts of `input` in their order. The whole input is written out only when it is asked for.
pub(super) fn in_input(input: &Object) -> impl Iterator<Item = LocatedText<'_>> {
    let mut leaves = Leaves::default();
    leaves.add_object(input);
    let whole = iter::once_with(|| (TextLocation::Whole, Cow::Owned(json::to_string(input))));
    leaves.texts.into_iter().chain(whole).chain(read_patch(input))
}

/// Returns the texts of the files in a patch.
fn read_patch(input: &Object) -> impl Iterator<Item = LocatedText<'_>> {
    let files = Patch::from_input(input).map(|patch| patch.files).unwrap_or_default();
    files.into_iter().flat_map(|file| {
        let path = TextLocation::Leaf(vec![Step::Key(FILE_PATH)]);
        let whole = json::to_string(&BTreeMap::from([(FILE_PATH, file.path)]));
        [(path, Cow::Borrowed(file.path)), (TextLocation::Whole, Cow::Owned(whole))]
    })
}

#[derive(Default)]
struct Leaves<'v> {
    way: Vec<Step<'v>>,
    texts: Vec<LocatedText<'v>>,
}

impl<'v> Leaves<'v> {
    fn add_object(&mut self, object: &'v Object) {
        for (key, value) in object {
            self.under(Step::Key(key), value);
        }
    }

    fn under(&mut self, step: Step<'v>, value: &'v Value) {
        self.way.push(step);
        match value {
            Value::Null => {}
            Value::String(text) => self.leaf(Cow::Borrowed(text)),
            Value::Bool(boolean) => self.leaf(Cow::Owned(boolean.to_string())),
            Value::Number(number) => self.leaf(Cow::Owned(number.to_string())),
            Value::Object(object) => self.add_object(object),
            Value::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    self.under(Step::Index(index), element);
                }
            }
        }
        self.way.pop();
    }

    fn leaf(&mut self, text: Cow<'v, str>) {
        self.texts.push((TextLocation::Leaf(self.way.clone()), text));
    }
}
