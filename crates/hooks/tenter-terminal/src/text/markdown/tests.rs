//! Tests of the renderer: its output, and properties of every text.

use anstream::adapter::strip_str;
use proptest::prelude::*;
use tenter_base::excerpt::prefix;

use super::*;

/// The width of most tests, in columns.
const WIDTH: usize = 80;

fn whole(text: &str, width: usize) -> String {
    let mut markdown = Markdown::default();
    markdown.push(text, width) + &markdown.finish(width)
}

fn plain(text: &str) -> String {
    plain_at(text, WIDTH)
}

fn plain_at(text: &str, width: usize) -> String {
    strip_str(&whole(text, width)).to_string()
}

/// Returns the lines shown of a text that is still arriving.
fn pending(text: &str) -> String {
    let mut markdown = Markdown::default();
    let whole = markdown.push(text, WIDTH) + &markdown.pending(WIDTH);
    strip_str(&whole).to_string()
}

#[test]
fn each_block_is_returned_once_when_it_is_complete() {
    let mut markdown = Markdown::default();
    assert_eq!(markdown.push("One **bo", WIDTH), "");
    assert_eq!(markdown.push("ld** word\n", WIDTH), "");
    assert_eq!(
        strip_str(&markdown.push("\n# Head\n", WIDTH)).to_string(),
        "One bold word\n\n# Head\n"
    );
    assert_eq!(markdown.push("rest", WIDTH), "");
    assert_eq!(markdown.finish(WIDTH), "rest\n");
    assert_eq!(markdown.finish(WIDTH), "");
}

#[test]
fn code_is_returned_line_by_line_with_nothing_left_of_it() {
    let (head, end) = (format!("── rust {}\n", "─".repeat(32)), format!("{}\n", "─".repeat(40)));
    let mut markdown = Markdown::default();
    let mut push = |piece: &str| strip_str(&markdown.push(piece, WIDTH)).to_string();
    assert_eq!(push("```rust\nfn a() {}\n  // #"), format!("{head}fn a() {{}}\n"));
    assert_eq!(push(" x\n```\nafter"), format!("  // # x\n{end}"));
    assert_eq!(markdown.finish(WIDTH), "after\n");
    assert_eq!(plain("~~~\nx"), format!("{end}x\n{end}"));
}

#[test]
fn long_code_is_one_line_that_can_be_copied() {
    let long = "x".repeat(200);
    assert!(plain(&format!("```\n\t{long}\n```\n")).contains(&format!("\n\t{long}\n")));
    assert!(plain(&format!("- a\n\n  ```\n  {long}\n  ```\n")).contains(&format!("\n  {long}\n")));
}

#[test]
fn discarded_text_leaves_nothing() {
    let mut markdown = Markdown::default();
    markdown.push("- half an it", WIDTH);
    markdown.discard();
    assert_eq!(markdown.finish(WIDTH), "");
}

#[test]
fn lists_keep_order_levels_and_code() {
    let text =
        "1. one\n2. two\n   - inner\n     more\n\n   ```sh\n   ls\n   ```\n3. three\n\nafter\n";
    let expected = format!(
        "1. one\n2. two\n   • inner\n     more\n   ── sh {}\n   ls\n   {}\n3. three\n\nafter\n",
        "─".repeat(34),
        "─".repeat(40)
    );
    assert_eq!(plain(text), expected);
}

#[test]
fn renders_quotes_rules_tables_and_links() {
    assert_eq!(plain("> said *so*\n> twice\n"), "│ said so\n│ twice\n");
    assert_eq!(plain("a\n\n---\n\nb"), format!("a\n\n{}\n\nb\n", "─".repeat(24)));
    assert_eq!(plain("Title\n---\nb"), "## Title\n\nb\n");
    assert_eq!(
        plain("| name | n |\n|:--|--:|\n| `x` | 1 |\n| **long** | 22 |\n"),
        "name │  n\n─────┼───\n`x`  │  1\nlong │ 22\n"
    );
    assert_eq!(
        plain("See [here](https://a.b/c) or <https://d.e>."),
        "See here (https://a.b/c) or https://d.e.\n"
    );
}

#[test]
fn wide_characters_take_two_columns() {
    assert_eq!(
        plain("| 名前 | n |\n|--|--|\n| Ada | 1 |\n| 👩‍🚀 | 2 |\n"),
        "名前 │ n\n─────┼──\nAda  │ 1\n👩‍🚀   │ 2\n"
    );
    let long = "字".repeat(70_000);
    let table = plain(&format!("| a | b |\n|--|--|\n| {long} | 1 |\n"));
    assert_eq!(table.matches('字').count(), 70_000);
}

#[test]
fn hidden_parts_are_shown() {
    assert_eq!(plain("[1]: https://a.b\n"), "[1]: https://a.b\n");
    assert_eq!(plain("a Vec<String> and <br>\n"), "a Vec<String> and <br>\n");
    assert_eq!(plain("<!-- note -->\n"), "<!-- note -->\n");
    assert_eq!(plain("![cat](c.png)"), "cat (c.png)\n");
}

#[test]
fn control_characters_are_removed() {
    assert_eq!(plain("a\x1b[31mb"), "ab\n");
    assert_eq!(plain("a &#27;[31m b"), "a [31m b\n");
    let rule = "─".repeat(40);
    assert_eq!(plain("```\x1b]0;x\x07\n\x1b[2J\n"), format!("{rule}\n\n{rule}\n"));
    assert_eq!(plain("[x](<a&#27;[2Jb>)"), "x (ab)\n");
}

#[test]
fn text_is_wrapped_between_words_under_its_marks() {
    assert_eq!(plain_at("one two three four\nfive", 16), "one two three\nfour\nfive\n");
    assert_eq!(
        plain_at("- one two three\n  1. four five six\n\n> one two three four", 16),
        "• one two three\n  1. four five\n     six\n\n│ one two three\n│ four\n"
    );
    assert_eq!(plain_at("## one two three four", 16), "## one two three\nfour\n");
}

#[test]
fn text_is_not_wider_than_it_can_be_read() {
    let paragraph = plain_at(&"word ".repeat(60), 200);
    assert_eq!(paragraph.lines().map(str::len).max(), Some(119));
}

#[test]
fn tables_fit_the_width() {
    let table = "| name | what it does |\n|--|--|\n| grep | searches the files of a project |\n| ls | lists |\n";
    let expected = "\
name │ what it does
─────┼─────────────
grep │ searches the
     │ files of a
     │ project
─────┼─────────────
ls   │ lists
";
    assert_eq!(plain_at(table, 24), expected);
}

#[test]
fn tables_without_room_for_columns_are_lists_of_cells() {
    let table =
        "| one | two | three |\n|--|--|--|\n| configuration | of something | else |\n| d | | f |\n";
    let expected = "\
one:
  configuration
two: of
  something
three: else
────────────
one: d
three: f
";
    assert_eq!(plain_at(table, 16), expected);
    assert_eq!(
        plain_at("| configuration | of something |\n|--|--|\n", 16),
        "configuration\nof something\n"
    );
}

#[test]
fn deep_nesting_leaves_room_for_text() {
    let quotes = format!("{} word", ">".repeat(60));
    assert_eq!(plain_at(&quotes, 16), "│ │ │ │ word\n");
    let items = format!("{}word", "- ".repeat(60));
    assert_eq!(plain_at(&items, 16), "• • • • word\n");
}

#[test]
fn incomplete_text_is_shown_as_if_it_ended_there() {
    for (text, shown) in [
        ("Some **bo", "Some bo\n"),
        ("Some **bold*", "Some bold\n"),
        ("Run `cargo te", "Run `cargo te`\n"),
        ("See [the page](https://a", "See the page (https://a)\n"),
        ("Text\n-", "Text\n"),
        ("Text\n\n-", "Text\n"),
        ("- one\n- **tw", "• one\n• tw\n"),
        ("- one\n\n  mo", "• one\n\n  mo\n"),
        ("Text\n\n# He", "Text\n\n# He\n"),
        ("Text\n\n``", "Text\n"),
        ("| a | b", "a │ b\n──┼──\n"),
        ("| a | b |\n|--", "a │ b\n──┼──\n"),
        ("| a | b |\n|--|--|\n| **c", "a │ b\n──┼──\nc │\n"),
        ("&#27;[2J \x1b[2", "[2J\n"),
    ] {
        assert_eq!(pending(text), shown, "{text:?}");
    }
}

#[test]
fn incomplete_code_ends_with_a_rule() {
    let rule = "─".repeat(40);
    assert_eq!(pending("```\none\ntw"), format!("{rule}\none\ntw\n{rule}\n"));
    assert_eq!(pending("```\none\n``"), format!("{rule}\none\n{rule}\n"));
    assert_eq!(pending("```ru"), format!("── ru {}\n{rule}\n", "─".repeat(34)));
}

#[test]
fn hostile_text_takes_linear_time() {
    let table = |width| {
        format!("{}\n{}\n{}", "|a".repeat(width), "|-".repeat(width), "|b\n".repeat(20_000))
    };
    let lazy = format!("{}a\n{}", ">".repeat(30_000), "b\n".repeat(15_000));
    let items = format!("{}a\n{}", "- ".repeat(15_000), "b\n".repeat(15_000));
    let marks = [
        "|",
        "*",
        ">",
        "`",
        "[",
        "_",
        "~",
        "#",
        "<",
        "&",
        "!",
        "\\",
        "* ",
        "> ",
        "- ",
        "1. ",
        "a\n",
        "a*",
        "*a ",
        "_a*",
        "[a](",
        "![",
        "](",
        "`a ``",
        "|\n",
        "|a|\n|-|\n",
        "> a\n",
        "- a\n",
        "  - a\n",
        "[a]: b\n",
        "<a\n",
        "字",
        "a\u{300}",
    ];
    for text in marks.iter().map(|mark| mark.repeat(64 * 1024 / mark.len())).chain([
        table(60),
        table(2000),
        lazy,
        items,
    ]) {
        let mut markdown = Markdown::default();
        let start = std::time::Instant::now();
        markdown.push(&text, WIDTH);
        markdown.pending(WIDTH);
        markdown.finish(WIDTH);
        let elapsed = start.elapsed();
        assert!(elapsed.as_secs() < 60, "{elapsed:?} for {:?}", prefix(&text, 10));
    }
}

/// Returns text with many marks of Markdown.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n"),
        Just("\n\n"),
        Just("- "),
        Just("1. "),
        Just("  "),
        Just("```"),
        Just("~~~ x"),
        Just("**"),
        Just("*"),
        Just("`"),
        Just("# "),
        Just("> "),
        Just("|"),
        Just("|--|\n"),
        Just("---"),
        Just("["),
        Just("](u)"),
        Just("<b>"),
        Just("\r\n"),
        Just("\r"),
        Just("\t"),
        Just("\x1b[1m"),
        Just("\x1b"),
        Just("&#27;"),
        Just("\u{202e}"),
        Just("é"),
        Just("word "),
        Just("[1]: u"),
        Just("![")
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn the_result_does_not_depend_on_the_pieces(text in text(), cuts in proptest::collection::vec(1_usize..7, 1..20)) {
        let mut markdown = Markdown::default();
        let mut output = String::new();
        let mut rest = text.as_str();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at(rest.ceil_char_boundary((*cut).min(rest.len())));
            output.push_str(&markdown.push(piece, WIDTH));
            rest = after;
        }
        output.push_str(&markdown.finish(WIDTH));
        prop_assert_eq!(output, whole(&text, WIDTH));
    }

    #[test]
    fn only_styles_contain_control_characters(text in prop_oneof![text(), any::<String>()]) {
        let output = plain(&text);
        let safe = |c: char| c == '\n' || c == '\t' || !c.is_control();
        prop_assert!(output.chars().all(safe), "{:?}", output);
    }

    #[test]
    fn no_letter_is_lost(
        words in proptest::collection::vec("[a-z]{3,6}", 1..12),
        mark in "[-*_`#>|~ \n\\[\\]()!.0-9<]{0,3}",
        width in 16_usize..100,
    ) {
        let text = words.join(&mark);
        let mut markdown = Markdown::default();
        let complete = markdown.push(&text, width);
        for part in [markdown.pending(width), markdown.finish(width)] {
            let output = strip_str(&format!("{complete}{part}")).to_string();
            for letter in 'a'..='z' {
                let count = |text: &str| text.matches(letter).count();
                prop_assert!(count(&output) >= count(&text), "{:?} shows {:?}", text, output);
            }
        }
    }

    #[test]
    fn only_code_is_wider_than_the_terminal(text in prose(), width in 16_usize..100) {
        // Three pieces in a row open a block of code.
        prop_assume!(!text.contains("```"));
        let mut markdown = Markdown::default();
        let complete = markdown.push(&text, width);
        for part in [markdown.pending(width), markdown.finish(width)] {
            let output = strip_str(&format!("{complete}{part}")).to_string();
            let widest = output.lines().map(crate::text::wrap::columns).max();
            prop_assert!(widest <= Some(width), "{}", output);
        }
    }
}

/// Returns text without code.
fn prose() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n"),
        Just("\n\n"),
        Just("\n- "),
        Just("\n12. "),
        Just("\n> "),
        Just("\n# "),
        Just("**"),
        Just("*"),
        Just("`"),
        Just("[x](https://a.very/long/target/of/a/link/that/is/broken)"),
        Just("\n\n| a | long head |\n|--|--:|\n| "),
        Just("\n\n---\n\n"),
        Just(" | "),
        Just(" |\n| "),
        Just("word "),
        Just("incomprehensibilities "),
        Just("字"),
        Just("👩‍🚀"),
        Just("é")
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}
