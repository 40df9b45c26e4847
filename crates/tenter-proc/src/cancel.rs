//! A switch that ends running work; it can be waited for beside pipes.

/// A switch that is thrown once and for all its clones.
#[derive(Debug, Clone, Default)]
pub struct Cancel {}

impl Cancel {
    /// A switch that is not thrown.
    pub fn new() -> Self {
        Self::default()
    }
    /// Throws it.
    pub fn cancel(&self) {}
    /// Whether it was thrown.
    pub fn is_cancelled(&self) -> bool {
        false
    }
}
