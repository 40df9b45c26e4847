//! A choice among many at the terminal: the user types words of an entry, and moves to it with the arrow keys.

use std::io;

use rustix::event::{PollFd, PollFlags, poll};
use tenter_base::one_line;
use tenter_terminal::question::SingleKeys;
use tenter_terminal::screen::{InputRows, screen};
use tenter_terminal::text::columns;
use tenter_terminal::{FAINT, NAME, styled, ui};

use crate::keys::{KeyPress, KeyReader};

/// Maximum number of entries shown at once.
const MAX_ROWS: usize = 12;
/// Number of rows of the screen for everything else.
const OTHER_ROWS: usize = 6;
/// The beginning of the row in which the user types.
const PROMPT: &str = "search: ";

/// An entry to choose.
#[derive(Debug, Clone)]
pub(crate) struct PickerEntry {
    /// Its title.
    pub(crate) title: String,
    /// Further facts, which are searched as well.
    pub(crate) details: String,
}

/// The search, and the place of the chosen entry among the entries that match it.
#[derive(Debug, Clone, Default)]
struct PickerState {
    search: String,
    chosen: usize,
}

/// Lets the user choose an entry, and returns its index; `None` if they leave with Ctrl-C or Ctrl-D.
pub(crate) fn pick(question: &str, entries: &[PickerEntry]) -> Option<usize> {
    let _working = screen().work();
    screen().suspended(|| {
        let single_keys = SingleKeys::begin_raw()?;
        ui::note_piece(question);
        let choice = choose(entries);
        screen().show_input_below_question(false);
        screen().set_input(None);
        drop(single_keys);
        choice
    })
}

fn choose(entries: &[PickerEntry]) -> Option<usize> {
    let mut state = PickerState::default();
    let mut reader = KeyReader::default();
    loop {
        show(entries, &state);
        for key in reader.read(&read_bytes()?) {
            match key {
                KeyPress::Interrupt | KeyPress::Close => return None,
                KeyPress::Enter => {
                    let matches = state.matches(entries);
                    if let Some(index) = matches.get(state.chosen) {
                        return Some(*index);
                    }
                }
                key => state.press(key, entries),
            }
        }
    }
}

/// Waits for keys; `None` if the terminal is gone.
fn read_bytes() -> Option<Vec<u8>> {
    let stdin = io::stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
    while matches!(poll(&mut watched, None), Err(rustix::io::Errno::INTR)) {}
    let mut bytes = vec![0; 256];
    let count = rustix::io::read(&stdin, &mut bytes).ok().filter(|count| *count > 0)?;
    bytes.truncate(count);
    Some(bytes)
}

fn show(entries: &[PickerEntry], state: &PickerState) {
    let (entries, state) = (entries.to_vec(), state.clone());
    let rows = ui::rows().saturating_sub(OTHER_ROWS).clamp(1, MAX_ROWS);
    screen().set_input(Some(Box::new(move |width| state.rows(&entries, width, rows))));
    screen().show_input_below_question(true);
}

impl PickerState {
    fn press(&mut self, key: KeyPress, entries: &[PickerEntry]) {
        match key {
            KeyPress::Up => self.chosen = self.chosen.saturating_sub(1),
            KeyPress::Down => {
                let last = self.matches(entries).len().saturating_sub(1);
                self.chosen = (self.chosen + 1).min(last);
            }
            KeyPress::Text(text) => self.search_for(|search| search.push_str(&text)),
            KeyPress::Backspace => self.search_for(|search| {
                search.pop();
            }),
            KeyPress::EraseBefore | KeyPress::EraseWord => self.search_for(String::clear),
            _ => {}
        }
    }

    fn search_for(&mut self, change: impl FnOnce(&mut String)) {
        change(&mut self.search);
        self.chosen = 0;
    }

    /// Returns the indices of the entries that contain every word of the search.
    fn matches(&self, entries: &[PickerEntry]) -> Vec<usize> {
        let search = self.search.to_lowercase();
        let is_match = |entry: &PickerEntry| {
            let text = format!("{} {}", entry.title, entry.details).to_lowercase();
            search.split_whitespace().all(|word| text.contains(word))
        };
        (0..entries.len()).filter(|index| is_match(&entries[*index])).collect()
    }

    fn rows(&self, entries: &[PickerEntry], width: usize, count: usize) -> InputRows {
        let matches = self.matches(entries);
        let first = (self.chosen + 1).saturating_sub(count);
        let row = |(position, index): (usize, &usize)| {
            let entry = &entries[*index];
            let room = width.saturating_sub(columns(&entry.details) + 5).max(20);
            let title = one_line(&entry.title, room);
            let details =
                styled(FAINT, one_line(&entry.details, width.saturating_sub(columns(&title) + 5)));
            if position == self.chosen {
                format!("{} {}  {details}", styled(NAME, "❯"), styled(NAME, title))
            } else {
                format!("  {title}  {details}")
            }
        };
        let visible = matches.iter().enumerate().skip(first).take(count);
        let mut rows: Vec<String> = visible.map(row).collect();
        if rows.is_empty() {
            rows.push(styled(FAINT, "  nothing matches"));
        }
        let rest = matches.len().saturating_sub(count);
        if rest > 0 {
            rows.push(styled(FAINT, format!("  {} of {}", self.chosen + 1, matches.len())));
        }
        rows.push(format!("{PROMPT}{}", one_line(&self.search, width.saturating_sub(12))));
        InputRows { rows, cursor_left: 0 }
    }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    fn entries() -> Vec<PickerEntry> {
        ["Fix the parser", "Write docs", "Parse the docs"]
            .map(|title| PickerEntry { title: title.to_owned(), details: "shop".to_owned() })
            .to_vec()
    }

    fn type_keys(keys: &[KeyPress]) -> (PickerState, Vec<String>) {
        let (entries, mut state) = (entries(), PickerState::default());
        for key in keys {
            state.press(key.clone(), &entries);
        }
        let rows = state.rows(&entries, 60, 2).rows;
        let rows = rows.iter().map(|row| strip_str(row).to_string()).collect();
        (state, rows)
    }

    #[test]
    fn words_filter_and_arrows_move() {
        let text = |text: &str| KeyPress::Text(text.to_owned());
        let (state, rows) = type_keys(&[text("DOCS"), KeyPress::Down, KeyPress::Down]);
        assert_eq!(state.matches(&entries())[state.chosen], 2);
        assert_eq!(rows, ["  Write docs  shop", "❯ Parse the docs  shop", "search: DOCS"]);
        let (_, rows) = type_keys(&[text("docs shop pars")]);
        assert_eq!(rows, ["❯ Parse the docs  shop", "search: docs shop pars"]);
        assert_eq!(type_keys(&[text("zz")]).1[0], "  nothing matches");
    }

    #[test]
    fn the_chosen_entry_is_always_visible() {
        let rows = type_keys(&[KeyPress::Down, KeyPress::Down]).1;
        let visible = ["  Write docs  shop", "❯ Parse the docs  shop", "  3 of 3", "search: "];
        assert_eq!(rows, visible);
    }
}
