//! Replaces a text within a text, for `file_edit`.

use std::borrow::Cow;

use tenter_protocol::tool_metadata::Edit;

/// Maximum number of replacements that are reported one by one; all are made.
const MAX_REPORTED: usize = 100;

/// Maximum size of the resulting text, in bytes.
const MAX_TEXT: usize = 32 << 20;

/// Maximum number of line comparisons for a hint about whitespace. Beyond it there is no hint.
const MAX_COMPARISONS: usize = 10_000_000;

/// A text after a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextReplacement {
    /// The new text.
    pub(crate) text: String,
    /// The first hundred replacements.
    pub(crate) edits: Vec<Edit>,
    /// The number of replacements made.
    pub(crate) count: u64,
}

/// The reason why nothing was replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Mismatch {
    /// Old and new text are the same.
    #[error("old_text and new_text are the same")]
    Same,
    /// The old text does not occur.
    #[error("old_text does not occur; read the file again and copy it exactly")]
    Absent,
    /// The old text does not occur, but a text that differs from it only in whitespace, at this line.
    #[error(
        "old_text does not occur, but line {0} differs from it only in whitespace; copy it exactly"
    )]
    Similar(u64),
    /// The new text would be too long.
    #[error("the file would have more than {} MiB; use a command", MAX_TEXT >> 20)]
    TooLong,
    /// The old text occurs more than once, at these lines.
    #[error("old_text occurs {} times, at lines {}; include more of the surrounding text, or set replace_all", .0.len(), some_of(.0))]
    Ambiguous(Vec<u64>),
}

/// Replaces `old` by `new` in `text`: the only occurrence, or all of them. A text whose lines all end in CRLF keeps these
/// line endings, even if old and new are given with bare newlines.
pub(crate) fn replace(
    text: &str,
    old: &str,
    new: &str,
    all: bool,
) -> Result<TextReplacement, Mismatch> {
    if old == new {
        return Err(Mismatch::Same);
    }
    let (old, new) = with_line_ends_of(text, old, new);
    let places: Vec<usize> = text.match_indices(&*old).map(|(place, _)| place).collect();
    match places.len() {
        0 => Err(similar(text, &old).map_or(Mismatch::Absent, Mismatch::Similar)),
        2.. if !all => Err(Mismatch::Ambiguous(lines_of(text, &places).collect())),
        count if is_too_long(text, count, &old, &new) => Err(Mismatch::TooLong),
        _ => Ok(splice(text, &old, &new, &places)),
    }
}

fn is_too_long(text: &str, count: usize, old: &str, new: &str) -> bool {
    let unchanged = text.len().saturating_sub(count.saturating_mul(old.len()));
    unchanged.saturating_add(count.saturating_mul(new.len())) > MAX_TEXT
}

fn with_line_ends_of<'a>(text: &str, old: &'a str, new: &'a str) -> (Cow<'a, str>, Cow<'a, str>) {
    let only_crlf =
        text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count();
    if only_crlf && !old.contains('\r') {
        let crlf = |part: &str| part.replace("\r\n", "\n").replace('\n', "\r\n");
        (crlf(old).into(), crlf(new).into())
    } else {
        (old.into(), new.into())
    }
}

fn splice(text: &str, old: &str, new: &str, places: &[usize]) -> TextReplacement {
    let mut output = String::with_capacity(text.len());
    let mut from = 0;
    for place in places {
        output.push_str(&text[from..*place]);
        output.push_str(new);
        from = place + old.len();
    }
    output.push_str(&text[from..]);
    let height = newlines(old.strip_suffix('\n').unwrap_or(old));
    let edit = |line| Edit {
        start_line: line,
        end_line: line + height,
        old_content: old.to_owned(),
        new_content: new.to_owned(),
    };
    let edits = lines_of(text, places).take(MAX_REPORTED).map(edit).collect();
    TextReplacement { text: output, edits, count: places.len() as u64 }
}

/// Returns the line of each position, from 1; the positions are in order.
fn lines_of<'a>(text: &'a str, places: &'a [usize]) -> impl Iterator<Item = u64> + 'a {
    places.iter().scan((1, 0), move |(line, from), place| {
        *line += newlines(&text[*from..*place]);
        *from = *place;
        Some(*line)
    })
}

fn newlines(text: &str) -> u64 {
    text.matches('\n').count() as u64
}

/// Returns the line at which `text` matches `old` except for whitespace: around lines, or around the whole.
fn similar(text: &str, old: &str) -> Option<u64> {
    let trimmed = old.trim();
    if trimmed.is_empty() {
        return None;
    }
    if let Some(place) = text.find(trimmed) {
        return Some(1 + newlines(&text[..place]));
    }
    let old_lines: Vec<&str> = trimmed.lines().map(str::trim).collect();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    if lines.len().saturating_mul(old_lines.len()) > MAX_COMPARISONS {
        return None;
    }
    let index = lines.windows(old_lines.len()).position(|window| window == old_lines)?;
    Some(index as u64 + 1)
}

/// Returns numbers of lines as text, not all if there are many.
fn some_of(lines: &[u64]) -> String {
    let numbers: Vec<String> = lines.iter().take(20).map(u64::to_string).collect();
    let more = if lines.len() > numbers.len() { ", …" } else { "" };
    format!("{}{more}", numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn replaces_as_the_standard_library_does(
            text in "[ab\né]{0,30}", old in "[ab\né]{1,3}", new in "[ab\né]{0,3}", all in any::<bool>()
        ) {
            prop_assume!(old != new);
            let count = text.matches(&old).count();
            match replace(&text, &old, &new, all) {
                Ok(replacement) => {
                    prop_assert!(count == 1 || all);
                    prop_assert_eq!(replacement.count, count as u64);
                    prop_assert_eq!(replacement.text, text.replacen(&old, &new, if all { usize::MAX } else { 1 }));
                }
                Err(Mismatch::Absent | Mismatch::Similar(_)) => prop_assert_eq!(count, 0),
                Err(Mismatch::Ambiguous(lines)) => prop_assert!(!all && count > 1 && lines.len() == count),
                Err(Mismatch::Same | Mismatch::TooLong) => prop_assert!(false),
            }
        }

        #[test]
        fn crlf_files_accept_edits_with_bare_newlines(
            text in "[ab\n]{0,30}\n", old in "[ab\n]{1,4}", new in "[ab\n]{0,4}"
        ) {
            let dos = |text: &str| text.replace('\n', "\r\n");
            let plain = replace(&text, &old, &new, true).map(|replacement| (dos(&replacement.text), replacement.count));
            let result = replace(&dos(&text), &old, &new, true).map(|replacement| (replacement.text, replacement.count));
            prop_assert_eq!(plain, result);
        }

        #[test]
        fn an_edit_reports_the_lines_that_it_replaced(before in "[a\n]{0,20}", after in "[a\n]{0,20}", old in "(x|x\n|x\nx)") {
            let text = format!("{before}{old}{after}");
            let edits = replace(&text, &old, "y", true).unwrap().edits;
            let first = before.matches('\n').count() as u64 + 1;
            let last = first + u64::from(old == "x\nx");
            prop_assert_eq!(edits.iter().map(|edit| (edit.start_line, edit.end_line)).collect::<Vec<_>>(), [(first, last)]);
        }
    }

    fn error(text: &str, old: &str) -> String {
        replace(text, old, "new", false).unwrap_err().to_string()
    }

    #[test]
    fn a_whitespace_difference_is_reported() {
        assert!(error("a\nb\n", "c").starts_with("old_text does not occur; read the file"));
        let text = "fn f() {\n\tlet x = 1;\n\tg(x)\n}\n";
        for old in
            ["    let x = 1;\n    g(x)", "  let x = 1;", "let x = 1;\ng(x)", "\tlet x = 1;  "]
        {
            assert!(
                error(text, old).contains("line 2 differs from it only in whitespace"),
                "{old:?}: {}",
                error(text, old)
            );
        }
        assert_eq!(replace(text, "  \n  ", "", false), Err(Mismatch::Absent));
    }

    #[test]
    fn identical_old_and_new_texts_are_an_error() {
        assert_eq!(replace("a", "a", "a", false), Err(Mismatch::Same));
    }

    #[test]
    fn all_replacements_are_made_and_the_first_hundred_reported() {
        let replacement = replace(&"x\n".repeat(1000), "x", "y", true).unwrap();
        assert_eq!((replacement.count, replacement.edits.len()), (1000, MAX_REPORTED));
        assert!(error(&"x\n".repeat(1000), "x").contains("occurs 1000 times, at lines 1, 2, 3,"));
    }

    #[test]
    fn a_replacement_that_exceeds_the_size_limit_is_refused() {
        let many = "x".repeat(100_000);
        assert_eq!(replace(&many, "x", &"y".repeat(1000), true), Err(Mismatch::TooLong));
        assert!(replace(&many, "x", "yy", true).is_ok());
    }

    #[test]
    fn the_search_for_a_whitespace_hint_is_bounded() {
        let text = "a\n".repeat(200_000);
        let old = format!("{}b", " a\n".repeat(100_000));
        assert_eq!(replace(&text, &old, "", false), Err(Mismatch::Absent));
    }

    #[test]
    fn a_file_of_mixed_line_ends_is_taken_literally() {
        assert!(replace("a\r\nb\nc", "a\nb", "x", false).is_err());
        assert_eq!(replace("a\r\nb\nc", "a\r\nb", "x", false).unwrap().text, "x\nc");
        assert_eq!(replace("a\r\nb\r\n", "a\r\n", "x\n", false).unwrap().text, "x\nb\r\n");
    }
}
