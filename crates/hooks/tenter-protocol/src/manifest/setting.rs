//! The settings of a hook: values that its user changes without editing the rest of its `HOOK.md`.
//!
//! `metadata.settings` declares them, `metadata.set` contains the user's values. An update of the hook replaces the declarations and keeps
//! the values.

use std::fmt;

use serde::{Deserialize, Serialize};
use tenter_base::{did_you_mean, or_list};

/// A setting, and its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookSetting {
    /// The name, such as `read`.
    pub name: String,
    /// The values that it can have.
    #[serde(rename = "type")]
    pub kind: SettingKind,
    /// The value, unless the user sets another one.
    pub default: SettingValue,
    /// The purpose of the setting, in a sentence.
    pub description: String,
    /// The user's value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<SettingValue>,
}

/// The values that a setting can have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingKind {
    /// One of these words.
    Choice(Vec<String>),
    /// `true` or `false`.
    Boolean,
    /// A whole number that is not negative.
    Number,
    /// Text.
    Text,
    /// A list of texts.
    List,
}

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SettingValue {
    /// Of a boolean setting.
    Boolean(bool),
    /// Of a number.
    Number(u32),
    /// Of a choice or a text.
    Text(String),
    /// Of a list.
    List(Vec<String>),
}

impl HookSetting {
    /// Returns the value: the user's, or the default.
    pub fn value(&self) -> &SettingValue {
        self.set.as_ref().unwrap_or(&self.default)
    }

    /// Returns the environment variable with which a program reads the setting, such as `TENTER_SETTING_MAX_FILES` for `max-files`.
    pub fn variable(&self) -> String {
        format!("TENTER_SETTING_{}", self.name.replace('-', "_").to_uppercase())
    }
}

impl SettingKind {
    /// The words for the kinds that are not a list of words.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("boolean", Self::Boolean),
        ("number", Self::Number),
        ("text", Self::Text),
        ("list", Self::List),
    ];

    /// Reads a value from the text of a single value, or a single item of a list.
    ///
    /// # Errors
    /// The setting cannot have this value. The text says which values it can have.
    pub fn parse(&self, text: &str) -> Result<SettingValue, String> {
        match self {
            Self::Choice(words) => {
                if words.iter().any(|word| word == text) {
                    return Ok(SettingValue::Text(text.to_owned()));
                }
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                Err(did_you_mean(text, &words, || format!("write {}", or_list(&words))))
            }
            Self::Boolean => match text {
                "true" => Ok(SettingValue::Boolean(true)),
                "false" => Ok(SettingValue::Boolean(false)),
                _ => Err("write `true` or `false`".to_owned()),
            },
            Self::Number => {
                let number = text.parse().map(SettingValue::Number);
                number.map_err(|_| format!("write a whole number from 0 to {}", u32::MAX))
            }
            Self::Text => Ok(SettingValue::Text(text.to_owned())),
            Self::List => Ok(SettingValue::List(vec![text.to_owned()])),
        }
    }
}

impl fmt::Display for SettingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Choice(words) => f.write_str(&words.join(", ")),
            Self::Boolean => f.write_str("true, false"),
            Self::Number => f.write_str("number"),
            Self::Text => f.write_str("text"),
            Self::List => f.write_str("list"),
        }
    }
}

/// The items of a list are on a line each.
impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => value.fmt(f),
            Self::Number(value) => value.fmt(f),
            Self::Text(value) => f.write_str(value),
            Self::List(items) => f.write_str(&items.join("\n")),
        }
    }
}
