//! Rewrites shell commands for metamorphic tests: other texts that run the same commands, and texts that only contain them as data.

mod bash;
mod frames;
mod words;

pub use bash::{Argv, commands_run};
pub use frames::{as_data, frame};
pub use words::PlainCommand;

/// Returns a text as one word in single quotes.
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
