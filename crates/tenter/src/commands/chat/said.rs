//! What a typed line is: a message or a command; and whether it is whole.

/// What was said.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said<'l> {
    /// Nothing.
    Nothing,
    /// A message to the agent.
    Message(String),
    /// A command to the chat.
    Command {
        /// Its name, without the slash.
        name: &'l str,
        /// What follows, without spaces around it.
        argument: &'l str,
    },
}

impl<'l> Said<'l> {
    /// A line that begins with a slash is a command; with two, a message that begins with one.
    pub(super) fn parse(line: &'l str) -> Self {
        let text = line.trim();
        if text.is_empty() {
            return Self::Nothing;
        }
        match text.strip_prefix('/') {
            Some(literal) if literal.starts_with('/') => Self::Message(joined(literal)),
            Some(command) => {
                let (name, argument) =
                    command.split_once(char::is_whitespace).unwrap_or((command, ""));
                Self::Command { name, argument: argument.trim() }
            }
            None => Self::Message(joined(text)),
        }
    }
}

/// The message without the backslashes that only said that it goes on.
fn joined(text: &str) -> String {
    let mut message = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n').filter(|line| goes_on(line)) {
            Some(line) => {
                message.push_str(&line[..line.len() - 1]);
                message.push('\n');
            }
            None => message.push_str(line),
        }
    }
    message
}

/// Whether more lines belong to what was typed: its last one ends in a backslash, or a block of code is open.
pub(super) fn is_unfinished(typed: &str) -> bool {
    let is_command = typed.starts_with('/') && !typed.starts_with("//");
    let fences = typed.lines().filter(|line| line.trim_start().starts_with("```")).count();
    !is_command && (goes_on(typed) || fences % 2 == 1)
}

/// An odd number of backslashes at the end: two stand for themselves.
fn goes_on(line: &str) -> bool {
    (line.len() - line.trim_end_matches('\\').len()) % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Said<'static> {
        Said::Message(text.to_owned())
    }

    #[test]
    fn slashes_tell_commands_from_messages() {
        assert_eq!(Said::parse(" \n"), Said::Nothing);
        assert_eq!(Said::parse("what is a/b?"), message("what is a/b?"));
        assert_eq!(Said::parse("/help"), Said::Command { name: "help", argument: "" });
        assert_eq!(Said::parse("/model  a/b "), Said::Command { name: "model", argument: "a/b" });
        assert_eq!(Said::parse("//usr is full"), message("/usr is full"));
    }

    #[test]
    fn a_backslash_and_an_open_block_go_on() {
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
        assert_eq!(Said::parse("one \\\ntwo\\\\\nthree"), message("one \ntwo\\\\\nthree"));
    }
}
