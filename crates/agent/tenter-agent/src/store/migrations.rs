//! The numbered migrations from an empty file to the current tables.
//!
//! A released step is never edited: databases that have run it would not run it again. A change is a new file.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::error::StoreFault;
use super::{StoreError, in_transaction};

/// All steps, in order, as SQL. A database's `user_version` is the number of steps that it has run.
pub(super) const STEPS: &[&str] = &[
    include_str!("migrations/0001_conversations.sql"),
    include_str!("migrations/0002_search_and_costs.sql"),
    include_str!("migrations/0003_callback_failures.sql"),
];

/// Identifies the file as a conversation store: SQLite's `application_id`.
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"tntr");

/// Runs the steps that the database has not run yet: all of them, or none if one fails.
pub(super) fn run(
    connection: &mut Connection,
    path: &Path,
    steps: &[&str],
) -> Result<(), StoreFault> {
    let result = in_transaction(connection, TransactionBehavior::Deferred, |view| {
        steps_done(view, path, steps)
    })?;
    if result == steps.len() {
        return Ok(());
    }
    in_transaction(connection, TransactionBehavior::Immediate, |transaction| {
        // Another process may have migrated it since.
        let count = steps_done(transaction, path, steps)?;
        for step in steps.iter().skip(count) {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(
            None,
            "user_version",
            i64::try_from(steps.len()).unwrap_or(i64::MAX),
        )?;
        Ok(())
    })
}

/// Returns the number of `steps` that the database at `path` has run.
///
/// # Errors
/// When the database is not a conversation store, or has run more steps than there are.
pub(super) fn steps_done(
    view: &Transaction<'_>,
    path: &Path,
    steps: &[&str],
) -> Result<usize, StoreFault> {
    let number = |sql: &str| view.query_row(sql, [], |row| row.get::<_, i64>(0));
    let version = number("PRAGMA user_version")?;
    let application = number("PRAGMA application_id")?;
    let objects = number("SELECT count(*) FROM sqlite_schema")?;
    if application == 0 && objects == 0 && version == 0 {
        return Ok(0);
    }
    match usize::try_from(version) {
        Ok(format) if application == i64::from(APPLICATION_ID) => {
            if format > steps.len() {
                return Err(
                    StoreError::Newer { path: path.to_owned(), format, max: steps.len() }.into()
                );
            }
            Ok(format)
        }
        _ => Err(StoreError::NotAStore { path: path.to_owned() }.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: &[&str] = &[
        "CREATE TABLE pets (name TEXT NOT NULL) STRICT; INSERT INTO pets VALUES ('Rex');",
        "ALTER TABLE pets ADD COLUMN legs INTEGER NOT NULL DEFAULT 4;",
        "UPDATE pets SET legs = legs - 1; CREATE INDEX pets_by_legs ON pets (legs);",
    ];

    fn empty() -> Connection {
        Connection::open_in_memory().unwrap()
    }

    fn migrate(connection: &mut Connection, steps: &[&str]) -> Result<(), StoreFault> {
        run(connection, Path::new("test"), steps)
    }

    fn schema(connection: &Connection) -> Vec<String> {
        let mut statement = connection
            .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
            .unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    fn version(connection: &Connection) -> i64 {
        connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn every_older_version_migrates_to_the_current_schema() {
        for steps in [THREE, STEPS] {
            let mut fresh = empty();
            migrate(&mut fresh, steps).unwrap();
            for stop in 0..=steps.len() {
                let mut connection = empty();
                migrate(&mut connection, &steps[..stop]).unwrap();
                migrate(&mut connection, steps).unwrap();
                assert_eq!(schema(&connection), schema(&fresh), "from version {stop}");
                assert_eq!(version(&connection), i64::try_from(steps.len()).unwrap());
            }
        }
    }

    #[test]
    fn a_step_runs_once_and_keeps_existing_data() {
        let mut connection = empty();
        migrate(&mut connection, &THREE[..2]).unwrap();
        connection.execute("INSERT INTO pets VALUES ('Tripod', 4)", []).unwrap();
        migrate(&mut connection, THREE).unwrap();
        migrate(&mut connection, THREE).unwrap();
        let legs: i64 =
            connection.query_row("SELECT sum(legs) FROM pets", [], |row| row.get(0)).unwrap();
        assert_eq!(legs, 6);
    }

    #[test]
    fn a_failing_step_rolls_back_the_steps_before_it() {
        let mut connection = empty();
        migrate(&mut connection, &THREE[..1]).unwrap();
        let steps = [THREE[0], THREE[1], "CREATE TABLE pets (twice TEXT)"];
        assert!(matches!(migrate(&mut connection, &steps), Err(StoreFault::Sqlite(_))));
        assert_eq!(version(&connection), 1);
        assert!(!schema(&connection)[0].contains("legs"));
    }

    #[test]
    fn a_newer_format_is_refused_with_both_numbers() {
        let mut connection = empty();
        migrate(&mut connection, THREE).unwrap();
        let error = migrate(&mut connection, &THREE[..1]).unwrap_err();
        assert!(
            matches!(error, StoreFault::Store(StoreError::Newer { format: 3, max: 1, .. })),
            "{error:?}"
        );
    }

    #[test]
    fn a_foreign_database_is_not_changed() {
        for foreign in
            ["CREATE TABLE theirs (x)", "PRAGMA user_version = 7", "PRAGMA application_id = 7"]
        {
            let mut connection = empty();
            connection.execute_batch(foreign).unwrap();
            let before = schema(&connection);
            let error = migrate(&mut connection, STEPS).unwrap_err();
            assert!(
                matches!(error, StoreFault::Store(StoreError::NotAStore { .. })),
                "{foreign}: {error:?}"
            );
            assert_eq!(schema(&connection), before);
        }
    }
}
