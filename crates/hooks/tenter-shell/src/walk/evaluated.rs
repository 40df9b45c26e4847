//! Words that bash evaluates although they are quoted: names with subscripts, and arithmetic (R84).

use crate::field::Field;
use crate::reader::{Context, Reader};
use crate::syntax;

use super::call::{Call, Emitted};
use super::wrappers::values;

/// Maximum depth of variables whose values name variables.
const MAX_NAMES: usize = 8;

/// The operators of `[[ … ]]` that evaluate their words.
const OPERATORS: [&str; 8] = ["-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Reader<'_> {
    /// Reads the commands in words that a builtin evaluates.
    pub(super) fn evaluated_words(&mut self, call: &Call, emitted: &Emitted, context: &Context) {
        let words: Vec<Field> = match emitted.program.as_str() {
            "printf" => subscripts(values(emitted, "-v")),
            "wait" => subscripts(values(emitted, "-p")),
            "test" | "[" => subscripts(after_operators(call.args())),
            "read" | "unset" | "getopts" | "mapfile" | "readarray" => {
                subscripts(call.operands(emitted).cloned())
            }
            "declare" | "typeset" | "local" | "export" | "readonly" => {
                let name = |operand: &Field| {
                    let name =
                        operand.text.split_once('=').map_or(&*operand.text, |(name, _)| name);
                    // `-i` and `-n` evaluate the value.
                    let has_value = emitted.arguments.has("-i -n");
                    if has_value { operand.clone() } else { operand.with_text(name) }
                };
                subscripts(call.operands(emitted).map(name))
            }
            "let" => call.args().to_vec(),
            "compgen" => values(emitted, "-W"),
            _ => return,
        };
        for word in &words {
            self.evaluated(word, context);
        }
    }

    /// Reads the commands in the words of `[[ … ]]` and `(( … ))`.
    pub(super) fn tested(&mut self, words: &[Field], context: &Context) {
        let is_operator = |word: &Field| OPERATORS.contains(&word.text.as_str());
        if words.len() == 1 || words.iter().any(is_operator) {
            for word in words {
                self.evaluated(word, context);
            }
        }
    }

    /// Reads the commands in a text that bash evaluates as arithmetic, also those in the values of variables that it names.
    pub(crate) fn evaluated(&mut self, text: &Field, context: &Context) {
        self.evaluated_within(text, context, MAX_NAMES);
    }

    fn evaluated_within(&mut self, text: &Field, context: &Context, depth: usize) {
        if !self.expand_by(text.text.len()) {
            return;
        }
        let names = text.text.split(|c: char| !c.is_alphanumeric() && c != '_');
        for name in names.filter(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_')) {
            if let Some(Some(value)) = self.scope.get(name).cloned()
                && value.is_certain
                && value.text != text.text
            {
                match depth.checked_sub(1) {
                    Some(depth) => self.evaluated_within(&value, context, depth),
                    None => self.reach_limit(),
                }
            }
        }
        if text.is_certain && text.text.contains(['$', '`']) {
            self.expanded_again(text, context);
        }
    }

    /// Expands what is in a value, as in quotes. `None` at a limit: a value can contain itself.
    pub(crate) fn expanded_again(&mut self, value: &Field, context: &Context) -> Option<Field> {
        let Some(inner) = context.deeper().filter(|_| self.expand_by(value.text.len())) else {
            self.reach_limit();
            return None;
        };
        let (parts, script) = syntax::parse_quoted(&value.text, inner.depth);
        self.keep_broken(&script);
        Some(self.text_of(&parts, &inner.with_heredocs(script.heredocs)))
    }
}

/// Returns the subscripts of names: `a[…]`.
fn subscripts(words: impl IntoIterator<Item = Field>) -> Vec<Field> {
    let words = words.into_iter();
    words.filter_map(|word| Some(word.with_text(&word.text[word.text.find('[')?..]))).collect()
}

/// Returns the words after `-v` and `-R`.
fn after_operators(args: &[Field]) -> Vec<Field> {
    let pairs = args.windows(2).filter(|pair| matches!(pair[0].text.as_str(), "-v" | "-R"));
    pairs.map(|pair| pair[1].clone()).collect()
}
