//! A message from the user to the agent.

use tenter_protocol::Block;

/// A message to the agent. Hooks see its text and may change it; its pictures go with it as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserMessage {
    /// The text.
    pub text: String,
    /// Pictures, as [`read_image`](crate::attachments::read_image) makes them.
    pub images: Vec<Block>,
}

impl From<&str> for UserMessage {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), images: Vec::new() }
    }
}
