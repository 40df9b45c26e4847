//! Renders one block of Markdown as styled lines.

use std::fmt::Write as _;

use anstyle::{Effects, Style};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use rustyline::GraphemeClusterMode;

use crate::sanitize::sanitize;
use crate::ui::{FAINT, NAME, styled};

/// Width of a horizontal rule, in characters.
const RULE: usize = 24;

/// A line of code.
pub(super) fn code_line(code: &str) -> String {
    format!("    {code}\n")
}

/// A line with the language of the code below it; empty if unknown.
pub(super) fn language_line(language: &str) -> String {
    if language.is_empty() { String::new() } else { format!("  {}\n", styled(FAINT, language)) }
}

/// The styled lines of the block, each with a line end.
pub(super) fn render(block: &str) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let parser = Parser::new_ext(block, options);
    let mut targets: Vec<(usize, String)> = parser
        .reference_definitions()
        .iter()
        .map(|(label, target)| (target.span.start, format!("[{label}]: {}", target.dest)))
        .collect();
    targets.sort();
    let mut page = Page::default();
    parser.for_each(|event| page.see(event));
    for (_, target) in targets {
        page.text(&target, FAINT);
        page.end_line();
    }
    page.out
}

/// The state of rendering one block.
#[derive(Default)]
struct Page {
    out: String,
    /// The incomplete line, styled and plain.
    line: String,
    plain: String,
    /// Whether an empty line precedes the next block.
    gap: bool,
    /// The enclosing items and quotes, outermost first.
    within: Vec<Within>,
    /// The next number of each open list; `None` in a bulleted list.
    lists: Vec<Option<u64>>,
    effects: Vec<Effects>,
    /// Targets of open links, and where their texts begin in the line.
    links: Vec<(String, usize)>,
    /// The code of the open code block.
    code: Option<String>,
    table: Option<Table>,
}

/// The prefix of lines in an item or a quote.
struct Within {
    /// Prefix of the first line, until it is written.
    first: Option<String>,
    rest: String,
}

#[derive(Default)]
struct Table {
    columns: Vec<Alignment>,
    /// Styled cells with their widths.
    rows: Vec<Vec<(String, usize)>>,
}

impl Page {
    fn see(&mut self, event: Event) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.text(&text, Style::new()),
            },
            Event::Code(code) => self.text(&format!("`{code}`"), NAME),
            Event::Html(html) | Event::InlineHtml(html) => self.html(&html),
            Event::SoftBreak | Event::HardBreak if self.table.is_some() => {
                self.text(" ", Style::new());
            }
            Event::SoftBreak | Event::HardBreak => self.end_line(),
            Event::Rule => {
                self.begin_block();
                self.text(&"─".repeat(RULE), FAINT);
                self.end_block();
            }
            Event::TaskListMarker(done) => {
                self.text(if done { "[x] " } else { "[ ] " }, Style::new());
            }
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text, Style::new());
            }
        }
    }

    fn begin(&mut self, tag: Tag) {
        match tag {
            Tag::Heading { level, .. } => self.begin_heading(level),
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.within.push(Within { first: None, rest: styled(FAINT, "│ ") });
            }
            Tag::CodeBlock(kind) => self.begin_code(&kind),
            Tag::List(start) => {
                self.end_begun_line();
                self.lists.push(start);
            }
            Tag::Item => self.begin_item(),
            Tag::Table(columns) => {
                self.begin_block();
                self.table = Some(Table { columns, rows: Vec::new() });
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::Emphasis => self.effects.push(Effects::ITALIC),
            Tag::Strong => self.effects.push(Effects::BOLD),
            Tag::Strikethrough => self.effects.push(Effects::STRIKETHROUGH),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push((dest_url.into_string(), self.plain.len()));
            }
            Tag::Paragraph | Tag::HtmlBlock => self.begin_block(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_block(),
            TagEnd::Heading(_) => {
                self.effects.pop();
                self.end_block();
            }
            TagEnd::BlockQuote(_) => {
                self.end_begun_line();
                self.within.pop();
                self.gap = true;
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.lists.pop();
                self.gap = self.lists.is_empty();
            }
            TagEnd::Item => self.end_item(),
            TagEnd::TableCell => self.end_cell(),
            TagEnd::Table => self.end_table(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.effects.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    /// Appends text without control characters, which entities may contain.
    fn text(&mut self, text: &str, style: Style) {
        let text = sanitize(text).replace('\n', " ");
        if text.is_empty() {
            return;
        }
        let effects = self.effects.iter().fold(style.get_effects(), |all, one| all | *one);
        let style = style.effects(effects);
        self.line.push_str(&styled(style, &text));
        self.plain.push_str(&text);
    }

    fn html(&mut self, html: &str) {
        let mut lines = html.split('\n');
        self.text(lines.next().unwrap_or_default(), Style::new());
        for line in lines {
            self.end_begun_line();
            self.text(line, Style::new());
        }
    }

    fn begin_heading(&mut self, level: HeadingLevel) {
        self.begin_block();
        self.effects.push(Effects::BOLD);
        self.text(&format!("{} ", "#".repeat(level as usize)), Style::new());
    }

    fn begin_code(&mut self, kind: &CodeBlockKind) {
        self.begin_block();
        self.code = Some(String::new());
        let CodeBlockKind::Fenced(language) = kind else { return };
        if !language.trim().is_empty() {
            self.indented("  ", language, FAINT);
        }
    }

    fn end_code(&mut self) {
        let code = self.code.take().unwrap_or_default();
        for line in code.lines() {
            self.indented("    ", line, Style::new());
        }
        self.gap = true;
    }

    fn indented(&mut self, indent: &str, text: &str, style: Style) {
        self.text(indent, Style::new());
        self.text(text, style);
        self.end_line();
    }

    fn begin_item(&mut self) {
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number += 1;
                mark
            }
            _ => "• ".to_owned(),
        };
        let rest = " ".repeat(mark.chars().count());
        self.within.push(Within { first: Some(mark), rest });
        self.gap = false;
    }

    fn end_item(&mut self) {
        let is_empty = self.within.last().is_some_and(|item| item.first.is_some());
        if is_empty || !self.line.is_empty() {
            self.end_line();
        }
        self.within.pop();
        self.gap = false;
    }

    fn end_link(&mut self) {
        let Some((target, start)) = self.links.pop() else { return };
        let text = self.plain.get(start..).unwrap_or_default();
        let says_it = text == target || target.strip_prefix("mailto:") == Some(text);
        if !says_it && !target.is_empty() {
            self.text(&format!(" ({target})"), FAINT);
        }
    }

    fn end_cell(&mut self) {
        let width = columns(&self.plain);
        self.plain.clear();
        let cell = (std::mem::take(&mut self.line), width);
        if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
            row.push(cell);
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let widths = table.widths();
        for (index, row) in table.rows.iter().enumerate() {
            self.line = table.row(row, &widths);
            self.end_line();
            if index == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                self.line = styled(FAINT, rules.join("─┼─"));
                self.end_line();
            }
        }
        self.gap = true;
    }

    fn begin_block(&mut self) {
        self.end_begun_line();
        if std::mem::take(&mut self.gap) {
            let before: String = self.within.iter().map(|within| within.rest.as_str()).collect();
            self.out.push_str(before.trim_end());
            self.out.push('\n');
        }
    }

    fn end_block(&mut self) {
        self.end_begun_line();
        self.gap = true;
    }

    fn end_begun_line(&mut self) {
        if !self.line.is_empty() {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        for within in &mut self.within {
            self.out.push_str(within.first.take().as_deref().unwrap_or(&within.rest));
        }
        self.out.push_str(&self.line);
        self.out.push('\n');
        self.line.clear();
        self.plain.clear();
    }
}

/// Width of a text on the terminal in columns; approximate for texts wider than any terminal.
fn columns(text: &str) -> usize {
    if text.len() > usize::from(u16::MAX) {
        return text.chars().count();
    }
    GraphemeClusterMode::Unicode.width(text).into()
}

impl Table {
    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|(_, width)| *width).max().unwrap_or(0)
        };
        (0..self.columns.len()).map(width).collect()
    }

    /// A row as a line, without trailing spaces.
    fn row(&self, cells: &[(String, usize)], widths: &[usize]) -> String {
        let mut line = String::new();
        for (index, (cell, width)) in cells.iter().enumerate() {
            let free = widths.get(index).map_or(0, |widest| widest - width);
            let before = match self.columns.get(index) {
                Some(Alignment::Right) => free,
                Some(Alignment::Center) => free / 2,
                _ => 0,
            };
            let after = if index + 1 == cells.len() { 0 } else { free - before };
            let bar = if index == 0 { String::new() } else { styled(FAINT, " │ ") };
            // The width in a format is limited; cells are not.
            let _ = write!(line, "{bar}{}{cell}{}", " ".repeat(before), " ".repeat(after));
        }
        line
    }
}
