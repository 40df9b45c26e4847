//! Scripts in scripts: `bash -c`, `eval`, here-documents into a shell.

use crate::field::Field;
use crate::reader::{Context, NodeResult, Reader};
use crate::syntax;

impl Reader<'_> {
    /// Reads the commands of a script that something runs.
    pub(super) fn script(&mut self, text: &Field, via: &str, context: &Context) -> NodeResult {
        let Some(inner) = context.inside(via) else {
            self.reach_limit();
            return NodeResult::default();
        };
        if !self.expand_by(text.text.len()) {
            return NodeResult::default();
        }
        let script = syntax::parse(&text.text, inner.depth);
        self.keep_broken(&script);
        self.has_odd_script |= !text.is_certain || !crate::plain::is_plain(&text.text, &script);
        let mut inner = inner.with_heredocs(script.heredocs);
        inner.is_reparsed |= !text.is_certain;
        self.list(&script.commands, &inner)
    }
}

/// Returns a field as a word of a script, so that it is read as this text.
pub(super) fn quote(field: &Field) -> Field {
    if field.is_glob || !field.is_certain {
        return field.clone();
    }
    field.with_text(crate::escapes::quoted(&field.text))
}
