//! Joins the lines of each paragraph and list item of Markdown: where lines end depends on the terminal.

/// Returns `text` with each paragraph and list item on one line. It must not contain code blocks.
pub(super) fn join(text: &str) -> String {
    let mut out = String::new();
    let mut is_open = false;
    for line in text.split_inclusive('\n') {
        if is_open && !begins_a_block(line) {
            out.truncate(out.trim_end().len());
            out.push(' ');
            out.push_str(line.trim_start());
        } else {
            out.push_str(line);
        }
        is_open = !line.trim().is_empty() && !line.starts_with(['#', '|']);
    }
    out
}

/// Checks whether a line does not continue the paragraph or item above it.
fn begins_a_block(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with(['#', '|', '>']) || is_item(line)
}

fn is_item(line: &str) -> bool {
    let Some((marker, _)) = line.trim_start().split_once(' ') else { return false };
    let is_number = marker.strip_suffix('.').is_some_and(|digits| digits.parse::<u8>().is_ok());
    marker == "-" || is_number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_items_become_lines() {
        let text = "# Title\none\ntwo\n\n- one\n  two\n  - three\n12. four\nfive\n| a |\n| b |\nsix\n> a\n> b";
        let expected =
            "# Title\none two\n\n- one two\n  - three\n12. four five\n| a |\n| b |\nsix\n> a\n> b";
        assert_eq!(join(text), expected);
    }

    #[test]
    fn the_end_of_the_text_and_empty_lines_are_kept() {
        for text in ["", "\n", "\n\na", "a\n\n\nb\n"] {
            assert_eq!(join(text), text);
        }
    }
}
