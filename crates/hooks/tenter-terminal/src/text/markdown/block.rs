//! Renders one block of Markdown as styled lines.

use anstyle::{Effects, Style};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use tenter_base::sanitize;

use super::line_start::without_deep_marks;
use super::table::Table;
use crate::style::{FAINT, GOOD, NAME, styled};
use crate::text::CodeLanguage;
use crate::text::code::highlight;
use crate::text::wrap::{StyledLine, columns};

/// Width of a horizontal rule, in columns.
const RULE: usize = 24;
/// Width of the rules around code, in columns.
const CODE_RULE: usize = 40;
/// Maximum width of text, in columns: longer lines are hard to read. Tables and code may be wider.
const TEXT: usize = 120;
/// Maximum number of cells in a row of a table.
const MAX_CELLS: usize = 100;
/// Minimum width for which blocks are laid out, in columns.
const NARROWEST: usize = 16;

/// The place that blocks have on the terminal.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BlockLayout {
    /// Maximum number of columns of a line, except in code.
    width: usize,
}

impl BlockLayout {
    /// Creates a layout for lines of this many columns.
    pub(super) fn new(width: usize) -> Self {
        Self { width: width.max(NARROWEST) }
    }

    /// Returns the line before code in this language, which may be empty. There is nothing left of code, so that it can be
    /// copied.
    pub(super) fn code_head(self, language: &str) -> StyledLine {
        if language.is_empty() {
            return self.code_end();
        }
        let width = CODE_RULE.min(self.width);
        let language = StyledLine::new(FAINT, &language.replace('\t', " "));
        let mut line = StyledLine::new(FAINT, "── ");
        line.append(&language.wrap(width.saturating_sub(6)).swap_remove(0));
        line.push(FAINT, " ");
        line.push(FAINT, &"─".repeat(width.saturating_sub(line.width())));
        line
    }

    /// Returns the line after code.
    pub(super) fn code_end(self) -> StyledLine {
        StyledLine::new(FAINT, &"─".repeat(CODE_RULE.min(self.width)))
    }

    /// Returns the layout within text that takes this many columns.
    fn within(self, columns: usize) -> Self {
        Self { width: self.width - columns }
    }
}

/// Returns the styled lines of the block, each with a line end.
pub(super) fn render(block: &str, layout: BlockLayout) -> String {
    let mut options = Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    // The parser adds missing cells to each row.
    let is_too_wide = |line: &str| line.matches('|').count() > MAX_CELLS;
    options.set(Options::ENABLE_TABLES, !block.lines().any(is_too_wide));
    let block: String = block.split_inclusive('\n').flat_map(without_deep_marks).collect();
    let parser = Parser::new_ext(&block, options);
    let mut targets: Vec<(usize, String)> = parser
        .reference_definitions()
        .iter()
        .map(|(label, target)| (target.span.start, format!("[{label}]: {}", target.dest)))
        .collect();
    targets.sort();
    let mut page = RenderedBlock::new(layout);
    parser.for_each(|event| page.see(event));
    for (_, target) in targets {
        page.text(&target, FAINT);
        page.end_line();
    }
    page.out
}

/// The state of rendering one block.
#[derive(Default)]
struct RenderedBlock {
    layout: BlockLayout,
    out: String,
    /// The incomplete line, and its text.
    line: StyledLine,
    plain: String,
    /// True if an empty line precedes the next block.
    gap: bool,
    /// The enclosing items and quotes, outermost first.
    within: Vec<Within>,
    /// The next number of each open list; `None` in a bulleted list.
    lists: Vec<Option<u64>>,
    emphasis: Emphasis,
    /// Targets of open links, and where their texts begin in the line.
    links: Vec<(String, usize)>,
    /// The code of the open code block.
    code: Option<String>,
    /// The language of that code.
    language: Option<&'static CodeLanguage>,
    table: Option<Table>,
}

/// The prefix of lines in an item or a quote.
struct Within {
    /// Prefix of the first line, until it is written.
    first: Option<String>,
    rest: String,
    width: usize,
}

/// The number of open emphases of each kind. They can be nested.
#[derive(Default)]
struct Emphasis {
    bold: usize,
    italic: usize,
    strikethrough: usize,
}

impl RenderedBlock {
    fn new(layout: BlockLayout) -> Self {
        Self { layout, ..Self::default() }
    }

    fn see(&mut self, event: Event) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.text(&text, Style::new()),
            },
            Event::Code(code) => {
                self.text("`", FAINT);
                self.text(&code, NAME);
                self.text("`", FAINT);
            }
            Event::Html(html) | Event::InlineHtml(html) => self.html(&html),
            Event::SoftBreak | Event::HardBreak if self.table.is_some() => {
                self.text(" ", Style::new());
            }
            Event::SoftBreak | Event::HardBreak => self.end_line(),
            Event::Rule => {
                self.begin_block();
                let width = RULE.min(self.inner().width);
                self.text(&"─".repeat(width), FAINT);
                self.end_block();
            }
            Event::TaskListMarker(true) => self.text("[x] ", GOOD),
            Event::TaskListMarker(false) => self.text("[ ] ", Style::new()),
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
                self.within.push(Within { first: None, rest: styled(FAINT, "│ "), width: 2 });
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
                    self.emphasis.bold = usize::from(table.rows.is_empty());
                    table.rows.push(Vec::new());
                }
            }
            Tag::Emphasis => self.emphasis.italic += 1,
            Tag::Strong => self.emphasis.bold += 1,
            Tag::Strikethrough => self.emphasis.strikethrough += 1,
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
                self.emphasis.bold -= 1;
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
            TagEnd::TableHead => self.emphasis.bold = 0,
            TagEnd::TableCell => self.end_cell(),
            TagEnd::Table => self.end_table(),
            TagEnd::Emphasis => self.emphasis.italic -= 1,
            TagEnd::Strong => self.emphasis.bold -= 1,
            TagEnd::Strikethrough => self.emphasis.strikethrough -= 1,
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    /// Appends text without control characters, which entities may contain.
    fn text(&mut self, text: &str, style: Style) {
        let text = sanitize(text).replace(['\n', '\t'], " ");
        let effects = style.get_effects() | self.emphasis.effects() | self.link_effects();
        self.line.push(style.effects(effects), &text);
        self.plain.push_str(&text);
    }

    fn link_effects(&self) -> Effects {
        if self.links.is_empty() { Effects::new() } else { Effects::UNDERLINE }
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
        self.text(&format!("{} ", "#".repeat(level as usize)), FAINT);
        self.emphasis.bold += 1;
    }

    fn begin_code(&mut self, kind: &CodeBlockKind) {
        self.begin_block();
        self.code = Some(String::new());
        let language = match kind {
            CodeBlockKind::Fenced(language) => language.trim(),
            CodeBlockKind::Indented => "",
        };
        self.language = CodeLanguage::named(language);
        let head = self.inner().code_head(&sanitize(language).replace('\n', " "));
        self.write_line(&head);
    }

    fn end_code(&mut self) {
        let code = self.code.take().unwrap_or_default();
        for line in sanitize(&code).lines() {
            self.write_line(&highlight(line, self.language));
        }
        self.write_line(&self.inner().code_end());
        self.gap = true;
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
        let width = columns(&mark);
        self.within.push(Within { first: None, rest: " ".repeat(width), width });
        let is_shown = self.shown().count() == self.within.len();
        if let Some(item) = self.within.last_mut().filter(|_| is_shown) {
            item.first = Some(mark);
        }
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
        self.plain.clear();
        let cell = std::mem::take(&mut self.line);
        if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
            row.push(cell);
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        for line in table.lines(self.inner().width) {
            self.write_line(&line);
        }
        self.gap = true;
    }

    fn begin_block(&mut self) {
        self.end_begun_line();
        if std::mem::take(&mut self.gap) {
            let before: String = self.shown().map(|within| within.rest.as_str()).collect();
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
        let line = std::mem::take(&mut self.line);
        self.plain.clear();
        for line in line.wrap(self.inner().width.min(TEXT)) {
            self.write_line(&line);
        }
    }

    fn write_line(&mut self, line: &StyledLine) {
        let count = self.shown().count();
        for within in self.within.iter_mut().take(count) {
            self.out.push_str(within.first.take().as_deref().unwrap_or(&within.rest));
        }
        self.out.push_str(&line.to_string());
        self.out.push('\n');
    }

    /// Returns the layout within the enclosing items and quotes.
    fn inner(&self) -> BlockLayout {
        self.layout.within(self.shown().map(|within| within.width).sum())
    }

    /// Returns the enclosing items and quotes whose prefix is shown: the inner ones of a deep nesting have none.
    fn shown(&self) -> impl Iterator<Item = &Within> {
        let mut room = self.layout.width / 2;
        self.within.iter().take_while(move |within| {
            let fits = within.width <= room;
            room = room.saturating_sub(within.width);
            fits
        })
    }
}

impl Emphasis {
    fn effects(&self) -> Effects {
        let effect_if = |count: usize, effect| if count > 0 { effect } else { Effects::new() };
        effect_if(self.bold, Effects::BOLD)
            | effect_if(self.italic, Effects::ITALIC)
            | effect_if(self.strikethrough, Effects::STRIKETHROUGH)
    }
}
