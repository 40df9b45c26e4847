//! The two fields that are whole numbers.

use super::findings::{self, Kind};
use super::reader::Reader;
use super::scalar::{Meaning, Scalar, Style, plain};
use super::tree::Entry;

/// A field that is a whole number.
pub(super) struct Number {
    key: &'static str,
    kind: &'static Kind,
    pub(super) least: i64,
    pub(super) most: i64,
    /// What it is when the manifest does not say.
    pub(super) default: i64,
    /// What to write, as the end of a sentence.
    meant: &'static str,
}

/// How long a hook may take.
pub(super) const TIMEOUT: Number = Number {
    key: "timeout",
    kind: &findings::TIMEOUT,
    least: 100,
    most: 600_000,
    default: 30_000,
    meant: "a number of milliseconds from 100 to 600000",
};

/// Which hook runs earlier.
pub(super) const PRIORITY: Number = Number {
    key: "priority",
    kind: &findings::PRIORITY,
    least: 0,
    most: 1000,
    default: 100,
    meant: "a number from 0 to 1000; the higher runs earlier",
};

impl Number {
    /// The number, within its range.
    pub(super) fn read(&self, reader: &mut Reader<'_, '_>) -> i64 {
        let Some(entry) = reader.entry(self.key) else { return self.default };
        let Some(scalar) = reader.scalar(entry, self.kind, self.meant) else { return self.default };
        let Meaning::Integer(number) = plain(&scalar.text) else {
            self.complain(entry, "is no whole number", self.default, reader);
            return self.default;
        };
        if scalar.style != Style::Plain {
            reader.unquote(entry, scalar, self.kind);
        }
        self.clamp(number, entry, scalar, reader)
    }

    fn clamp(
        &self,
        number: i64,
        entry: &Entry,
        scalar: &Scalar,
        reader: &mut Reader<'_, '_>,
    ) -> i64 {
        let (what, used) = match number {
            number if number < self.least => ("less", self.least),
            number if number > self.most => ("more", self.most),
            number => return number,
        };
        let what = format!("is {}, {what} than {used}", scalar.text);
        self.complain(entry, &what, used, reader);
        used
    }

    fn complain(&self, entry: &Entry, what: &str, used: i64, reader: &mut Reader<'_, '_>) {
        let instead = reader.findings.instead(self.kind, &format!("{used} is used"));
        let message = format!("`{}` {what}{instead}", self.key);
        let help = format!("write {}", self.meant);
        reader.findings.add(self.kind, Some(&entry.value.at), message, help);
    }
}
