//! The screen of a terminal: an emulator that is fed with a program's output.

use avt::Terminal;

/// An emulated terminal, with everything that has scrolled off.
pub(super) struct Emulator {
    terminal: Terminal,
    /// The bytes of an incomplete character.
    incomplete_character: Vec<u8>,
}

#[expect(clippy::unwrap_used, reason = "a test fails if its terminal cannot be created")]
impl Emulator {
    pub(super) fn new((columns, rows): (u16, u16)) -> Self {
        let terminal = Terminal::with_scrollback(columns.into(), rows.into(), None).unwrap();
        Self { terminal, incomplete_character: Vec::new() }
    }

    /// Shows more output.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.incomplete_character.extend_from_slice(bytes);
        let cut = match std::str::from_utf8(&self.incomplete_character) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.incomplete_character.len(),
        };
        let rest = self.incomplete_character.split_off(cut);
        self.terminal.feed(&*String::from_utf8_lossy(&self.incomplete_character));
        self.incomplete_character = rest;
    }

    pub(super) fn resize(&mut self, (columns, rows): (u16, u16)) {
        self.terminal.resize(columns.into(), rows.into());
    }

    /// Returns the visible rows, without spaces at their ends.
    pub(super) fn rows(&self) -> Vec<String> {
        let lines = self.terminal.screen().visible_lines();
        lines.map(|line| line.text().trim_end().to_owned()).collect()
    }

    /// Returns every line so far, including those that have scrolled off. Wrapped rows are joined.
    pub(super) fn lines(&self) -> Vec<String> {
        self.terminal.screen().text()
    }

    /// Returns column and row of the cursor; `None` if it is hidden.
    pub(super) fn cursor(&self) -> Option<(usize, usize)> {
        self.terminal.cursor().position()
    }
}
