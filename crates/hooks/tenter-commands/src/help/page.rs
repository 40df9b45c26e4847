//! A page of `docs/` as it is read in a terminal: without the comments for tests, without links, which are useless there,
//! and with each paragraph on one line, which the renderer wraps. The topics that it links to are listed at its end.

use std::fmt::Write as _;

use super::paragraphs::join;
use super::topics::Topic;

/// Returns the page's Markdown for a terminal.
pub(super) fn render_for_terminal(page: &str, topics: &[Topic]) -> String {
    let mut text = String::new();
    let mut links: Vec<&str> = Vec::new();
    for (index, part) in page.split("\n```").enumerate() {
        // Every second part is the inside of a code block.
        if index % 2 == 1 {
            text.push_str("\n```");
            text.push_str(part);
        } else {
            text.push_str(if index == 0 { "" } else { "\n```" });
            let mut unlinked = String::new();
            without_links(&without_comments(part), &mut unlinked, |target| {
                let file = target.split_once(".md").map_or("", |(file, _)| file);
                if let Some(topic) = topics.iter().find(|topic| topic.file == file)
                    && !links.contains(&topic.name)
                {
                    links.push(topic.name);
                }
            });
            text.push_str(&join(&unlinked));
        }
    }
    if !links.is_empty() {
        let topics: Vec<String> =
            links.iter().map(|name| format!("`tenter help {name}`")).collect();
        let _ = write!(text, "\n## See also\n\n{}\n", topics.join(", "));
    }
    text
}

/// Returns `text` without HTML comments and the line ends after them.
fn without_comments(text: &str) -> String {
    let mut parts = text.split("<!--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let after = part.split_once("-->").map_or("", |(_, after)| after);
        text.push_str(after.strip_prefix('\n').unwrap_or(after));
    }
    text
}

/// Appends `text` to `out` with relative links replaced by their texts, and calls `see` with their targets.
fn without_links(text: &str, out: &mut String, mut see: impl FnMut(&str)) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let (target, behind) = after.split_once(')').unwrap_or((after, ""));
        match before.rsplit_once('[') {
            Some((before, label)) if !target.contains("://") => {
                out.push_str(before);
                out.push_str(label);
                see(target);
            }
            _ => {
                out.push_str(before);
                let _ = write!(out, "]({target})");
            }
        }
        rest = behind;
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::help::topics::TOPICS;

    #[test]
    fn comments_and_links_are_removed_and_linked_topics_are_listed() {
        let page = "See [trust](trust.md#files),\n[here](#a), [`x`\ny](trust.md) and [a](https://b.c).\n\n<!-- test: \
                    file x\nneeds: y -->\n```sh\n[a](b) <!-- c -->\n```\nEnd, [see](models.md).\n";
        let expected = "See trust, here, `x` y and [a](https://b.c).\n\n\n```sh\n[a](b) <!-- c -->\n```\nEnd, see.\n\n\
                     ## See also\n\n`tenter help trust`, `tenter help models`\n";
        assert_eq!(render_for_terminal(page, TOPICS), expected);
    }

    #[test]
    fn a_comment_or_a_link_without_an_end_is_no_error() {
        assert_eq!(render_for_terminal("a <!-- b", &[]), "a ");
        assert_eq!(render_for_terminal("[a](b", &[]), "a");
        assert_eq!(render_for_terminal("a](b)", &[]), "a](b)");
    }

    #[test]
    fn every_page_is_a_topic_with_a_title() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs");
        for entry in fs::read_dir(docs).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let Some(file) = name.strip_suffix(".md") else { continue };
            let topic = TOPICS.iter().find(|topic| topic.file == file).expect(file);
            let text = render_for_terminal(topic.page, TOPICS);
            assert!(text.starts_with("# ") && !text.contains("<!-- test"), "{file}");
        }
    }
}
