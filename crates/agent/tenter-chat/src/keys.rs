//! Keys that are read from the terminal as bytes.

/// The sequences that the terminal sends around a paste.
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// A key press, or a paste.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyPress {
    /// Typed or pasted text.
    Text(String),
    Enter,
    /// Alt-Enter.
    NewLine,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    /// Home or Ctrl-A.
    Start,
    /// End or Ctrl-E.
    End,
    /// Ctrl-W or Alt-Backspace.
    EraseWord,
    /// Ctrl-U.
    EraseBefore,
    /// Ctrl-K.
    EraseAfter,
    /// Ctrl-O.
    Expand,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    Close,
}

/// Turns bytes into keys. An incomplete sequence waits for its rest.
#[derive(Debug, Default)]
pub(crate) struct KeyReader(Vec<u8>);

impl KeyReader {
    /// Returns the keys that are complete with these bytes.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Vec<KeyPress> {
        self.0.extend_from_slice(bytes);
        let mut keys = Vec::new();
        let mut position = 0;
        while let Some((length, key)) = first_key(&self.0[position..]) {
            position += length;
            keys.extend(key);
        }
        self.0.drain(..position);
        keys
    }

    /// Returns whether the end of a paste is missing.
    pub(crate) fn is_in_paste(&self) -> bool {
        self.0.starts_with(PASTE_BEGINS)
    }
}

/// Returns the number of bytes of the first key, and the key, unless it means nothing here. `None` if it is incomplete.
fn first_key(bytes: &[u8]) -> Option<(usize, Option<KeyPress>)> {
    if let Some(paste) = bytes.strip_prefix(PASTE_BEGINS) {
        let end = paste.windows(PASTE_ENDS.len()).position(|window| window == PASTE_ENDS)?;
        let text = pasted(&String::from_utf8_lossy(&paste[..end]));
        return Some((PASTE_BEGINS.len() + end + PASTE_ENDS.len(), Some(KeyPress::Text(text))));
    }
    let first = *bytes.first()?;
    let key = match first {
        b'\x1b' => return escape_sequence(bytes),
        b'\r' | b'\n' => KeyPress::Enter,
        b'\x08' | b'\x7f' => KeyPress::Backspace,
        b'\x01' => KeyPress::Start,
        b'\x02' => KeyPress::Left,
        b'\x03' => KeyPress::Interrupt,
        b'\x04' => KeyPress::Close,
        b'\x05' => KeyPress::End,
        b'\x06' => KeyPress::Right,
        b'\x0b' => KeyPress::EraseAfter,
        b'\x0f' => KeyPress::Expand,
        b'\x15' => KeyPress::EraseBefore,
        b'\x17' => KeyPress::EraseWord,
        b'\t' => KeyPress::Text("\t".to_owned()),
        _ if first.is_ascii_control() => return Some((1, None)),
        _ => return character(bytes),
    };
    Some((1, Some(key)))
}

/// Reads a sequence that begins with Escape, or a key with Alt.
fn escape_sequence(bytes: &[u8]) -> Option<(usize, Option<KeyPress>)> {
    let (length, name): (usize, &[u8]) = match bytes.get(1)? {
        b'\r' | b'\n' => return Some((2, Some(KeyPress::NewLine))),
        b'\x08' | b'\x7f' => return Some((2, Some(KeyPress::EraseWord))),
        b'O' => (3, bytes.get(2..3)?),
        b'[' => {
            let end = bytes[2..].iter().position(|byte| (b'\x40'..=b'\x7e').contains(byte))?;
            (end + 3, &bytes[2..end + 3])
        }
        _ => return Some((2, None)),
    };
    let key = match name {
        b"A" => Some(KeyPress::Up),
        b"B" => Some(KeyPress::Down),
        b"C" => Some(KeyPress::Right),
        b"D" => Some(KeyPress::Left),
        b"H" | b"1~" | b"7~" => Some(KeyPress::Start),
        b"F" | b"4~" | b"8~" => Some(KeyPress::End),
        b"3~" => Some(KeyPress::Delete),
        _ => None,
    };
    Some((length, key))
}

/// Reads a character in UTF-8. Bytes that are none are skipped.
fn character(bytes: &[u8]) -> Option<(usize, Option<KeyPress>)> {
    let length = match bytes[0] {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
        _ => 1,
    };
    match std::str::from_utf8(bytes.get(..length)?) {
        Ok(text) => Some((length, Some(KeyPress::Text(text.to_owned())))),
        Err(_) => Some((1, None)),
    }
}

/// Returns a pasted text without control characters.
fn pasted(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> KeyPress {
        KeyPress::Text(text.to_owned())
    }

    #[test]
    fn bytes_become_keys() {
        let read = |bytes: &str| KeyReader::default().read(bytes.as_bytes());
        assert_eq!(read("aé\r"), [text("a"), text("é"), KeyPress::Enter]);
        assert_eq!(
            read("\x1b[D\x1bOH\x1b[3~"),
            [KeyPress::Left, KeyPress::Start, KeyPress::Delete]
        );
        assert_eq!(
            read("\x1b\r\x17\x0f"),
            [KeyPress::NewLine, KeyPress::EraseWord, KeyPress::Expand]
        );
        assert_eq!(read("\x1b[200~a\r b\x07\x1b[201~c"), [text("a\n b"), text("c")]);
        assert_eq!(read("\x1b[15~\x1bx\0"), []);
    }

    #[test]
    fn an_incomplete_sequence_waits_for_its_rest() {
        let bytes = "é\x1b[200~日\r\x1b[201~\x1b[C";
        for split in 0..bytes.len() {
            let mut reader = KeyReader::default();
            let mut keys = reader.read(&bytes.as_bytes()[..split]);
            keys.extend(reader.read(&bytes.as_bytes()[split..]));
            assert_eq!(keys, [text("é"), text("日\n"), KeyPress::Right], "{split}");
        }
    }
}
