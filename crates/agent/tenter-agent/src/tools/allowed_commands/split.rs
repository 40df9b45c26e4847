//! Splits a command line into simple commands, or rejects it. It supports a subset of shell syntax and rejects the rest.

/// Returns the simple commands of a line, with single spaces between their words.
pub(super) fn commands(line: &str) -> Result<Vec<String>, &'static str> {
    let mut splitter = Splitter { rest: line, command: String::new(), commands: Vec::new() };
    while let Some(letter) = splitter.rest.chars().next() {
        splitter.letter(letter)?;
    }
    splitter.end_command();
    Ok(splitter.commands)
}

struct Splitter<'l> {
    rest: &'l str,
    command: String,
    commands: Vec<String>,
}

impl Splitter<'_> {
    /// Consumes the next character and what belongs to it.
    fn letter(&mut self, letter: char) -> Result<(), &'static str> {
        match letter {
            ' ' | '\t' => {
                if !self.is_at_word_start() {
                    self.command.push(' ');
                }
                self.skip(1);
            }
            ';' | '&' | '|' | '\n' => {
                self.end_command();
                self.skip(1);
            }
            '\'' | '"' => self.read_quoted(letter)?,
            '\\' => self.read_escaped()?,
            '>' | '<' => self.redirection()?,
            '$' | '`' => {
                return Err("`$` and backquotes are expanded; put them in single quotes");
            }
            '(' | ')' => return Err("parentheses start a subshell"),
            '#' if self.is_at_word_start() => return Err("it holds a comment"),
            letter if letter.is_control() => return Err("it holds a control character"),
            letter => self.take(letter.len_utf8()),
        }
        Ok(())
    }

    /// Returns whether no word has started: words are separated by one space.
    fn is_at_word_start(&self) -> bool {
        self.command.is_empty() || self.command.ends_with(' ')
    }

    fn skip(&mut self, length: usize) {
        self.rest = &self.rest[length..];
    }

    fn take(&mut self, length: usize) {
        self.command.push_str(&self.rest[..length]);
        self.skip(length);
    }

    fn end_command(&mut self) {
        let command = std::mem::take(&mut self.command);
        let command = command.trim_end_matches(' ');
        if !command.is_empty() {
            self.commands.push(command.to_owned());
        }
    }

    /// Consumes a quoted text.
    fn read_quoted(&mut self, quote: char) -> Result<(), &'static str> {
        let mut letters = self.rest.char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            match letter {
                letter if letter == quote => {
                    self.take(at + 1);
                    return Ok(());
                }
                '\\' if quote == '"' => drop(letters.next()),
                '$' | '`' if quote == '"' => {
                    return Err("`$` and backquotes are expanded; put them in single quotes");
                }
                letter if letter.is_control() && !matches!(letter, '\n' | '\t') => {
                    return Err("it holds a control character");
                }
                _ => {}
            }
        }
        Err("a quote is not closed")
    }

    fn read_escaped(&mut self) -> Result<(), &'static str> {
        match self.rest[1..].chars().next() {
            None | Some('\n') => Err("it holds a backslash at a line's end"),
            Some(letter) if letter.is_control() => Err("it holds a control character"),
            Some(letter) => {
                self.take(1 + letter.len_utf8());
                Ok(())
            }
        }
    }

    /// Drops a redirection that writes nowhere, with the number before it.
    fn redirection(&mut self) -> Result<(), &'static str> {
        const REFUSED: &str = "it reads or writes a file by redirection";
        let after = self.rest.strip_prefix('>').ok_or(REFUSED)?;
        let target = match after.strip_prefix('&') {
            Some(stream) => stream.strip_prefix(['1', '2']),
            None => after
                .strip_prefix('>')
                .unwrap_or(after)
                .trim_start_matches([' ', '\t'])
                .strip_prefix("/dev/null"),
        };
        let rest = target.ok_or(REFUSED)?;
        let ends = rest
            .chars()
            .next()
            .is_none_or(|next| matches!(next, ' ' | '\t' | '\n' | ';' | '|' | '&'));
        // In `2>&1&>file` and in `a2>&1` the text means something else.
        if !ends || rest.starts_with("&>") || !self.drop_stream_number() {
            return Err(REFUSED);
        }
        self.rest = rest;
        Ok(())
    }

    /// Removes the `1` or `2` before a redirection. Returns `false` if a word ends there instead.
    fn drop_stream_number(&mut self) -> bool {
        if let Some(before) = self.command.strip_suffix(['1', '2'])
            && (before.is_empty() || before.ends_with(' '))
        {
            self.command.truncate(before.len());
        }
        self.is_at_word_start()
    }
}
