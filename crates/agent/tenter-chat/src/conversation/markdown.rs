//! A conversation as Markdown. Text is quoted and remains Markdown, but it cannot leave the quote, and its HTML is escaped. Tool
//! inputs and results are code blocks.

use pulldown_cmark::{Event, Parser};
use tenter_agent::store::{Epoch, RecordedChange, StoredEntry, Summary};
use tenter_base::{one_line, sanitize};
use tenter_protocol::{Block, ToolCall, ToolResult};
use tenter_terminal::ui;

use super::show::who;
use super::{changed_by, counted_messages, status_word, usage_text};

/// Maximum number of characters of a heading or a name.
const MAX_LENGTH: usize = 200;
/// Maximum number of passes that escape HTML.
const MAX_PASSES: usize = 4;

/// Returns the whole document: the current history and the earlier changes.
pub(super) fn document(summary: &Summary, epochs: &[Epoch]) -> String {
    let title = if summary.preview.is_empty() { "A conversation" } else { &summary.preview };
    let mut parts = vec![format!("# {}", escape(title)), about(summary)];
    let mut before = 0;
    for epoch in epochs {
        parts.extend(epoch.change.as_ref().map(|change| change_line(change, before)));
        before = epoch.entries.len() as u64;
    }
    let present = epochs.last().map(|epoch| epoch.entries.as_slice()).unwrap_or_default();
    parts.extend(present.iter().flat_map(message));
    parts.join("\n\n") + "\n"
}

fn about(summary: &Summary) -> String {
    let mut lines = vec![
        format!("- conversation: {}", code(&summary.id)),
        format!("- project: {}", code(&summary.project.to_string_lossy())),
        format!("- model: {}", code(&summary.model)),
        format!("- begun: {}", ui::short_time(&summary.created_at)),
        format!("- saved: {}", ui::short_time(&summary.updated_at)),
        format!("- status: {}", escape(status_word(summary))),
    ];
    let relations = [("subagent of", &summary.parent), ("fork of", &summary.forked_from)];
    for (what, id) in relations {
        lines.extend(id.as_ref().map(|id| format!("- {what}: {}", code(id))));
    }
    lines.push(format!("- {}", counted_messages(summary.message_count)));
    lines.push(format!("- {}", usage_text(&summary.usage)));
    lines.join("\n")
}

fn change_line(change: &RecordedChange, before: u64) -> String {
    let reason = change.reason.as_deref().map(|reason| format!(" ({})", escape(reason)));
    format!(
        "*History replaced by {} ({}) at {}{}: {} set aside.*",
        escape(&changed_by(change)),
        change.kind.as_str(),
        ui::short_time(&change.at),
        reason.unwrap_or_default(),
        counted_messages(before)
    )
}

fn message(entry: &StoredEntry) -> Vec<String> {
    let who = escape(&who(&entry.entry.origin));
    let heading = format!("## {who} · {}", ui::short_time(&entry.at));
    let blocks = entry.entry.message.blocks.iter().map(block);
    [heading].into_iter().chain(blocks).filter(|part| !part.is_empty()).collect()
}

fn block(block: &Block) -> String {
    match block {
        Block::Text { text } => quote(text),
        Block::Reasoning { text } => {
            format!("<details><summary>Reasoning</summary>\n\n{}\n\n</details>", quote(text))
        }
        Block::Image(image) => escape(&image.to_string()),
        Block::ToolUse(call) => tool_call(call),
        Block::ToolResult { result, .. } => tool_result(result),
    }
}

fn tool_call(call: &ToolCall) -> String {
    let input = serde_json::to_string_pretty(&call.input).unwrap_or_default();
    format!("**Call of {}**\n\n{}", escape(&call.name), fence("json", &input))
}

fn tool_result(result: &ToolResult) -> String {
    let what = if result.is_failure() { "Failure of" } else { "Result of" };
    format!("**{what} {}**\n\n{}", escape(&result.tool_name), fence("text", &result.text()))
}

/// Returns text as a code block, with a fence longer than any in the text.
fn fence(language: &str, text: &str) -> String {
    let text = sanitize(text);
    let fence = "`".repeat(longest_run(&text, '`').max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// Returns inline code.
fn code(text: &str) -> String {
    let text = one_line(text, MAX_LENGTH);
    let fence = "`".repeat(longest_run(&text, '`') + 1);
    let space = if text.contains('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

fn longest_run(text: &str, sign: char) -> usize {
    text.split(|c| c != sign).map(str::len).max().unwrap_or(0)
}

/// Returns one line with Markdown escaped.
fn escape(text: &str) -> String {
    let mut line = String::new();
    for character in one_line(text, MAX_LENGTH).chars() {
        if character.is_ascii_punctuation() && !"-.,:;'\"/=?%@()".contains(character) {
            line.push('\\');
        }
        line.push(character);
    }
    line
}

/// Returns text in a block quote that it cannot leave. HTML is escaped.
fn quote(text: &str) -> String {
    let text = sanitize(text);
    let quote = |line: &str| if line.is_empty() { ">".to_owned() } else { format!("> {line}") };
    without_html(text.lines().map(quote).collect::<Vec<_>>().join("\n"))
}

fn without_html(mut text: String) -> String {
    // Escaping HTML may reveal Markdown that contains HTML.
    for _ in 0..MAX_PASSES {
        let links: Vec<_> = Parser::new(&text)
            .into_offset_iter()
            .filter(|(event, _)| matches!(event, Event::Html(_) | Event::InlineHtml(_)))
            .map(|(_, range)| range)
            .collect();
        if links.is_empty() {
            return text;
        }
        for range in links.into_iter().rev() {
            let plain = text[range.clone()].replace('<', "&lt;");
            text.replace_range(range, &plain);
        }
    }
    text.replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{HeadingLevel, Tag};

    use super::*;

    /// Pieces of hostile text.
    const PIECES: [&str; 24] = [
        "a",
        " ",
        "\n",
        "\n\n",
        "\t",
        "    ",
        "<script>",
        "</details>",
        "<!--",
        "-->",
        "<?",
        "<![CDATA[",
        "<b x='",
        ">",
        "```",
        "`",
        "~~~",
        "- ",
        "1. ",
        "# ",
        "\\",
        "&lt;",
        "[x](",
        "\x1b]0;",
    ];

    /// Checks whether the quoted text is one block quote without HTML, after which the document continues.
    fn is_contained(text: &str) -> bool {
        let document = format!("{}\n\n# end", quote(text));
        let mut events = Parser::new(&document);
        let mut depth = 0_i32;
        let mut outside = Vec::new();
        for event in events.by_ref() {
            match event {
                Event::Html(_) | Event::InlineHtml(_) => return false,
                Event::Start(tag) => {
                    if depth == 0 {
                        outside.push(tag);
                    }
                    depth += 1;
                }
                Event::End(_) => depth -= 1,
                _ => {}
            }
        }
        let is_end = |tag: &Tag| matches!(tag, Tag::Heading { level: HeadingLevel::H1, .. });
        match outside.as_slice() {
            [Tag::BlockQuote(_), end] => is_end(end),
            [end] => quote(text).is_empty() && is_end(end),
            _ => false,
        }
    }

    #[test]
    fn text_cannot_leave_its_quote_or_be_html() {
        for one in PIECES {
            for two in PIECES {
                for three in PIECES {
                    let text = [one, two, three].concat();
                    assert!(is_contained(&text), "{text:?} became {:?}", quote(&text));
                }
            }
        }
        // Longer texts, pseudo-random.
        let mut state = 1_usize;
        for _ in 0..5000 {
            let mut text = String::new();
            for _ in 0..12 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                text.push_str(PIECES[(state >> 33) % PIECES.len()]);
            }
            assert!(is_contained(&text), "{text:?} became {:?}", quote(&text));
        }
    }

    #[test]
    fn markdown_and_code_in_text_are_kept() {
        let text = "# Plan\n\n- **one** `<b>`\n\n```html\n<b>bold</b>\n```\n<b>";
        assert_eq!(
            quote(text),
            "> # Plan\n>\n> - **one** `<b>`\n>\n> ```html\n> <b>bold</b>\n> ```\n> &lt;b>"
        );
    }

    #[test]
    fn code_cannot_close_its_fence() {
        assert_eq!(fence("text", "a\n"), "```text\na\n```");
        assert_eq!(fence("text", "```\n````x\x1b[1m"), "`````text\n```\n````x\n`````");
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("`a``b\nc"), "``` `a``b c ```");
        assert_eq!(
            escape("a_b <i>*x*</i> [y](z) #1 \x1b[1m\nend"),
            "a\\_b \\<i\\>\\*x\\*\\</i\\> \\[y\\](z) \\#1 end"
        );
    }
}
