//! The keys of settings, as users write them and as paths in a file.

use std::borrow::Cow;
use std::fmt;

use tenter_base::did_you_mean;
use tenter_engine::configuration::Setting;
use tenter_terminal::Failure;

use super::table::settings;

/// Stands for the name of a provider, a model or a hook in the key of a setting.
const NAME: &str = "NAME";

/// The key of one setting, with the name of its provider, model or hook.
#[derive(Debug, Clone)]
pub struct SettingKey {
    /// The setting.
    pub setting: &'static Setting,
    /// The name; `None` if the setting has none.
    name: Option<String>,
}

/// The path of a setting in a file.
pub struct KeyPath<'k> {
    /// The tables that contain it.
    pub tables: Vec<&'k str>,
    /// The name of the table below, if the key contains one.
    pub name: Option<&'k str>,
    /// The last part.
    pub leaf: &'k str,
}

impl SettingKey {
    /// Creates the key of `setting` with a name, which it must have if the setting has one.
    pub fn new(setting: &'static Setting, name: Option<String>) -> Self {
        Self { setting, name }
    }

    /// Parses a key. Quotes around a name are optional.
    ///
    /// # Errors
    /// No setting has the key.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        settings().find_map(|setting| Self::parse_as(setting, text)).ok_or_else(|| unknown(text))
    }

    fn parse_as(setting: &'static Setting, text: &str) -> Option<Self> {
        let Some((before, after)) = setting.key.split_once(NAME) else {
            return (setting.key == text).then(|| Self::new(setting, None));
        };
        let name = text.strip_prefix(before)?.strip_suffix(after)?;
        let bare = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name);
        let is_name = !bare.is_empty() && !bare.contains(|c: char| c == '"' || c.is_control());
        is_name.then(|| Self::new(setting, Some(bare.to_owned())))
    }

    /// Returns its path in a file.
    pub fn path(&self) -> KeyPath<'_> {
        let (tables, rest) = match self.setting.key.split_once(".NAME.") {
            Some((tables, rest)) => (Some(tables), rest),
            None => match self.setting.key.rsplit_once('.') {
                Some((tables, rest)) => (Some(tables), rest),
                None => (None, self.setting.key),
            },
        };
        KeyPath {
            tables: tables.iter().flat_map(|tables| tables.split('.')).collect(),
            name: self.name.as_deref(),
            leaf: rest,
        }
    }
}

impl fmt::Display for SettingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(name) = &self.name else { return f.write_str(self.setting.key) };
        let is_bare = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        let name = if is_bare { Cow::Borrowed(name) } else { Cow::Owned(format!("\"{name}\"")) };
        f.write_str(&self.setting.key.replacen(NAME, &name, 1))
    }
}

fn unknown(text: &str) -> Failure {
    let keys: Vec<&str> = settings().map(|setting| setting.key).collect();
    let help = did_you_mean(text, &keys, || {
        let tables = text.rmatch_indices('.').map(|(at, _)| &text[..at]);
        let table = tables.chain([text]).find(|table| keys.iter().any(|key| is_below(key, table)));
        match table {
            Some(table) => format!("`tenter config list {table}` lists its keys"),
            None => "`tenter config list` lists the keys".to_owned(),
        }
    });
    Failure::usage(format!("there is no setting {text:?}")).help(help)
}

/// Checks whether `key` is `prefix`, or in the table of that name.
pub fn is_below(key: &str, prefix: &str) -> bool {
    prefix.is_empty()
        || key.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<(String, String)> {
        let key = SettingKey::parse(text).ok()?;
        let path = key.path();
        let parts: Vec<&str> =
            path.tables.iter().copied().chain(path.name).chain([path.leaf]).collect();
        Some((key.to_string(), parts.join(" ")))
    }

    #[test]
    fn a_key_may_contain_a_name_with_dots_slashes_and_quotes() {
        let is = |text: &str, key: &str, path: &str| {
            assert_eq!(parse(text), Some((key.to_owned(), path.to_owned())), "{text}");
        };
        is("max_turns", "max_turns", "max_turns");
        is("bridge.gemini.ask", "bridge.gemini.ask", "bridge gemini ask");
        is("providers.work.api", "providers.work.api", "providers work api");
        let path = "models openai/gpt-5.2 images";
        is("models.openai/gpt-5.2.images", "models.\"openai/gpt-5.2\".images", path);
        is("models.\"openai/gpt-5.2\".images", "models.\"openai/gpt-5.2\".images", path);
        is("hooks.override.a/b.fail", "hooks.override.\"a/b\".fail", "hooks override a/b fail");
        for text in ["", "hooks", "providers..api", "providers.a\nb.api", "models.\"a\"b\".images"]
        {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_unknown_key_is_suggested() {
        let help = |text: &str| SettingKey::parse(text).unwrap_err().help.unwrap();
        assert_eq!(help("max_turn"), "did you mean `max_turns`?");
        assert_eq!(help("hooks.timeout"), "did you mean `hooks.timeout_ms`?");
        assert_eq!(help("hooks.dogs-and-cats"), "`tenter config list hooks` lists its keys");
        assert_eq!(
            help("providers.x.y.z-and-more"),
            "`tenter config list providers` lists its keys"
        );
        assert_eq!(help("bridge"), "`tenter config list bridge` lists its keys");
        assert_eq!(help("zzzzzzz"), "`tenter config list` lists the keys");
    }
}
