//! YAML as a tree in which every key and value has its position in the file.

use std::ops::Range;

use serde_json::Value;

use super::scalar::{Meaning, Scalar};

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its position in the file, in bytes; empty for a missing value.
    pub at: Range<usize>,
    /// The kind.
    pub kind: NodeKind,
}

/// The three kinds of values.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// A single value.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A mapping, each key once, in the order of the file.
    Mapping(Vec<Field>),
}

/// A key of a mapping and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The key.
    pub key: String,
    /// The position of the key in the file, in bytes.
    pub key_at: Range<usize>,
    /// The value.
    pub value: Node,
}

/// Returns the field with this key.
pub fn find<'f>(fields: &'f [Field], key: &str) -> Option<&'f Field> {
    fields.iter().find(|field| field.key == key)
}

impl Field {
    /// Returns the position of the value, or of the key if there is no value.
    pub fn at(&self) -> &Range<usize> {
        if self.value.at.is_empty() { &self.key_at } else { &self.value.at }
    }
}

impl Node {
    /// Returns true if there is no value, or `null`.
    pub fn is_null(&self) -> bool {
        matches!(&self.kind, NodeKind::Scalar(scalar) if scalar.meaning() == Meaning::Null)
    }

    /// Returns a single value.
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match &self.kind {
            NodeKind::Scalar(scalar) => Some(scalar),
            NodeKind::List(_) | NodeKind::Mapping(_) => None,
        }
    }

    /// Returns the text of a single value other than `null`. Numbers and booleans are text as they are written.
    pub fn as_text(&self) -> Option<&str> {
        self.as_scalar().filter(|_| !self.is_null()).map(|scalar| scalar.text.as_str())
    }

    /// Returns the items of a list.
    pub fn as_list(&self) -> Option<&[Self]> {
        match &self.kind {
            NodeKind::List(items) => Some(items),
            NodeKind::Scalar(_) | NodeKind::Mapping(_) => None,
        }
    }

    /// Returns the fields of a mapping.
    pub fn as_mapping(&self) -> Option<&[Field]> {
        match &self.kind {
            NodeKind::Mapping(fields) => Some(fields),
            NodeKind::Scalar(_) | NodeKind::List(_) => None,
        }
    }

    /// Returns the value as JSON.
    pub fn to_json(&self) -> Value {
        match &self.kind {
            NodeKind::Scalar(scalar) => scalar.to_json(),
            NodeKind::List(items) => items.iter().map(Self::to_json).collect(),
            NodeKind::Mapping(fields) => {
                fields.iter().map(|field| (field.key.clone(), field.value.to_json())).collect()
            }
        }
    }

    /// Returns the number of values in it; long text counts as several.
    pub(super) fn size(&self) -> usize {
        1 + match &self.kind {
            NodeKind::Scalar(scalar) => scalar.text.len() / 32,
            NodeKind::List(items) => items.iter().map(Self::size).sum(),
            NodeKind::Mapping(fields) => fields.iter().map(|field| field.value.size()).sum(),
        }
    }
}
