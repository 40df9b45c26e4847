//! The YAML parser, configured for front matter.

use granit_parser::{Options, Parser, StrInput};

/// Maximum depth of nested collections.
const MAX_DEPTH: usize = 32;

/// Returns the parse events of `yaml`.
pub(super) fn events(yaml: &str) -> Parser<'_, StrInput<'_>> {
    let mut options = Options::default();
    options.disallow_directives = true;
    options.flow_nesting_limit = MAX_DEPTH;
    options.block_nesting_limit = MAX_DEPTH;
    options.set_emit_comments(false);
    Parser::new_from_str_with_options(yaml, options)
}
