//! Unix.
