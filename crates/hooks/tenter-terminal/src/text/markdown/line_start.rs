//! Classifies a line by its beginning: a code block, an item or a heading begins there.

use crate::text::CodeLanguage;

/// Maximum number of nested quotes and items at the beginning of a line.
const MAX_DEPTH: usize = 100;

/// The first line of a code block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    /// The language of the code, if it is known.
    pub(super) language: Option<&'static CodeLanguage>,
}

impl Fence {
    /// Returns the fence in a line, and its language; `None` if the line is no fence.
    pub(super) fn read(line: &str) -> Option<(Self, &str)> {
        let rest = line.trim_start_matches(' ');
        let mark = rest.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
        let language = rest.trim_start_matches(mark);
        let (length, indent) = (rest.len() - language.len(), line.len() - rest.len());
        let is_inline = mark == '`' && language.contains('`');
        let fence = Self { mark, length, indent, language: CodeLanguage::named(language.trim()) };
        (length >= 3 && indent <= 3 && !is_inline).then_some((fence, language.trim()))
    }

    /// Checks whether this line ends the code block.
    pub(super) fn is_closed_by(self, line: &str) -> bool {
        Self::read(line).is_some_and(|(fence, language)| {
            fence.mark == self.mark && fence.length >= self.length && language.is_empty()
        })
    }

    /// Checks whether a line that begins like this may become the one that ends the code block.
    pub(super) fn may_be_closed_by(self, line: &str) -> bool {
        line.trim().chars().all(|mark| mark == self.mark)
    }

    /// Returns a line of the code without the indentation of the fence.
    pub(super) fn without_indent(self, line: &str) -> &str {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        &line[spaces.min(self.indent)..]
    }
}

/// Checks whether the line may continue an item after an empty line.
pub(super) fn is_indented(line: &str) -> bool {
    line.starts_with("  ") || line.starts_with('\t')
}

/// Checks whether the line is a heading.
pub(super) fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - rest.len())) && (rest.is_empty() || rest.starts_with(' '))
}

/// Checks whether the line begins an item of a list.
pub(super) fn begins_item(line: &str) -> bool {
    let rest = line.trim_start_matches(' ');
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after = match (digits, &rest[digits..]) {
        (0, rest) => rest.strip_prefix(['-', '*', '+']),
        (1..=9, rest) => rest.strip_prefix(['.', ')']),
        _ => None,
    };
    line.len() - rest.len() <= 3
        && !is_rule(line)
        && after.is_some_and(|after| after.starts_with(' '))
}

/// Checks whether the line is `---` or similar. Right below a text it makes that a heading.
pub(super) fn is_rule(line: &str) -> bool {
    let mut marks = line.chars().filter(|c| *c != ' ');
    let Some(first @ ('-' | '*' | '_')) = marks.next() else { return false };
    let mut more = 0;
    marks.all(|mark| {
        more += 1;
        mark == first
    }) && more >= 2
}

/// Returns the two parts of a line between which the marks of quotes and items are left out: the parser takes quadratic time for
/// a deep nesting.
pub(super) fn without_deep_marks(line: &str) -> [&str; 2] {
    let (mut marks, mut length, mut end) = (0, line.len(), 0);
    for (at, mark) in line.char_indices() {
        let is_item = "-*+.)".contains(mark) && line[at + 1..].starts_with([' ', '\t']);
        if is_item || mark == '>' {
            marks += 1;
            end = at + 1;
            length = if marks > MAX_DEPTH { length.min(at) } else { length };
        } else if !(mark.is_ascii_digit() || mark == ' ' || mark == '\t') {
            break;
        }
    }
    [&line[..length], &line[length.max(end)..]]
}
