//! Parses a typed line: a message or a command, complete or not.

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChatInput<'l> {
    /// An empty line.
    Empty,
    /// A message to the agent.
    Message(String),
    /// A command for the user's shell.
    Shell {
        /// The command, trimmed.
        command: &'l str,
        /// True if the model reads its output.
        is_shared: bool,
    },
    /// A command to the chat.
    Command {
        /// The name, without the slash.
        name: &'l str,
        /// The rest of the line, trimmed.
        argument: &'l str,
    },
}

impl<'l> ChatInput<'l> {
    /// Parses a line. One slash begins a command; two begin a message with a slash. An exclamation mark begins a command for
    /// the shell; a backslash before it begins a message.
    pub(super) fn parse(line: &'l str) -> Self {
        let text = line.trim();
        if text.is_empty() {
            return Self::Empty;
        }
        if let Some(command) = text.strip_prefix('!') {
            let own = command.strip_prefix('!');
            return Self::Shell {
                command: own.unwrap_or(command).trim(),
                is_shared: own.is_none(),
            };
        }
        if let Some(literal) = text.strip_prefix('\\').filter(|rest| rest.starts_with('!')) {
            return Self::Message(join(literal));
        }
        match text.strip_prefix('/') {
            Some(literal) if literal.starts_with('/') => Self::Message(join(literal)),
            Some(command) => {
                let (name, argument) =
                    command.split_once(char::is_whitespace).unwrap_or((command, ""));
                Self::Command { name, argument: argument.trim() }
            }
            None => Self::Message(join(text)),
        }
    }
}

/// Returns the message without the backslashes that continue a line.
fn join(text: &str) -> String {
    let mut message = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n').filter(|line| is_continued(line)) {
            Some(line) => {
                message.push_str(&line[..line.len() - 1]);
                message.push('\n');
            }
            None => message.push_str(line),
        }
    }
    message
}

/// Checks whether the input continues on the next line: it ends in a backslash, or a block of code is open.
pub(super) fn is_unfinished(text: &str) -> bool {
    let is_command = text.starts_with('/') && !text.starts_with("//");
    let fences = text.lines().filter(|line| line.trim_start().starts_with("```")).count();
    !is_command && (is_continued(text) || fences % 2 == 1)
}

/// Checks whether a line ends in an odd number of backslashes; two stand for one.
fn is_continued(line: &str) -> bool {
    (line.len() - line.trim_end_matches('\\').len()) % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> ChatInput<'static> {
        ChatInput::Message(text.to_owned())
    }

    #[test]
    fn a_slash_begins_a_command() {
        assert_eq!(ChatInput::parse(" \n"), ChatInput::Empty);
        assert_eq!(ChatInput::parse("what is a/b?"), message("what is a/b?"));
        assert_eq!(ChatInput::parse("/help"), ChatInput::Command { name: "help", argument: "" });
        assert_eq!(
            ChatInput::parse("/model  a/b "),
            ChatInput::Command { name: "model", argument: "a/b" }
        );
        assert_eq!(ChatInput::parse("//usr is full"), message("/usr is full"));
        let shell = |command, is_shared| ChatInput::Shell { command, is_shared };
        assert_eq!(ChatInput::parse("!git status "), shell("git status", true));
        assert_eq!(ChatInput::parse("!! vi a"), shell("vi a", false));
        assert_eq!(ChatInput::parse("!"), shell("", true));
        assert_eq!(ChatInput::parse("\\!important"), message("!important"));
        assert_eq!(ChatInput::parse("go!"), message("go!"));
    }

    #[test]
    fn a_backslash_and_an_open_block_continue_the_input() {
        for (typed, unfinished) in [
            ("one \\", true),
            ("one \\\\", false),
            ("one \\\ntwo", false),
            ("see\n```rust\nfn a() {}", true),
            ("see\n```rust\nfn a() {}\n```", false),
            ("/model a\\", false),
            ("//a\\", true),
            ("", false),
        ] {
            assert_eq!(is_unfinished(typed), unfinished, "{typed:?}");
        }
        assert_eq!(ChatInput::parse("one \\\ntwo\\\\\nthree"), message("one \ntwo\\\\\nthree"));
    }
}
