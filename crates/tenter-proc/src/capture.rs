//! A bounded record of a stream: its head and its tail, and how much there was.

/// What was kept of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes.
    pub head: Vec<u8>,
    /// The last bytes, where not everything was kept in `head`.
    pub tail: Vec<u8>,
    /// Bytes that came in all.
    pub total: u64,
}
