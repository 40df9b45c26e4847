//! The encoding of values in the tables: numbers, paths, messages.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tenter_base::excerpt;
use tenter_protocol::{Message, Role, json};

use super::{ChangeKind, HistoryEntry, Origin, StoredEntry};

/// A count or number. SQLite's integers are signed; larger values are clamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number(pub(super) u64);

impl ToSql for Number {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(i64::try_from(self.0).unwrap_or(i64::MAX).into())
    }
}

impl FromSql for Number {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = value.as_i64()?;
        u64::try_from(number).map(Self).map_err(|_| FromSqlError::OutOfRange(number))
    }
}

/// A path: text if it is UTF-8, so that it is readable, otherwise bytes.
#[derive(Debug)]
pub(crate) struct SqlPath(pub(crate) PathBuf);

impl ToSql for SqlPath {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self.0.to_str() {
            Some(text) => ValueRef::Text(text.as_bytes()),
            None => ValueRef::Blob(self.0.as_os_str().as_bytes()),
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

impl FromSql for SqlPath {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = value.as_bytes()?;
        Ok(Self(Path::new(OsStr::from_bytes(bytes)).to_owned()))
    }
}

impl FromSql for ChangeKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        let kind = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        kind.ok_or_else(|| {
            FromSqlError::Other(format!("the change of history {text:?} is unknown").into())
        })
    }
}

/// A message's row, as text.
pub(super) struct MessageRow {
    pub(super) sequence: u64,
    pub(super) at: String,
    pub(super) role: String,
    pub(super) origin: String,
    pub(super) blocks: String,
    pub(super) native: Option<String>,
}

impl MessageRow {
    /// Decodes the row. The error names the part that is unknown.
    pub(super) fn read(self) -> Result<StoredEntry, String> {
        let origin = Origin::parse(&self.origin)
            .ok_or_else(|| format!("the origin {:?} is unknown", self.origin))?;
        let message = read_message(&self.role, &self.blocks, self.native.as_deref())?;
        Ok(StoredEntry {
            sequence: self.sequence,
            at: self.at,
            entry: HistoryEntry { message, origin },
        })
    }
}

/// Decodes a message from its columns. The error names the one that is unknown.
pub(super) fn read_message(
    role: &str,
    blocks: &str,
    native: Option<&str>,
) -> Result<Message, String> {
    let role = match role {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        other => return Err(format!("the role {other:?} is unknown")),
    };
    let native = native.map(read_json).transpose()?;
    Ok(Message { native, ..Message::new(role, read_json(blocks)?) })
}

/// Returns the name of a role.
pub(super) fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

/// Encodes a value as JSON.
///
/// # Errors
/// When the JSON could not be parsed again, for instance because a tool's input is nested too deeply.
pub(super) fn write_json<T: Serialize + DeserializeOwned>(value: &T) -> Result<String, String> {
    let text = json::to_string(value);
    read_json::<T>(&text)?;
    Ok(text)
}

fn read_json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Returns `text` on one line of at most 80 characters; `None` if it is blank.
pub(super) fn one_line(text: &str) -> Option<String> {
    const WIDTH: usize = 80;
    Some(excerpt::one_line(text, WIDTH)).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_is_one_short_line() {
        assert_eq!(one_line(" fix\n\tthe\x1b[1m  test\r\n").as_deref(), Some("fix the [1m test"));
        assert_eq!(one_line(" \n"), None);
        assert_eq!(one_line(&"é".repeat(80)).unwrap().chars().count(), 80);
        let long = one_line(&"é".repeat(81)).unwrap();
        assert_eq!(long.chars().count(), 80);
        assert!(long.ends_with('…'));
    }
}
