//! Transcripts of OpenCode and of Kilo, which is made of it: SQLite databases. Measured with 1.18.33 and 7.7.7.

use std::io;
use std::path::{Path, PathBuf};

use super::{TranscriptReader, TranscriptSession};
use crate::places::{HostPlaces, files_below, is_named};

/// Returns the first text in a session of a database; `None` if there is none, and in a build without SQLite.
pub(crate) fn first_words(file: &Path, session: &str) -> Option<String> {
    #[cfg(feature = "sqlite")]
    return database::first_words(file, session).ok().flatten();
    #[cfg(not(feature = "sqlite"))]
    None.filter(|_: &String| file.exists() && !session.is_empty())
}

pub(super) const OPENCODE: TranscriptReader =
    TranscriptReader::new("opencode", |places| files(places, "opencode"), read);
pub(super) const KILO: TranscriptReader =
    TranscriptReader::new("kilo", |places| files(places, "kilo"), read);

/// Lists the databases of an agent, whose directory and databases have its name.
fn files(places: &HostPlaces, host: &str) -> Vec<PathBuf> {
    let data = places.directory("XDG_DATA_HOME", ".local/share").join(host);
    files_below(&data, 0, |path| is_named(path, host, ".db"))
}

#[cfg(not(feature = "sqlite"))]
fn read(_session: &mut TranscriptSession<'_, '_>) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this build of tenter has no SQLite"))
}

#[cfg(feature = "sqlite")]
fn read(session: &mut TranscriptSession<'_, '_>) -> io::Result<()> {
    database::read(session).map_err(|error| match error {
        // The text of the error repeats the query.
        rusqlite::Error::SqlInputError { msg, .. } => io::Error::other(msg),
        error => io::Error::other(error),
    })
}

#[cfg(feature = "sqlite")]
mod database {
    use std::path::Path;

    use rusqlite::{Connection, OpenFlags, Row};
    use serde_json::Value;

    use super::super::{TranscriptSession, directory, native, text};
    use crate::recorded::{CallEnd, DenialSource};

    /// Parts of messages without a call.
    const OTHERS: [&str; 11] = *tenter_base::words!(
        "agent compaction file patch reasoning retry snapshot step-finish step-start subtask text"
    );

    /// Maximum length of a part, in bytes.
    const MAX_PART: i64 = 16 << 20;

    pub(super) fn read(session: &mut TranscriptSession<'_, '_>) -> rusqlite::Result<()> {
        let database = open(&session.file)?;
        let mut statement = database.prepare(
            "SELECT part.data, part.time_created, session.id, session.parent_id, session.directory
             FROM part JOIN session ON session.id = part.session_id
             WHERE length(part.data) <= ?1 ORDER BY part.time_created, part.id",
        )?;
        let mut rows = statement.query([MAX_PART])?;
        while let Some(row) = rows.next()? {
            read_part(session, row)?;
        }
        let count = "SELECT count(*) FROM part WHERE length(data) > ?1";
        let long: u32 = database.query_row(count, [MAX_PART], |row| row.get(0))?;
        session.calls.counts.long_lines += u64::from(long);
        count_newer(&database, session)
    }

    pub(super) fn first_words(file: &Path, session: &str) -> rusqlite::Result<Option<String>> {
        let database = open(file)?;
        let mut statement = database.prepare(
            "SELECT data FROM part WHERE session_id = ?1 AND length(data) <= ?2
             ORDER BY time_created, id LIMIT 20",
        )?;
        let mut rows = statement.query((session, MAX_PART))?;
        while let Some(row) = rows.next()? {
            let part: Value = serde_json::from_str(&row.get::<_, String>(0)?).unwrap_or_default();
            if part["type"] == "text" && part["synthetic"] != true {
                return Ok(Some(text(&part, "text").to_owned()));
            }
        }
        Ok(None)
    }

    /// Opens a database without changing anything: without a log of its own, SQLite would create one.
    fn open(file: &Path) -> rusqlite::Result<Connection> {
        let log = file.with_extension("db-wal");
        let mode = if log.exists() { "mode=ro" } else { "mode=ro&immutable=1" };
        let path = file.to_string_lossy();
        let path = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        Connection::open_with_flags(format!("file:{path}?{mode}"), flags)
    }

    fn read_part(session: &mut TranscriptSession<'_, '_>, row: &Row<'_>) -> rusqlite::Result<()> {
        let data: String = row.get(0)?;
        let Ok(part) = serde_json::from_str::<Value>(&data) else {
            session.calls.counts.unreadable_lines += 1;
            return Ok(());
        };
        match text(&part, "type") {
            "tool" => {}
            kind if OTHERS.contains(&kind) => return Ok(()),
            kind => {
                session.add_unknown(kind);
                return Ok(());
            }
        }
        let creation: i64 = row.get(1)?;
        let (id, parent): (String, Option<String>) = (row.get(2)?, row.get(3)?);
        let cwd: Value = row.get::<_, String>(4)?.into();
        session.agent = parent.is_some().then(|| id.clone());
        session.id = parent.unwrap_or(id);
        session.cwd = directory(&cwd);
        let state = &part["state"];
        let native = native(&part["callID"], text(&part, "tool"), &state["input"]);
        session.begin(&creation.into(), native);
        if let Some(end) = end(state) {
            session.calls.end(text(&part, "callID"), end);
        }
        Ok(())
    }

    /// Returns the end of a call; `None` if it has not ended.
    fn end(state: &Value) -> Option<CallEnd> {
        let error = text(state, "error");
        match text(state, "status") {
            "completed" => Some(CallEnd::Succeeded),
            "error" if error.starts_with("The user rejected permission") => {
                Some(CallEnd::Denied(DenialSource::User))
            }
            "error" if error.starts_with("The user has specified a rule") => {
                Some(CallEnd::Denied(DenialSource::Rule))
            }
            "error" => Some(CallEnd::Failed),
            _ => None,
        }
    }

    /// Counts the messages of a newer form, which is not read.
    fn count_newer(
        database: &Connection,
        session: &mut TranscriptSession<'_, '_>,
    ) -> rusqlite::Result<()> {
        for table in ["session_message", "session_v2"] {
            if !database.table_exists(None, table)? {
                continue;
            }
            let count = format!("SELECT count(*) FROM {table}");
            let count: u32 = database.query_row(&count, [], |row| row.get(0))?;
            (0..count).for_each(|_| session.add_unknown(table));
        }
        Ok(())
    }
}
