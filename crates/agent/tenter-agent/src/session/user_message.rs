//! A message from the user to the agent.

use tenter_protocol::Block;

/// A message to the agent. Hooks may change its text, but not its images.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserMessage {
    /// The text.
    pub text: String,
    /// Images, as returned by [`read_image`](crate::attachments::read_image).
    pub images: Vec<Block>,
    /// Further information for the model, such as what the user did since the last message. Hooks do not see it.
    pub notes: Vec<String>,
}

impl From<&str> for UserMessage {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}
