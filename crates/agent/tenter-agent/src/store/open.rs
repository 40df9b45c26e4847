//! Opens databases: directory, file, settings, migrations.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use tenter_base::{lock, private_dir};

use super::error::StoreFault;
use super::{StoreError, in_transaction, migrations};

/// Maximum wait for other processes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Serialises the creation of files. Closing a file, as creating one does, releases all locks that the process holds on
/// it, so it must not happen to a file that another thread has already opened with SQLite.
static MAKING: Mutex<()> = Mutex::new(());

/// Opens the store of conversations.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    make_file(path)?;
    open_file(path).and_then(|connection| set_up(connection, path)).map_err(|fault| fault.at(path))
}

/// Opens another database with the same settings. `before_format` is SQL that must run before a new file gets its format.
pub(crate) fn connect(path: &Path, before_format: &str) -> Result<Connection, StoreError> {
    make_file(path)?;
    let connected = open_file(path).and_then(|connection| {
        connection.execute_batch(before_format)?;
        use_settings(&connection)?;
        use_write_ahead_log(&connection)?;
        Ok(connection)
    });
    connected.map_err(|fault| fault.at(path))
}

fn open_file(path: &Path) -> Result<Connection, StoreFault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok(Connection::open_with_flags(path, flags)?)
}

pub(super) fn in_memory(name: &Path) -> Result<Connection, StoreError> {
    Connection::open_in_memory()
        .map_err(StoreFault::from)
        .and_then(|connection| set_up(connection, name))
        .map_err(|fault| fault.at(name))
}

/// Creates the file, accessible only to the user, and its directories, unless it exists.
fn make_file(path: &Path) -> Result<(), StoreError> {
    let _one_at_a_time = lock(&MAKING);
    if let Some(directory) = path.parent() {
        private_dir::create(directory)
            .map_err(|source| StoreError::Create { path: directory.to_owned(), source })?;
    }
    let source = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => return Ok(()),
        Err(_) if path.is_dir() => io::ErrorKind::IsADirectory.into(),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => error,
    };
    Err(StoreError::Create { path: path.to_owned(), source })
}

/// Applies the settings of the connection and of the file. The file is checked before it is changed.
fn set_up(mut connection: Connection, path: &Path) -> Result<Connection, StoreFault> {
    use_settings(&connection)?;
    in_transaction(&mut connection, TransactionBehavior::Deferred, |view| {
        migrations::steps_done(view, path, migrations::STEPS)
    })?;
    if connection.is_readonly("main")? {
        return Err(StoreError::ReadOnly { path: path.to_owned() }.into());
    }
    use_write_ahead_log(&connection)?;
    migrations::run(&mut connection, path, migrations::STEPS)?;
    Ok(connection)
}

/// Applies the settings of a connection, which change nothing in the file.
fn use_settings(connection: &Connection) -> Result<(), StoreFault> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // Deleted content is overwritten in the file.
    connection.pragma_update(None, "secure_delete", true)?;
    // With a write-ahead log this survives the death of the process at any moment; only a power failure may lose the last
    // exchanges, and it never damages the file.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(())
}

/// Switches the file to a write-ahead log. SQLite does not wait if several processes switch a new file at once, so this
/// retries like a writer.
fn use_write_ahead_log(connection: &Connection) -> Result<(), StoreFault> {
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        let switched = connection
            .query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))
            .map_err(StoreFault::from);
        match switched {
            Err(fault) if fault.is_busy() && Instant::now() < deadline => {
                connection.execute_batch("BEGIN IMMEDIATE; COMMIT")?;
            }
            other => return other,
        }
    }
}
