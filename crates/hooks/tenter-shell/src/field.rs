//! Expanded text.

use crate::facts::FlowSource;

/// A word after expansion, as far as it is known.
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    /// Parts that are not known are as written.
    pub(crate) text: String,
    pub(crate) is_certain: bool,
    /// It contains unquoted `*`, `?` or `[`.
    pub(crate) is_glob: bool,
    /// `<(…)` or `>(…)`.
    pub(crate) is_process: bool,
    /// More than this text is in it, which is not known: what a program whose output is not read writes into the same file or pipe.
    pub(crate) is_partial: bool,
    /// The origin of its text, if that is not the script.
    pub(crate) sources: Vec<FlowSource>,
}

impl Default for Field {
    fn default() -> Self {
        Self::known("")
    }
}

impl Field {
    pub(crate) fn known(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_certain: true,
            is_glob: false,
            is_process: false,
            is_partial: false,
            sources: Vec::new(),
        }
    }

    pub(crate) fn unknown(text: impl Into<String>) -> Self {
        Self { is_certain: false, ..Self::known(text) }
    }

    /// Appends another field.
    pub(crate) fn push(&mut self, other: &Self) {
        self.text.push_str(&other.text);
        self.is_certain &= other.is_certain;
        self.is_glob |= other.is_glob;
        self.is_process |= other.is_process;
        self.is_partial |= other.is_partial;
        add_sources(&mut self.sources, &other.sources);
    }

    /// Returns this field with another text.
    pub(crate) fn with_text(&self, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_certain: self.is_certain,
            is_glob: self.is_glob,
            is_process: self.is_process,
            is_partial: self.is_partial,
            sources: self.sources.clone(),
        }
    }

    /// Returns this field, if nothing else is in the text.
    pub(crate) fn whole(&self) -> Option<&Self> {
        (!self.is_partial).then_some(self)
    }

    /// Returns the fields with a separator between them.
    pub(crate) fn join(fields: &[Self], separator: &str) -> Self {
        let mut all = Self::default();
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                all.text.push_str(separator);
            }
            all.push(field);
        }
        all
    }
}

/// Checks whether a part of a text, or all of it, is not known.
pub(crate) fn is_incomplete(text: Option<&Field>) -> bool {
    text.is_none_or(|text| text.is_partial)
}

/// Adds the sources that are not there yet.
pub(crate) fn add_sources(sources: &mut Vec<FlowSource>, more: &[FlowSource]) {
    /// Maximum number of sources of one text.
    const MAX_SOURCES: usize = 64;
    for source in more {
        if sources.len() < MAX_SOURCES && !sources.contains(source) {
            sources.push(*source);
        }
    }
}
