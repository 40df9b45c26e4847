//! **The one table** of settings: their keys, defaults and variables. `docs/configuration.md` lists the same keys, and a test compares them.

use std::borrow::Cow;
use std::fmt;

use tenter_base::did_you_mean;
use tenter_terminal::failure::Failure;

/// Stands for the name of a provider, a model or a hook in the key of a setting.
const NAME: &str = "NAME";

/// A setting, or the same setting of every provider, model or hook.
#[derive(Debug)]
pub struct Setting {
    /// The key, with `NAME` where a name belongs.
    pub key: &'static str,
    /// The default: a TOML value, or words in parentheses; empty if there is none.
    pub default: &'static str,
    /// Its description.
    pub about: &'static str,
    /// The environment variable that takes precedence.
    pub variable: Option<&'static str>,
    /// The rule that selects a value if the user and the project set one.
    pub precedence: Precedence,
    /// True if its values may contain secrets, which are never printed.
    pub is_secret: bool,
}

/// The rule that selects a value if the user and the project set one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precedence {
    /// The project's.
    Project,
    /// The smaller number.
    Smaller,
    /// `"closed"`.
    Closed,
    /// The stricter permission mode, also than the default.
    Stricter,
    /// Both lists.
    Both,
    /// Only the managed file has it.
    Managed,
}

impl Setting {
    const fn variable(mut self, name: &'static str) -> Self {
        self.variable = Some(name);
        self
    }

    const fn precedence(mut self, precedence: Precedence) -> Self {
        self.precedence = precedence;
        self
    }

    const fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }
}

const fn setting(key: &'static str, default: &'static str, about: &'static str) -> Setting {
    let precedence = Precedence::Project;
    Setting { key, default, about, variable: None, precedence, is_secret: false }
}

/// Every setting, in the order of the documentation.
pub const SETTINGS: &[Setting] = &[
    setting("model", "(depends on your keys)", "the model").variable("TENTER_MODEL"),
    setting("weak_model", "", "a cheaper model for small tasks").variable("TENTER_WEAK_MODEL"),
    setting("max_tokens", "(the provider's)", "maximum number of tokens of one response")
        .variable("TENTER_MAX_TOKENS"),
    setting("reasoning_effort", "(the provider's)", "how hard the model thinks")
        .variable("TENTER_REASONING_EFFORT"),
    setting("idle_timeout_s", "300", "maximum silence of a model's server, in seconds"),
    setting("response_max_mib", "64", "maximum size of one response, in MiB"),
    setting("response_timeout_s", "3600", "maximum duration of one response, in seconds"),
    setting("system_prompt_file", "", "a file that replaces the first part of the system prompt"),
    setting("compact.auto", "true", "whether conversations are compacted automatically"),
    setting("compact.ratio", "0.8", "the share of the context window at which they are compacted")
        .variable("TENTER_COMPACT_RATIO"),
    setting("chat.snapshots", "true", "whether chats keep snapshots of files, for /undo and /diff"),
    setting("retry.attempts", "5", "maximum number of attempts for one response"),
    setting("retry.first_delay_ms", "1000", "the pause before the first retry, in milliseconds"),
    setting("retry.max_delay_ms", "60000", "the longest pause, in milliseconds"),
    setting("providers.NAME.api", "(the provider's own)", "the format of its server"),
    setting("providers.NAME.base_url", "(the provider's own)", "the address of its server"),
    setting(
        "providers.NAME.api_key_env",
        "(the provider's own)",
        "the variable that holds its key",
    ),
    setting("providers.NAME.api_key_command", "", "a program that prints its key").secret(),
    setting("providers.NAME.proxy", "(by the environment)", "the proxy for it"),
    setting(
        "providers.NAME.ca_file",
        "(Mozilla's)",
        "the authorities that may sign its certificate",
    ),
    setting("models.NAME.context_window", "(known)", "its context window in tokens"),
    setting("models.NAME.max_tokens", "(max_tokens)", "maximum number of tokens of its response"),
    setting("models.NAME.reasoning_effort", "(reasoning_effort)", "how hard it thinks"),
    setting("models.NAME.input_price", "(known)", "price of a million input tokens, in US dollars"),
    setting(
        "models.NAME.output_price",
        "(known)",
        "price of a million output tokens, in US dollars",
    ),
    setting(
        "models.NAME.cache_read_price",
        "(known)",
        "price of a million tokens read from the cache",
    ),
    setting(
        "models.NAME.cache_write_price",
        "(known)",
        "price of a million tokens written to the cache",
    ),
    setting("models.NAME.images", "(known)", "whether it reads images"),
    setting("tools.protect", "[]", "files that file tools change only with your consent")
        .precedence(Precedence::Both),
    setting("mcp.servers.NAME.command", "", "the program of an MCP server"),
    setting("mcp.servers.NAME.args", "[]", "its arguments").secret(),
    setting("mcp.servers.NAME.env", "{}", "variables that it gets").secret(),
    setting(
        "mcp.servers.NAME.pass_env",
        "[]",
        "variables that it gets although they look like a key",
    ),
    setting("mcp.servers.NAME.cwd", "", "its working directory"),
    setting("mcp.servers.NAME.confine", "", "the profile that its program is confined with"),
    setting("mcp.servers.NAME.tools", "(all)", "only these of its tools"),
    setting("mcp.servers.NAME.exclude", "[]", "not these of its tools"),
    setting("mcp.servers.NAME.url", "", "the URL of an MCP server behind HTTP").secret(),
    setting("mcp.servers.NAME.headers", "{}", "headers of requests to it").secret(),
    setting("mcp.servers.NAME.timeout_s", "120", "maximum duration of one call, in seconds"),
    setting("mcp.servers.NAME.startup_timeout_s", "10", "how long the first request waits for it"),
    setting("mcp.servers.NAME.enabled", "true", "whether it is used"),
    setting("permissions.chat", "\"ask\"", "which calls of tools a chat asks about")
        .precedence(Precedence::Stricter),
    setting("permissions.run", "\"all\"", "which calls of tools other commands ask about")
        .precedence(Precedence::Stricter),
    setting("permissions.allow", "[]", "calls of tools that need no permission"),
    setting("permissions.ask", "[]", "calls of tools that you are asked about in every mode")
        .precedence(Precedence::Both),
    setting("permissions.deny", "[]", "calls of tools that never run").precedence(Precedence::Both),
    setting("permissions.confined", "\"ask\"", "whether calls that hooks confine need permission"),
    setting("max_turns", "50", "maximum number of model responses to one message")
        .variable("TENTER_MAX_TURNS")
        .precedence(Precedence::Smaller),
    setting("notify.method", "\"bell\"", "how you are notified of questions and ends"),
    setting("notify.after_s", "30", "how long work takes before its end is notified, in seconds"),
    setting("root", "false", "whether the hooks of outer projects do not run, if you trust that"),
    setting("trust", "\"ask\"", "whether a project's hooks need trust").variable("TENTER_TRUST"),
    setting("hooks.enabled", "true", "whether hooks run"),
    setting("hooks.timeout_ms", "30000", "timeout of a hook, in milliseconds"),
    setting(
        "hooks.budget_ms",
        "",
        "how long a run may take before it is reported, in milliseconds",
    ),
    setting("hooks.fail", "\"open\"", "what a hook's failure means").precedence(Precedence::Closed),
    setting("hooks.ask", "\"deny\"", "the answer to a hook's ask without a terminal"),
    setting("hooks.max_continuations", "8", "maximum number of continuations in a row"),
    setting("hooks.pass_env", "[]", "variables that hooks get although they look like a key"),
    setting("hooks.allow_shared", "false", "run strict hooks whose files others can write"),
    setting("hooks.changed", "true", "whether hooks see which files a shell command changed"),
    setting("hooks.override.NAME.timeout_ms", "(hooks.timeout_ms)", "timeout of this hook"),
    setting("hooks.override.NAME.budget_ms", "(hooks.budget_ms)", "how long a run of it may take"),
    setting("hooks.override.NAME.fail", "(hooks.fail)", "what this hook's failure means")
        .precedence(Precedence::Closed),
    setting("hooks.override.NAME.env", "[]", "variables that only this hook gets"),
    setting(
        "hooks.override.NAME.model_calls",
        "200",
        "how often it may use the model in a session",
    ),
    setting(
        "hooks.override.NAME.model_cost_usd",
        "0.5",
        "what its model calls may cost in a session",
    ),
    setting("guards.container", "(detected)", "whether what the agent does stays in its container"),
    setting("confine.profiles.NAME.write", "(everything)", "the places that it may write"),
    setting("confine.profiles.NAME.write_not", "[]", "paths in them that it may not write"),
    setting("confine.profiles.NAME.read_not", "[]", "what it may not read"),
    setting(
        "confine.profiles.NAME.network",
        "\"any\"",
        "the network: any, local, none, or {allow = [HOST, …]}",
    ),
    setting("confine.profiles.NAME.otherwise", "\"ask\"", "what happens where it cannot be kept"),
    setting(
        "confine.profiles.NAME.sandbox_runtime",
        "",
        "settings of Anthropic's sandbox runtime to read",
    ),
    setting(
        "bridge.allow_skips_prompt",
        "false",
        "whether a hook's allow skips the agent's question",
    ),
    setting("bridge.ask_fallback", "\"deny\"", "the answer to ask in an agent that cannot ask"),
    setting("bridge.gemini.ask", "\"fallback\"", "what a hook's ask means in Gemini CLI"),
    setting("bridge.unguardable", "\"deny\"", "calls whose output a strict hook cannot rewrite"),
    setting("bridge.untrusted", "\"warn\"", "what happens in a project with untrusted hooks"),
    setting("bridge.on_breach", "\"warn\"", "what happens after an agent ran a denied call"),
    setting("journal.keep_days", "", "how long journals are kept, in days"),
    setting("journal.max_mib", "", "maximum size of all journals, in MiB"),
    setting("managed.only_hooks", "false", "whether only managed hooks run")
        .precedence(Precedence::Managed),
    setting("managed.fail", "\"open\"", "what the failure of a managed hook means")
        .precedence(Precedence::Managed),
];

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
    /// The key of `setting` with a name, which it must have if the setting has one.
    pub fn new(setting: &'static Setting, name: Option<String>) -> Self {
        Self { setting, name }
    }

    /// Parses a key. Quotes around a name are optional.
    ///
    /// # Errors
    /// No setting has the key.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        SETTINGS
            .iter()
            .find_map(|setting| Self::parse_as(setting, text))
            .ok_or_else(|| unknown(text))
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
    let keys: Vec<&str> = SETTINGS.iter().map(|setting| setting.key).collect();
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

    fn parsed(text: &str) -> Option<(String, String)> {
        let key = SettingKey::parse(text).ok()?;
        let path = key.path();
        let parts: Vec<&str> =
            path.tables.iter().copied().chain(path.name).chain([path.leaf]).collect();
        Some((key.to_string(), parts.join(" ")))
    }

    #[test]
    fn a_key_may_contain_a_name_with_dots_slashes_and_quotes() {
        let is = |text: &str, key: &str, path: &str| {
            assert_eq!(parsed(text), Some((key.to_owned(), path.to_owned())), "{text}");
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
            assert_eq!(parsed(text), None, "{text:?}");
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
