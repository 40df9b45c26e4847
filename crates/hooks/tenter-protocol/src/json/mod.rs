//! JSON as hooks read it: on one line, with `": "` and `", "` as separators (R41). Scripts that grep for `"command": "` depend
//! on them.

mod read;
mod repair;

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

pub use read::read;
pub(crate) use read::{read_as, read_selecting, trim};

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

/// Serialises `value` as JSON on one line, with a space after each separator.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, Spaced);
    // Writing to memory cannot fail, and no type here has keys that are not strings.
    if let Err(error) = value.serialize(&mut serializer) {
        unreachable!("a value that is not JSON: {error}");
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Returns [`to_string`] with a newline at the end.
pub fn to_line<T: Serialize + ?Sized>(value: &T) -> String {
    let mut line = to_string(value);
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn separators_are_spaced_and_order_is_kept() {
        let value = json!({"b": [1, 2], "a": {"command": "rm -rf /etc"}, "e": {}, "l": []});
        assert_eq!(
            to_string(&value),
            r#"{"b": [1, 2], "a": {"command": "rm -rf /etc"}, "e": {}, "l": []}"#
        );
    }
}
