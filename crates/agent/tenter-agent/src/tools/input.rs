//! Decodes a call's JSON into a tool's typed input, with errors that name the field, and types for limited inputs.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Error as _, IntoDeserializer, MapAccess, Unexpected, Visitor,
};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tenter_protocol::Object;

/// Decodes a call's input. A field that is `null` counts as absent: models fill in optional fields that way.
pub(crate) fn decode<T: DeserializeOwned>(input: &Object) -> Result<T, String> {
    let mut fields = Fields { rest: input.iter(), reading: None };
    T::deserialize(MapAccessDeserializer::new(&mut fields)).map_err(|error| match fields.reading {
        Some((field, _)) => format!("{field}: {error}"),
        None => error.to_string(),
    })
}

/// The fields of an input, remembering which one is being read: after an error it is the one at fault.
struct Fields<'a> {
    rest: serde_json::map::Iter<'a>,
    reading: Option<(&'a str, &'a Value)>,
}

impl<'de> MapAccess<'de> for &mut Fields<'de> {
    type Error = serde_json::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Self::Error> {
        let Some((key, value)) = self.rest.find(|(_, value)| !value.is_null()) else {
            return Ok(None);
        };
        let name = seed.deserialize(key.as_str().into_deserializer())?;
        self.reading = Some((key, value));
        Ok(Some(name))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, Self::Error> {
        let value = self.reading.map_or(&Value::Null, |(_, value)| value);
        let input = seed.deserialize(value)?;
        self.reading = None;
        Ok(input)
    }
}

/// A non-empty text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NonEmpty(pub(crate) String);

impl<'de> Deserialize<'de> for NonEmpty {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() {
            Err(serde::de::Error::custom("must not be empty"))
        } else {
            Ok(Self(text))
        }
    }
}

impl JsonSchema for NonEmpty {
    fn schema_name() -> Cow<'static, str> {
        "NonEmpty".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "minLength": 1})
    }
}

/// A whole number from `MIN` to `MAX`, both included. `10.0` is a whole number: some models write all numbers that way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounded<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Bounded<MIN, MAX> {
    /// Returns the number.
    pub(crate) fn get(self) -> u64 {
        self.0
    }

    /// Returns the number as a `usize`.
    pub(crate) fn as_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Bounded<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = WholeNumber::<MIN, MAX>;
        let number = match Value::deserialize(deserializer)? {
            Value::Number(number) => number,
            other => return Err(D::Error::invalid_type(unexpected(&other), &expected)),
        };
        let whole = match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => expected.visit_u64(whole),
            (None, Some(negative)) => {
                Err(D::Error::invalid_value(Unexpected::Signed(negative), &expected))
            }
            (None, None) => expected.visit_f64(number.as_f64().unwrap_or(f64::INFINITY)),
        };
        whole.map(Self)
    }
}

/// Returns a value that is not a number, for a message.
fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(boolean) => Unexpected::Bool(*boolean),
        Value::Number(_) => Unexpected::Other("number"),
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

struct WholeNumber<const MIN: u64, const MAX: u64>;

impl<const MIN: u64, const MAX: u64> Visitor<'_> for WholeNumber<MIN, MAX> {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if MAX == u64::MAX {
            write!(f, "a whole number from {MIN}")
        } else {
            write!(f, "a whole number between {MIN} and {MAX}")
        }
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<u64, E> {
        if (MIN..=MAX).contains(&number) {
            Ok(number)
        } else {
            Err(E::invalid_value(serde::de::Unexpected::Unsigned(number), &self))
        }
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<u64, E> {
        // Beyond 2^53 a float does not represent every whole number.
        if number.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&number) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "checked on the line above"
            )]
            let whole = number as u64;
            self.visit_u64(whole)
        } else {
            Err(E::invalid_value(serde::de::Unexpected::Float(number), &self))
        }
    }
}

impl<const MIN: u64, const MAX: u64> JsonSchema for Bounded<MIN, MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("Bounded_{MIN}_{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        if MAX == u64::MAX {
            json_schema!({"type": "integer", "minimum": MIN})
        } else {
            json_schema!({"type": "integer", "minimum": MIN, "maximum": MAX})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Input {
        name: NonEmpty,
        #[serde(default)]
        count: Option<Bounded<1, 10>>,
        #[serde(default)]
        quiet: bool,
    }

    fn read(value: &Value) -> Result<Input, String> {
        decode(value.as_object().unwrap())
    }

    #[test]
    fn an_error_names_its_field() {
        assert_eq!(
            read(&json!({"name": 7})).unwrap_err(),
            "name: invalid type: number, expected a string"
        );
        assert_eq!(read(&json!({"name": ""})).unwrap_err(), "name: must not be empty");
        assert_eq!(
            read(&json!({"name": "a", "count": 11})).unwrap_err(),
            "count: invalid value: integer `11`, expected a whole number between 1 and 10"
        );
        assert_eq!(read(&json!({"count": 3})).unwrap_err(), "missing field `name`");
        assert_eq!(
            read(&json!({"name": "a", "cuont": 1})).unwrap_err(),
            "unknown field `cuont`, expected one of `name`, `count`, `quiet`"
        );
    }

    #[test]
    fn null_counts_as_absent() {
        let input = read(&json!({"name": "a", "count": null, "quiet": null})).unwrap();
        assert_eq!((input.name.0.as_str(), input.count, input.quiet), ("a", None, false));
        assert_eq!(read(&json!({"name": null})).unwrap_err(), "missing field `name`");
    }

    #[test]
    fn a_whole_float_is_a_number_and_nothing_else_is() {
        let count = |value: Value| {
            read(&json!({"name": "a", "count": value})).map(|input| input.count.map(Bounded::get))
        };
        assert_eq!(count(json!(10.0)), Ok(Some(10)));
        for whole in ["10", "10.0", "1e1", "1.0E1"] {
            assert_eq!(count(serde_json::from_str(whole).unwrap()), Ok(Some(10)), "{whole}");
        }
        for wrong in
            [json!(1.5), json!(-1), json!(-1.0), json!(0), json!(1e300), json!("3"), json!([1])]
        {
            assert!(count(wrong.clone()).unwrap_err().starts_with("count: "), "{wrong}");
        }
    }
}
