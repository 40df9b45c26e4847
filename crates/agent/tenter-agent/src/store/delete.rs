//! Deletes conversations for good: rows, indexed words, and their remains in the file.

use std::path::Path;

use rusqlite::{Transaction, params};
use tenter_base::lock;

use super::encoding::SqlPath;
use super::error::StoreFault;
use super::{Store, StoreError, Summary, index, read};

impl Store {
    /// Deletes conversations and the conversations of their subagents: all of them, or none if one does not exist. A process that is
    /// using one of them gets an error with its next save. Returns how many were deleted, including subagents'.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], or SQLite's error.
    pub fn delete(&self, ids: &[String]) -> Result<usize, StoreError> {
        let count = self.write(|transaction| {
            for id in ids {
                read::position(transaction, id)?;
            }
            let mut total = 0;
            for id in ids {
                total += delete_family(transaction, id)?;
            }
            index::forget_deleted(transaction)?;
            Ok(total)
        })?;
        self.empty_log();
        Ok(count)
    }

    /// Returns the conversations last saved before `before` (RFC 3339 in UTC with `Z`), of one project or of all. A
    /// subagent's conversation is selected with its parent, as long as that exists.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn older_than(
        &self,
        before: &str,
        project: Option<&Path>,
    ) -> Result<Vec<Summary>, StoreError> {
        self.read(|view| {
            let mut statement = view.prepare_cached(
                "SELECT id FROM conversations AS one
                 WHERE rtrim(updated_at, 'Z') < rtrim(?1, 'Z') AND (?2 IS NULL OR project = ?2)
                    AND NOT EXISTS (SELECT 1 FROM conversations AS other WHERE other.id = one.parent)
                 ORDER BY rtrim(updated_at, 'Z') DESC, rowid DESC",
            )?;
            let project = project.map(|path| SqlPath(path.to_owned()));
            let ids = statement.query_map(params![before, project], |row| row.get(0))?;
            let ids: Vec<String> = ids.collect::<Result<_, _>>()?;
            ids.iter().map(|id| read::summary(view, id)).collect()
        })
    }

    /// Empties the write-ahead log, which may contain deleted text. While another process reads, it cannot be emptied;
    /// the next writer empties it.
    fn empty_log(&self) {
        let connection = lock(&self.connection);
        let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
}

fn delete_family(transaction: &Transaction<'_>, id: &str) -> Result<usize, StoreFault> {
    let sql = "WITH RECURSIVE family (id) AS (
            SELECT ?1 UNION SELECT child.id FROM conversations AS child JOIN family ON child.parent = family.id)
         DELETE FROM conversations WHERE id IN (SELECT id FROM family)";
    Ok(transaction.prepare_cached(sql)?.execute([id])?)
}
