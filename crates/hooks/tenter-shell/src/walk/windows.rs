//! `cmd`: the commands in its arguments.

use crate::field::Field;
use crate::reader::{Context, NodeResult, Reader};

use super::call::{Call, Emitted};

impl Reader<'_> {
    /// Reads what follows `/c` or `/k`, the last option: `cmd /s /c "del a"`, `cmd /cdel a`. Not all of the language is read (C15).
    pub(super) fn cmd(&mut self, call: &Call, emitted: &Emitted, context: &Context) -> NodeResult {
        self.facts.unparsed = true;
        let args = call.args();
        let Some(at) = args.iter().take_while(|arg| arg.text.starts_with('/')).position(runs)
        else {
            return NodeResult::default();
        };
        let first = args[at].with_text(&plain(&args[at])[2..]);
        let words = [&[first], &args[at + 1..]].concat();
        let script = Field::join(&words, " ");
        let text = crate::cmd::as_shell(&script.text);
        self.script_of(&script.with_text(text), emitted, context)
    }
}

/// Checks whether an option begins the command.
fn runs(option: &Field) -> bool {
    let name = plain(option).get(..2).map(str::to_ascii_lowercase);
    name.is_some_and(|name| matches!(name.as_str(), "/c" | "/k" | "/r"))
}

/// Returns an option without the second slash that it has in shells that take the first one for a path.
fn plain(option: &Field) -> &str {
    option.text.strip_prefix('/').filter(|rest| rest.starts_with('/')).unwrap_or(&option.text)
}
