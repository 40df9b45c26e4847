//! Reads the pages of `docs/`: their examples, tables, headings and links. Knows the part of Markdown that they use, and
//! fails on what it would misread.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A page.
pub(super) struct Page {
    /// Its file's name.
    pub(super) name: String,
    path: PathBuf,
    pub(super) blocks: Vec<Block>,
    pub(super) tables: Vec<Table>,
    headings: Vec<String>,
    pub(super) links: Vec<String>,
}

/// A fenced block and what its comment says of it.
pub(super) struct Block {
    /// Page and line, for messages.
    pub(super) place: String,
    /// The page and the heading of the second level that it stands under.
    pub(super) section: String,
    /// The nearest heading.
    pub(super) heading: String,
    pub(super) note: Note,
    pub(super) text: String,
}

/// A comment `<!-- test: KIND REST … -->`.
#[derive(Clone, Default)]
pub(super) struct Note {
    pub(super) kind: String,
    /// The text after the kind on its line.
    pub(super) rest: String,
    /// The lines `key: value`, in order.
    pub(super) lines: Vec<(String, String)>,
}

impl Note {
    /// Returns the value of the first line with this key.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.lines.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

/// A table, and the heading that it stands under.
pub(super) struct Table {
    pub(super) heading: String,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// Returns the first cells, which name the rows.
    pub(super) fn names(&self) -> Vec<&str> {
        self.rows.iter().map(|row| row[0].as_str()).collect()
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns every page of `docs/`, and the payloads of real runs, sorted by path.
pub(super) fn pages() -> Vec<Page> {
    let dirs = ["docs", "crates/tenter/tests/it/docs/payloads"];
    let entries = dirs.iter().flat_map(|dir| fs::read_dir(root().join(dir)).unwrap());
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

/// Returns the text of a page.
pub(super) fn text_of(name: &str) -> String {
    fs::read_to_string(root().join("docs").join(name)).unwrap()
}

/// Returns the page of `docs/` with this name.
pub(super) fn page(name: &str) -> Page {
    read(&root().join("docs").join(name))
}

/// Returns the first table of a page whose first column has this title.
pub(super) fn table(name: &str, first_column: &str) -> Table {
    let mut tables = page(name).tables.into_iter();
    let table = tables.find(|table| table.header[0] == first_column);
    table.unwrap_or_else(|| panic!("{name} has no table {first_column}"))
}

/// Returns the README, of which only the links are tested here.
pub(super) fn readme() -> Option<Page> {
    let path = root().join("README.md");
    path.exists()
        .then(|| Page { links: links(&fs::read_to_string(&path).unwrap()), ..Page::new(&path) })
}

/// Returns true if the target of a link from `page` exists: a file, a heading or both. Links into the world are
/// believed.
pub(super) fn leads_somewhere(page: &Page, link: &str) -> bool {
    if link.contains("://") {
        return true;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target =
        if file.is_empty() { page.path.clone() } else { page.path.parent().unwrap().join(file) };
    if anchor.is_empty() || !target.exists() {
        return target.exists();
    }
    let text = fs::read_to_string(&target).unwrap();
    lines_outside_fences(&text)
        .into_iter()
        .filter_map(heading)
        .any(|(_, title)| slug(title) == anchor)
}

/// Returns a heading's anchor, as GitHub makes it.
fn slug(title: &str) -> String {
    let anchor = title.to_lowercase();
    let letters = anchor.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    letters.map(|c| if c == ' ' { '-' } else { c }).collect()
}

impl Page {
    fn new(path: &Path) -> Self {
        Self {
            name: path.file_name().unwrap().to_string_lossy().into_owned(),
            path: path.to_owned(),
            blocks: Vec::new(),
            tables: Vec::new(),
            headings: vec![String::new(); 6],
            links: Vec::new(),
        }
    }

    /// Returns the Markdown of the page.
    pub(super) fn text(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }

    /// Returns the names in the tables under a heading whose first column is "Field".
    pub(super) fn fields(&self, heading: &str) -> BTreeSet<&str> {
        let tables = self.tables.iter().filter(|table| table.header[0] == "Field");
        tables.filter(|table| table.heading == heading).flat_map(Table::names).collect()
    }

    fn see_example(&mut self, place: String, note: Note, body: &[&str]) {
        let section =
            format!("{} {}", self.name, self.headings.get(1).cloned().unwrap_or_default());
        let heading = self.nearest_heading();
        let text = body.join("\n") + "\n";
        self.blocks.push(Block { place, section, heading, note, text });
    }

    fn see_text(&mut self, line: &str, above: &str) {
        if let Some((level, title)) = heading(line) {
            self.headings.truncate(level - 1);
            self.headings.resize(level - 1, String::new());
            self.headings.push(title.replace('`', ""));
        } else if line.starts_with('|') {
            self.see_row(line, !above.starts_with('|'));
        }
    }

    fn nearest_heading(&self) -> String {
        self.headings.last().cloned().unwrap_or_default()
    }

    fn see_row(&mut self, line: &str, begins_table: bool) {
        let cells = cells(line);
        if begins_table {
            let heading = self.nearest_heading();
            self.tables.push(Table { heading, header: cells, rows: Vec::new() });
        } else if !cells.iter().all(|cell| cell.chars().all(|c| c == '-')) {
            let table = self.tables.last_mut().unwrap();
            assert_eq!(cells.len(), table.header.len(), "{}: {line}", self.name);
            table.rows.push(cells);
        }
    }
}

fn read(path: &Path) -> Page {
    let text = fs::read_to_string(path).unwrap();
    let mut page = Page { links: links(&text), ..Page::new(path) };
    let mut note: Option<Note> = None;
    let mut above = "";
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let place = format!("{}:{}", page.name, index + 1);
        let mut following = lines.by_ref().map(|(_, line)| line);
        if line.starts_with("```") {
            let body: Vec<&str> = following.take_while(|line| *line != "```").collect();
            let note = note.take().unwrap_or_else(|| panic!("{place}: this is not tested"));
            page.see_example(place, note, &body);
        } else if let Some(comment) = line.strip_prefix("<!-- test: ") {
            let mut comment = vec![comment];
            while !comment.last().unwrap().ends_with("-->") {
                comment.push(following.next().unwrap_or_else(|| panic!("{place}: no end")));
            }
            note = Some(read_note(&place, &comment));
        } else {
            assert!(note.is_none(), "{place}: a test without an example");
            assert!(!line.trim_start().starts_with("```"), "{place}: an indented example");
            page.see_text(line, above);
        }
        above = line;
    }
    page
}

fn read_note(place: &str, comment: &[&str]) -> Note {
    let mut lines = comment.iter().map(|line| line.trim_end_matches("-->").trim());
    let first = lines.next().unwrap_or_default();
    let (kind, rest) = first.split_once(' ').unwrap_or((first, ""));
    let pair = |line: &str| {
        let (key, value) = line.split_once(": ").unwrap_or_else(|| panic!("{place}: {line}"));
        (key.to_owned(), value.to_owned())
    };
    let lines = lines.filter(|line| !line.is_empty()).map(pair).collect();
    Note { kind: kind.to_owned(), rest: rest.to_owned(), lines }
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line.get(level..)?.strip_prefix(' ')?;
    (level > 0).then_some((level, title))
}

/// Returns a row's cells: without the marks of code where the whole cell is code, and with `\|` as `|`.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches('|').trim_end_matches('|').replace("\\|", "\0");
    let cell = |cell: &str| {
        let cell = cell.trim().replace('\0', "|");
        let code = cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`'));
        code.filter(|code| !code.contains('`')).map_or_else(|| cell.clone(), str::to_owned)
    };
    line.split('|').map(cell).collect()
}

fn lines_outside_fences(text: &str) -> Vec<&str> {
    let mut inside = false;
    let is_outside = |line: &&str| {
        let is_fence = line.starts_with("```");
        inside ^= is_fence;
        !inside && !is_fence
    };
    text.lines().filter(is_outside).collect()
}

/// Returns the targets of `[text](target)`.
fn links(text: &str) -> Vec<String> {
    let targets = |line: &str| -> Vec<String> {
        let after = line.split("](").skip(1);
        after.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect()
    };
    lines_outside_fences(text).into_iter().flat_map(targets).collect()
}
