//! The one reader of JSON that other programs write: replies of hooks, and the payloads of hosts (R82, R88).

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

use super::repair::repair;
use crate::Object;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// The beginning of the keys by which `serde_json` marks numbers and raw text in a data model that has neither.
const MARK: &str = "$serde_json::private::";
/// The key that marks a number.
const NUMBER: &str = "$serde_json::private::Number";

/// Selects the value of a repeated key: whether the first of two is kept.
pub(crate) type KeepsFirst = fn(key: &str, first: &Value, second: &Value) -> bool;

/// A value, and what is wrong with its text.
pub(crate) struct ReadValue {
    pub(crate) value: Value,
    /// The first key that an object in it has several times.
    pub(crate) repeated_key: Option<String>,
}

/// Reads a value as programs write it: with lone surrogates, bytes that are not UTF-8, control characters in strings, and `NaN`.
/// Numbers stay as they are written; of a repeated key the last value counts.
///
/// # Errors
/// It is not JSON, or is nested too deeply.
pub fn read(bytes: &[u8]) -> serde_json::Result<Value> {
    read_selecting(bytes, |_, _, _| false).map(|result| result.value)
}

/// Reads as [`read`], and reports repeated keys, whose value `keeps_first` selects.
pub(crate) fn read_selecting(
    bytes: &[u8],
    keeps_first: KeepsFirst,
) -> serde_json::Result<ReadValue> {
    let content = trim(bytes);
    strict(content, keeps_first).or_else(|_| strict(repair(content).as_bytes(), keeps_first))
}

/// Reads a value of type `T` from the text of one: strict JSON first, since most is.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_as<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(bytes).or_else(|error| {
        // A value of another type is no text to repair.
        if error.is_data() { Err(error) } else { serde_json::from_str(&repair(bytes)) }
    })
}

/// Returns `bytes` without a byte order mark, and without white space and NULs around it.
pub(crate) fn trim(bytes: &[u8]) -> &[u8] {
    fn inner(mut bytes: &[u8]) -> &[u8] {
        let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
        while let [first, rest @ ..] = bytes
            && is_blank(first)
        {
            bytes = rest;
        }
        while let [rest @ .., last] = bytes
            && is_blank(last)
        {
            bytes = rest;
        }
        bytes
    }
    let bytes = inner(bytes);
    bytes.strip_prefix(BYTE_ORDER_MARK).map_or(bytes, inner)
}

fn strict(text: &[u8], keeps_first: KeepsFirst) -> serde_json::Result<ReadValue> {
    let repeated_key = RefCell::new(None);
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = Seed { keeps_first, repeated_key: &repeated_key }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(ReadValue { value, repeated_key: repeated_key.into_inner() })
}

#[derive(Clone, Copy)]
struct Seed<'r> {
    keeps_first: KeepsFirst,
    repeated_key: &'r RefCell<Option<String>>,
}

impl Seed<'_> {
    fn insert(self, object: &mut Object, key: String, value: Value) {
        // Such a key would be read as something else the next time.
        let key = if key.starts_with(MARK) { key[1..].to_owned() } else { key };
        let Some(first) = object.get_mut(&key) else {
            object.insert(key, value);
            return;
        };
        if !(self.keeps_first)(&key, first, &value) {
            *first = value;
        }
        // Keys that were different before they were repaired are not repeated.
        if !key.contains('\u{fffd}') {
            self.repeated_key.borrow_mut().get_or_insert(key);
        }
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(self)? {
            list.push(element);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Object::new();
        let mut next = entries.next_key::<String>()?;
        if next.as_deref() == Some(NUMBER) {
            let value = entries.next_value_seed(self)?;
            let number = value.as_str().and_then(|text| text.parse::<Number>().ok());
            next = entries.next_key()?;
            match number {
                Some(number) if next.is_none() => return Ok(Value::Number(number)),
                _ => self.insert(&mut object, NUMBER.to_owned(), value),
            }
        }
        while let Some(key) = next {
            let value = entries.next_value_seed(self)?;
            self.insert(&mut object, key, value);
            next = entries.next_key()?;
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_that_real_programs_write_is_read() {
        for (text, expected) in [
            (&br#"{"a": "x\udcff"}"#[..], json!({"a": "x\u{fffd}"})),
            (
                br#"{"a": "\ud83d\ude00 \ud83d \ude00"}"#,
                json!({"a": "\u{1f600} \u{fffd} \u{fffd}"}),
            ),
            (br#"{"a": "\ud83d\n"}"#, json!({"a": "\u{fffd}\n"})),
            (b"{\"a\": \"x\xff\"}", json!({"a": "x\u{fffd}"})),
            (b"{\"a\xed\xb3\xbf\": 1}", json!({"a\u{fffd}\u{fffd}\u{fffd}": 1})),
            (b"{\"a\": \"one\ntwo\t\x00\x1b\"}", json!({"a": "one\ntwo\t\0\u{1b}"})),
            (br#"{"a": "C:\dir \u12 \""}"#, json!({"a": r#"C:\dir \u12 ""#})),
            (
                b"{\"a\": NaN, \"b\": [-Infinity, Infinity, -1]}",
                json!({"a": null, "b": [null, null, -1]}),
            ),
            (b"\xef\xbb\xbf {\r\n\"a\": \"NaN\"}\r\n\0\0", json!({"a": "NaN"})),
        ] {
            assert_eq!(read(text).unwrap(), expected, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        for text in [
            "",
            "{",
            r#"{"a": "don't say "rm""}"#,
            "{} {}",
            "{\"a\": Nan}",
            "{\"a\": \"\\",
            "[1,]",
            "{\"a\": \"x",
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
        assert!(read(format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)).as_bytes()).is_err());
    }

    #[test]
    fn numbers_stay_as_they_are_written() {
        // The exponent has a sign in serde_json's form.
        let text = r#"{"a":[1.10,1e+400,12345678901234567890123,-0,-0.0,1e-2,0.1],"b":7}"#;
        assert_eq!(read(text.as_bytes()).unwrap().to_string(), text);
        assert_eq!(read(b"1E400").unwrap().to_string(), "1e+400");
    }

    #[test]
    fn keys_by_which_the_parser_marks_values_are_ordinary_keys() {
        for (text, expected) in [
            (
                r#"{"$serde_json::private::Number": "x"}"#,
                json!({"serde_json::private::Number": "x"}),
            ),
            (
                r#"{"$serde_json::private::Number": "1", "a": 2}"#,
                json!({"serde_json::private::Number": "1", "a": 2}),
            ),
            (
                r#"{"$serde_json::private::RawValue": "{]"}"#,
                json!({"serde_json::private::RawValue": "{]"}),
            ),
        ] {
            let value = read(text.as_bytes()).unwrap();
            assert_eq!(value, expected, "{text}");
            let again: Value = serde_json::from_str(&value.to_string()).unwrap();
            assert_eq!(again, value);
        }
    }

    #[test]
    fn a_repeated_key_is_reported_at_every_depth() {
        let repeated_key =
            |text: &str| read_selecting(text.as_bytes(), |_, _, _| false).unwrap().repeated_key;
        assert_eq!(repeated_key(r#"{"a": 1, "b": [{"c": 1, "c": 2}]}"#).as_deref(), Some("c"));
        assert_eq!(repeated_key(r#"{"a": 1, "b": {"a": 1}}"#), None);
        assert_eq!(repeated_key(r#"{"\udcff": 1, "\udcfe": 1}"#), None);
    }
}
