//! Limits how much one tool call reads (R79), and lets reads be cancelled.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};

use tenter_proc::Cancel;

/// The number of bytes that one tool call may still read.
#[derive(Debug)]
pub(crate) struct ReadBudget<'c> {
    remaining: Cell<u64>,
    cancel: &'c Cancel,
}

/// A file that ends when the call's budget is spent, and fails to read once the call is cancelled.
#[derive(Debug)]
pub(crate) struct BudgetedFile<'b> {
    file: File,
    budget: &'b ReadBudget<'b>,
}

impl<'c> ReadBudget<'c> {
    /// Creates a budget of `bytes` bytes.
    pub(crate) fn new(bytes: u64, cancel: &'c Cancel) -> Self {
        Self { remaining: Cell::new(bytes), cancel }
    }

    /// Returns whether nothing more may be read.
    pub(crate) fn is_spent(&self) -> bool {
        self.remaining.get() == 0
    }

    /// Wraps `file` so that its reads count towards this budget.
    pub(crate) fn open(&self, file: File) -> BudgetedFile<'_> {
        BudgetedFile { file, budget: self }
    }
}

impl Read for BudgetedFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.budget.cancel.is_cancelled() {
            return Err(io::Error::other("interrupted"));
        }
        let remaining = self.budget.remaining.get();
        let room = usize::try_from(remaining).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.file.read(&mut buffer[..room])?;
        self.budget.remaining.set(remaining - count as u64);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_shared_by_the_files_of_a_call_and_cancelling_stops_reads() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("file");
        std::fs::write(&path, "12345").unwrap();
        let cancel = Cancel::new();
        let budget = ReadBudget::new(7, &cancel);
        let refill = || {
            let mut text = String::new();
            budget.open(File::open(&path).unwrap()).read_to_string(&mut text).map(|_| text)
        };
        assert_eq!(refill().unwrap(), "12345");
        assert!(!budget.is_spent());
        assert_eq!(refill().unwrap(), "12");
        assert!(budget.is_spent());
        cancel.cancel();
        assert!(refill().is_err());
    }
}
