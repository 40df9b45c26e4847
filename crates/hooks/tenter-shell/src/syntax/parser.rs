//! The position in a text, and what all parts of the parser share.

use crate::limits::{self, MAX_COMMANDS, MAX_DEPTH, MAX_REDIRECTIONS, MAX_STEPS};

use super::tree::{HereDoc, List};

/// Reads a text from the start to the end.
pub(super) struct Parser<'a> {
    /// The text within the limit, which grows by the bodies of here-documents.
    pub(super) text: &'a str,
    pub(super) all: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) heredocs: Vec<HereDoc>,
    /// The here-documents whose bodies start at the next line.
    pub(super) pending: Vec<usize>,
    pub(super) is_broken: bool,
    /// A limit was reached.
    pub(super) is_limited: bool,
    /// Number of bytes that were looked at, for the test of linear time.
    pub(super) work: usize,
    /// Number of bytes that may be looked at ahead of the position.
    ahead: usize,
    pub(super) counts: Counts,
}

/// Numbers of parts that were read: beyond their limits, nothing would become a fact.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    commands: usize,
    nodes: usize,
    redirections: usize,
}

impl Counts {
    /// Checks whether there are more commands or nodes than are read.
    pub(super) fn is_full(self) -> bool {
        self.commands > MAX_COMMANDS || self.nodes > MAX_STEPS
    }
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, depth: usize) -> Self {
        Self {
            text,
            all: text,
            bytes: text.as_bytes(),
            at: 0,
            depth,
            heredocs: Vec::new(),
            pending: Vec::new(),
            is_broken: false,
            is_limited: false,
            work: 0,
            ahead: 4 * text.len(),
            counts: Counts::default(),
        }
    }

    /// Creates a parser of a text whose here-documents do not count in the limit of bytes.
    pub(super) fn with_heredocs(all: &'a str, depth: usize) -> Self {
        let all = limits::start(all, limits::MAX_HEREDOC_BYTES);
        Self { all, ..Self::new(limits::start(all, limits::MAX_BYTES), depth) }
    }

    /// Lets the text grow by a number of bytes.
    pub(super) fn grow(&mut self, bytes: usize) {
        self.text = limits::start(self.all, self.text.len() + bytes);
        self.bytes = self.text.as_bytes();
    }

    /// Counts a node of the tree. At the limit, the text ends.
    pub(super) fn count_node(&mut self) {
        self.counts.nodes += 1;
        self.stop_if_full();
    }

    /// Counts a command that becomes a fact. At the limit, the text ends.
    pub(super) fn count_command(&mut self) {
        self.counts.commands += 1;
        self.stop_if_full();
    }

    /// Ends the text if there are more commands or nodes than are read.
    pub(super) fn stop_if_full(&mut self) {
        if self.counts.is_full() {
            self.at = self.bytes.len();
            self.reach_limit();
        }
    }

    /// Counts a redirection. `false` at the limit.
    pub(super) fn count_redirection(&mut self) -> bool {
        self.counts.redirections += 1;
        let is_within = self.counts.redirections <= MAX_REDIRECTIONS;
        if !is_within {
            self.reach_limit();
        }
        is_within
    }

    /// Notes that a part of the text is beyond a limit.
    pub(super) fn reach_limit(&mut self) {
        self.is_broken = true;
        self.is_limited = true;
    }

    /// Parses the whole text. What cannot start a command is skipped.
    pub(super) fn whole(&mut self) -> List {
        let mut all = self.list();
        while self.at < self.bytes.len() {
            self.is_broken = true;
            self.skip_stray();
            all.append(&mut self.list());
        }
        all
    }

    /// Skips the token that no command starts with: `)`, `}`, `fi`, `;;`.
    fn skip_stray(&mut self) {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric()) {
            self.at += 1;
        }
        if self.at == start {
            self.bump();
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, offset: usize) -> Option<u8> {
        self.bytes.get(self.at + offset).copied()
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.bytes[self.at..].starts_with(text.as_bytes())
    }

    /// Moves over a text, if it is next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let is_next = self.starts_with(text);
        if is_next {
            self.at += text.len();
        }
        is_next
    }

    /// Moves over one character.
    pub(super) fn bump(&mut self) -> Option<char> {
        self.work += 1;
        let next = self.text[self.at..].chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Runs a part of the parser one level deeper. `None` at the limit, where nothing was read.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            self.reach_limit();
            return None;
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        Some(value)
    }

    /// Blanks and line continuations.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            self.work += 1;
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                Some(b'\\') if self.starts_with("\\\r\n") => self.at += 3,
                _ => return,
            }
        }
    }

    /// Skips a comment, if one is next.
    pub(super) fn skip_comment(&mut self) {
        if self.peek() == Some(b'#') {
            while self.peek().is_some_and(|byte| byte != b'\n') {
                self.work += 1;
                self.at += 1;
            }
        }
    }

    /// Blanks, comments and new lines, and the here-documents that the new lines start.
    pub(super) fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            self.skip_comment();
            if self.peek() != Some(b'\n') {
                return;
            }
            self.new_line();
        }
    }

    /// Moves over a new line, and reads the bodies of the here-documents that start there.
    pub(super) fn new_line(&mut self) {
        self.at += 1;
        self.read_heredocs();
    }

    /// Checks whether `((` is closed by `))` rather than being two subshells. Looks ahead within a limit for the whole text.
    pub(super) fn is_arithmetic(&mut self, start: usize) -> bool {
        let mut open = 0_usize;
        let mut at = start;
        while let Some(byte) = self.bytes.get(at) {
            if self.ahead == 0 {
                self.is_broken = true;
                return false;
            }
            self.ahead -= 1;
            self.work += 1;
            match byte {
                b'\\' => at += 1,
                b'(' => open += 1,
                b')' if open > 0 => open -= 1,
                b')' => return self.bytes.get(at + 1) == Some(&b')'),
                _ => {}
            }
            at += 1;
        }
        false
    }
}

/// Checks whether a byte ends a word.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

/// Checks whether a text is a variable's name.
pub(super) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
