//! Names of ready-made hooks in Rust, and the values that their settings can have: `metadata.ready_made` of a manifest names one, and its
//! settings are those in the manifest.

use regex::RegexBuilder;
use tenter_base::{did_you_mean, or_list};
use tenter_protocol::manifest::setting::{HookSetting, SettingValue};

/// A ready-made hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadyMade {
    /// Formats the files that a tool wrote.
    Format,
    /// Checks the files that a tool wrote.
    Lint,
    /// Runs the tests before the agent stops.
    TestsBeforeStop,
    /// Adds the state of the project to a session.
    SessionContext,
    /// Notifies the user.
    Notify,
    /// Saves the files of the project at each turn.
    Checkpoint,
    /// Adds texts to prompts and calls that match.
    Conventions,
    /// Limits calls, time, tokens and cost.
    Budget,
    /// Points out a call that fails again and again.
    RepeatedFailure,
    /// Points out texts that give the model orders.
    PromptInjection,
}

impl ReadyMade {
    const ALL: [Self; 10] = [
        Self::Format,
        Self::Lint,
        Self::TestsBeforeStop,
        Self::SessionContext,
        Self::Notify,
        Self::Checkpoint,
        Self::Conventions,
        Self::Budget,
        Self::RepeatedFailure,
        Self::PromptInjection,
    ];

    /// Returns the ready-made hook with this name.
    ///
    /// # Errors
    /// There is none; the text lists the names.
    pub fn named(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|hook| hook.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            did_you_mean(name, &names, || format!("ready-made hooks are {}", or_list(&names)))
        })
    }

    /// Checks the value of a setting, beyond its type.
    ///
    /// # Errors
    /// The hook could not use the value; the text says which values it can have.
    pub(crate) fn check_setting(self, setting: &HookSetting) -> Result<(), String> {
        let items = match setting.value() {
            SettingValue::Text(text) => std::slice::from_ref(text),
            SettingValue::List(items) => items,
            SettingValue::Boolean(_) | SettingValue::Number(_) => &[],
        };
        let check: fn(&str) -> Result<(), String> = match (self, setting.name.as_str()) {
            (Self::Budget, "usd") => |text: &str| amount(text).map(drop),
            (Self::Format | Self::Lint, "commands") => |text: &str| tool_of_ending(text).map(drop),
            (Self::Conventions, "messages") => |text: &str| {
                let (pattern, _) = convention(text)?;
                let expression = RegexBuilder::new(pattern).case_insensitive(true).build();
                expression.map(drop).map_err(|error| format!("correct the expression: {error}"))
            },
            (Self::Conventions, "paths") => |text: &str| convention(text).map(drop),
            _ => return Ok(()),
        };
        items.iter().try_for_each(|text| check(text))
    }

    /// Returns the name in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Lint => "lint",
            Self::TestsBeforeStop => "tests-before-stop",
            Self::SessionContext => "session-context",
            Self::Notify => "notify",
            Self::Checkpoint => "checkpoint",
            Self::Conventions => "conventions",
            Self::Budget => "budget",
            Self::RepeatedFailure => "repeated-failure",
            Self::PromptInjection => "prompt-injection",
        }
    }
}

/// Reads an amount of US dollars.
///
/// # Errors
/// It is none; the text says so.
pub(crate) fn amount(text: &str) -> Result<f64, String> {
    let amount =
        text.trim().parse().ok().filter(|amount: &f64| amount.is_finite() && *amount >= 0.0);
    amount
        .ok_or_else(|| "write an amount in US dollars, such as `2.50`; 0 means no limit".to_owned())
}

/// Reads the ending of files and the command for them: `sql: sqlfluff format -`.
///
/// # Errors
/// It has another form, so no file could have the ending; the text says so.
pub(crate) fn tool_of_ending(text: &str) -> Result<(&str, &str), String> {
    let parts = text.split_once(':').map(|(ending, command)| (ending.trim(), command.trim()));
    let is_usable = |(ending, command): &(&str, &str)| {
        !command.is_empty() && !ending.contains(['.', ',', '*', '/', ' '])
    };
    parts.filter(is_usable).ok_or_else(|| {
        "write one ending without its dot, a colon and a command, such as `sql: sqlfluff format -`".to_owned()
    })
}

/// Reads a pattern and the text that is added where it fits: `migration => Test each migration.`
///
/// # Errors
/// It has another form; the text says so.
pub(crate) fn convention(text: &str) -> Result<(&str, &str), String> {
    let parts = text.split_once("=>").map(|(pattern, text)| (pattern.trim(), text.trim()));
    let is_usable = |(pattern, text): &(&str, &str)| !pattern.is_empty() && !text.is_empty();
    let help = "write a pattern, `=>` and a text, such as `migration => Test each migration.`";
    parts.filter(is_usable).ok_or_else(|| help.to_owned())
}

#[cfg(test)]
mod tests {
    use tenter_protocol::manifest::setting::SettingKind;

    use super::*;

    fn check(hook: ReadyMade, name: &str, value: &str) -> bool {
        let kind = if name == "usd" { SettingKind::Text } else { SettingKind::List };
        let default = SettingValue::Text("0".to_owned());
        let set = Some(kind.parse(value).unwrap());
        let (name, description) = (name.to_owned(), String::new());
        hook.check_setting(&HookSetting { name, kind, default, description, set }).is_ok()
    }

    #[test]
    fn a_value_that_would_have_no_effect_is_an_error() {
        use ReadyMade::{Budget, Conventions, Format, Lint};
        for (hook, name, value, is_usable) in [
            (Budget, "usd", "2.50", true),
            (Budget, "usd", "0", true),
            (Budget, "usd", "$2", false),
            (Budget, "usd", "2,50", false),
            (Budget, "usd", "-1", false),
            (Budget, "usd", "inf", false),
            (Format, "commands", "sql: sqlfluff format -", true),
            (Format, "commands", "sqlfluff format -", false),
            (Lint, "commands", ".sql: sqlfluff lint", false),
            (Lint, "commands", "ts,tsx: eslint", false),
            (Lint, "commands", "sql:", false),
            (Conventions, "messages", r"\bmigrations? => Test it.", true),
            (Conventions, "messages", "migration: test it", false),
            (Conventions, "messages", "( => Test it.", false),
            (Conventions, "paths", "src/** => @docs/style.md", true),
            (Conventions, "paths", "src/**", false),
        ] {
            assert_eq!(check(hook, name, value), is_usable, "{name}={value}");
        }
    }
}
