//! **The one table** of settings of Tenter's configuration files, and of environment variables. The tables in `docs/configuration.md`,
//! `tenter config`, completions, and what a project may not set come from it.
//!
//! The settings of hooks are the engine's, which other programs embed.

use tenter_engine::configuration::{HOOK_SETTINGS, Precedence, Setting, setting};

/// Returns every setting, in the order of the documentation.
pub fn settings() -> impl Iterator<Item = &'static Setting> {
    AGENT_SETTINGS.iter().chain(HOOK_SETTINGS)
}

/// The settings of the agent.
const AGENT_SETTINGS: &[Setting] = &[
    setting("model", "([depends on your keys](models.md#which-model))", "the model").example(r#""anthropic/claude-sonnet-5-5""#).more(". `scripted:FILE` plays [a file](scripted-models.md)").variable("TENTER_MODEL").flag("--model").precedence(Precedence::Project),
    setting("weak_model", "", "a cheaper model for small tasks, with `--use-weak-model`").example(r#""anthropic/claude-haiku-4-5""#).variable("TENTER_WEAK_MODEL").flag("--weak-model").precedence(Precedence::Project),
    setting("max_tokens", "(the provider's)", "maximum number of tokens of one response").example("16000").variable("TENTER_MAX_TOKENS").flag("--max-tokens").precedence(Precedence::Project),
    setting("reasoning_effort", "(the provider's)", "how hard the model thinks").example(r#""high""#).more(r#": `"off"`, `"minimal"`, `"low"`, `"medium"`, `"high"`, `"xhigh"`, `"max"`"#).variable("TENTER_REASONING_EFFORT").flag("--reasoning-effort").precedence(Precedence::Project),
    setting("idle_timeout_s", "300", "maximum silence of a model's server in the middle of a response, in seconds").example("60"),
    setting("response_max_mib", "64", "maximum size of one response of a model's server, in MiB").example("16").more(", comments included"),
    setting("response_timeout_s", "3600", "maximum duration of one response, in seconds").example("600"),
    setting("system_prompt_file", "", "a file that replaces the first part of [the system prompt](#the-system-prompt)").example(r#""prompt.md""#).more("; relative to `config.toml`"),
    setting("compact.auto", "true", "whether conversations are [compacted](compaction.md) automatically").example("false"),
    setting("compact.ratio", "0.8", "the share of the context window at which conversations are compacted").example("0.7").more(": above 0 and at most 1").variable("TENTER_COMPACT_RATIO").flag("--compact-ratio"),
    setting("chat.snapshots", "true", "whether chats keep [snapshots](chat.md#undo) of files, for `/undo` and `/diff`").example("false"),
    setting("retry.attempts", "5", "maximum number of [attempts](models.md#retries-and-limits) for one response").example("3"),
    setting("retry.first_delay_ms", "1000", "the pause before the first retry, in milliseconds").example("500").more("; it doubles with each retry"),
    setting("retry.max_delay_ms", "60000", "the longest pause, in milliseconds").example("10000").more(". A server may request twice as long"),
    setting("providers.NAME.api", "(the provider's own)", "[the format](models.md#providers) of the provider's server").example(r#""chat""#).more(r#": `"messages"`, `"responses"`, `"chat"`, `"gemini"`"#),
    setting("providers.NAME.base_url", "(the provider's own)", "the address of its server").example(r#""https://llm.example.com/v1""#),
    setting("providers.NAME.api_key_env", "(the provider's own)", "the variable that holds [its key](models.md#keys)").example(r#""WORK_LLM_KEY""#).more(". Hooks do not get it"),
    setting("providers.NAME.api_key_command", "", "a program that prints its key").example(r#"["pass", "llm/work"]"#).more(": a list of arguments, or a shell command").secret(),
    setting("providers.NAME.proxy", "([by the environment](models.md#proxies))", "the proxy for it").example(r#""http://proxy.example.com:3128""#).more(r#"; `""` means none"#),
    setting("providers.NAME.ca_file", "(`SSL_CERT_FILE`, or Mozilla's)", "[the authorities](models.md#certificates) that may sign its certificate").example(r#""company.pem""#).more(": a PEM file, relative to `config.toml`"),
    setting("models.NAME.context_window", "(known, or [reported](models.md#what-tenter-knows-about-a-model), or 128000)", "the model's context window in tokens").example("32000"),
    setting("models.NAME.max_tokens", "(`max_tokens`)", "maximum number of tokens of its response").example("4000"),
    setting("models.NAME.reasoning_effort", "(`reasoning_effort`)", "how hard the model thinks").example(r#""low""#),
    setting("models.NAME.input_price", "(known, or none)", "price of a million input tokens, in US dollars").example("0.5"),
    setting("models.NAME.output_price", "(known, or none)", "price of a million output tokens, in US dollars").example("1.5"),
    setting("models.NAME.cache_read_price", "(known, or as input)", "price of a million tokens read from the provider's cache, in US dollars").example("0.05"),
    setting("models.NAME.cache_write_price", "(known, or as input)", "price of a million tokens written to the provider's cache, in US dollars").example("0.6"),
    setting("models.NAME.images", "(known)", "whether the model reads images").example("true"),
    setting("mcp.servers.NAME.command", "", "the program of [an MCP server](mcp.md)").example(r#""npx""#).more(": a name in `PATH`, or a path. `${VARIABLE}` and `${VARIABLE:-default}` are replaced").precedence(Precedence::Project),
    setting("mcp.servers.NAME.args", "[]", "its arguments").example(r#"["-y", "a-server"]"#).more(", with variables").precedence(Precedence::Project).secret(),
    setting("mcp.servers.NAME.env", "{}", "variables that it gets in addition").example(r#"{TOKEN = "${MY_TOKEN}"}"#).more(", with variables").precedence(Precedence::Project).secret(),
    setting("mcp.servers.NAME.pass_env", "[]", "variables that it gets although they look like a [model key](models.md#keys)").example(r#"["OPENAI_API_KEY"]"#).precedence(Precedence::Project),
    setting("mcp.servers.NAME.cwd", "", "its working directory").example(r#""tools""#).more(", with variables: relative to [your home directory](mcp.md#where-your-servers-run), for a project's server to the project").precedence(Precedence::Project),
    setting("mcp.servers.NAME.confine", "", "the profile that its program is [confined](confine.md) with").example(r#""standard""#).precedence(Precedence::Project),
    setting("mcp.servers.NAME.tools", "(all)", "only these tools are offered").example(r#"["search"]"#).more(", by its own names").precedence(Precedence::Project),
    setting("mcp.servers.NAME.exclude", "[]", "tools that are not offered").example(r#"["delete"]"#).precedence(Precedence::Project),
    setting("mcp.servers.NAME.url", "", "the URL of a server behind HTTP").example(r#""https://mcp.example.com/mcp""#).more(", instead of `command`, with variables").precedence(Precedence::Project).secret(),
    setting("mcp.servers.NAME.headers", "{}", "headers of requests to it").example(r#"{Authorization = "Bearer ${MY_TOKEN}"}"#).more(", with variables").precedence(Precedence::Project).secret(),
    setting("mcp.servers.NAME.timeout_s", "120", "maximum duration of one call, in seconds").example("300").precedence(Precedence::Project),
    setting("mcp.servers.NAME.startup_timeout_s", "10", "how long the first model request waits for it, in seconds").example("30").precedence(Precedence::Project),
    setting("mcp.servers.NAME.enabled", "true", "whether it is used").example("false").precedence(Precedence::Project),
    setting("permissions.chat", r#""ask""#, "[which calls of tools](permissions.md) `tenter chat` asks about").example(r#""ask""#).more(r#": `"ask"`, `"edits"`, `"all"`. A project may only choose a stricter one, and never `"all"`"#).precedence(Precedence::Stricter),
    setting("permissions.run", r#""all""#, "which calls of tools `tenter run` and all other commands ask about").example(r#""ask""#).precedence(Precedence::Stricter),
    setting("permissions.allow", "[]", "[rules](permissions.md#rules) of calls that need no permission").example(r#"["bash(git status *)"]"#).more(". A rule that is not understood is reported and allows nothing"),
    setting("permissions.ask", "[]", "[rules](permissions.md#stricter-rules) of calls that you are asked about in every mode").example(r#"["bash(git push *)"]"#).more(". The rules of the project's file apply as well").precedence(Precedence::Both),
    setting("permissions.deny", "[]", "[rules](permissions.md#stricter-rules) of calls that never run").example(r#"["file_edit(keys/**)"]"#).more(", whatever hooks and other rules allow. A rule that is not understood is an error").precedence(Precedence::Both),
    setting("permissions.confined", r#""ask""#, "whether calls that [hooks confine](confine.md) need permission").example(r#""allow""#).more(r#": with `"allow"` they run without a question"#),
    setting("max_turns", "50", "maximum number of model responses to one message").example("100").more("; 0 means no limit").variable("TENTER_MAX_TURNS").flag("--max-turns").precedence(Precedence::Smaller),
    setting("notify.method", r#""bell""#, "how you are [notified](chat.md#notifications) of questions and of the end of long work").example(r#""desktop""#).more(r#": `"bell"`, `"desktop"`, `"off"`"#),
    setting("notify.after_s", "30", "how long work takes, in seconds, before its end is notified").example("60"),
];

/// Environment variables that are no settings, with their descriptions as Markdown.
pub const VARIABLES: &[(&str, &str)] = &[
    ("TENTER_BASE_URL", "the address of the model's server, unless `--base-url` is given"),
    ("ANTHROPIC_API_KEY", "Anthropic's key"),
    ("OPENAI_API_KEY", "OpenAI's key"),
    ("GEMINI_API_KEY", "Google's key"),
    ("GOOGLE_API_KEY", "Google's key, if `GEMINI_API_KEY` is not set"),
    ("ANTHROPIC_BASE_URL", "Anthropic's address, if the configuration has none"),
    ("OPENAI_BASE_URL", "OpenAI's address, if the configuration has none"),
    (
        "HTTPS_PROXY",
        "the proxy for model servers with `https://`; this and the next three also in lower case",
    ),
    ("HTTP_PROXY", "the proxy for those with `http://`"),
    ("ALL_PROXY", "the proxy for both, if the other two are not set"),
    ("NO_PROXY", "hosts and domains that are reached without a proxy"),
    (
        "SSL_CERT_FILE",
        "[the authorities](models.md#certificates) that may sign the certificate of a model's server, if the configuration names none",
    ),
    ("TENTER_LOG", "`debug`: `tenter run` also shows what hooks that succeed write to stderr"),
    ("XDG_CONFIG_HOME", "the directory of the configuration; `~/.config` by default"),
    (
        "XDG_STATE_HOME",
        "the directory of conversations, journal and trust; `~/.local/state` by default. Hooks in [other agents](bridge.md) always use `~/.local/state`; `tenter log`, `inspect`, `hooks stats` and `hooks doctor` read the journals of both",
    ),
    ("XDG_CACHE_HOME", "the directory of caches; `~/.cache` by default"),
    ("HOME", "the home directory"),
    (
        "PAGER",
        "the pager for long output of [`tenter log`](journal.md#tenter-log) and `tenter help`; `less` by default; empty or `cat` for none",
    ),
    (
        "SHELL",
        "the shell for [`!COMMAND`](chat.md#commands-of-your-own) in a chat; `/bin/sh` by default",
    ),
    (
        "VISUAL",
        "the editor for a [commit's message](recipes.md#commits-and-pull-requests) and for `tenter config edit`",
    ),
    ("EDITOR", "the same, if `VISUAL` is not set; `vi` by default"),
    ("NO_COLOR", "no colors, like `--color never`"),
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Returns a key as a file has it.
    fn file_key(key: &str) -> String {
        key.replace("hooks.override.NAME.", "hooks.override.")
            .replace("models.NAME.", "models.\"PROVIDER/NAME\".")
    }

    /// Returns the default for the page.
    fn default(setting: &Setting) -> String {
        let words = setting.default.strip_prefix('(').and_then(|words| words.strip_suffix(')'));
        match words {
            Some(words) => words.to_owned(),
            None if setting.default.is_empty() => "none".to_owned(),
            None => format!("`{}`", setting.default),
        }
    }

    fn unless_flag(setting: &Setting) -> String {
        setting.flag.map(|flag| format!(", unless `{flag}` is given")).unwrap_or_default()
    }

    fn key_rows() -> Vec<String> {
        let managed = Precedence::Managed;
        let rows = settings().filter(|setting| setting.precedence != managed).map(|setting| {
            let project = if setting.precedence == Precedence::User { "no" } else { "yes" };
            let Setting { about, more, example, .. } = setting;
            let (key, default, flag) =
                (file_key(setting.key), default(setting), unless_flag(setting));
            format!("| `{key}` | `{example}` | {default} | {project} | {about}{flag}{more} |\n")
        });
        let mut rows: Vec<String> = rows.collect();
        let name = rows.iter().position(|row| row.starts_with("| `hooks.override.")).unwrap();
        let text = "the full name of the hook that this `[[hooks.override]]` applies to";
        rows.insert(
            name,
            format!("| `hooks.override.name` | `\"no-delete\"` | | yes | {text} |\n"),
        );
        rows
    }

    fn variable_rows() -> Vec<String> {
        let first = settings().filter_map(|setting| {
            let (key, about, flag) = (setting.key, setting.about, unless_flag(setting));
            Some(format!("| `{}` | `{key}`: {about}{flag} |\n", setting.variable?))
        });
        let others = VARIABLES.iter().map(|(name, text)| format!("| `{name}` | {text} |\n"));
        first.chain(others).collect()
    }

    /// Replaces the rows of the table that begins with `header`.
    fn with_rows(page: &str, header: &str, rows: &[String]) -> String {
        let begin = page.find(header).unwrap();
        let rule = page[begin..].match_indices('\n').nth(1).unwrap().0;
        let (before, rest) = page.split_at(begin + rule + 1);
        let after = &rest[rest.find("\n\n").unwrap() + 1..];
        format!("{before}{}{after}", rows.concat())
    }

    /// `TENTER_UPDATE=1` writes the tables.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the author's request to write the page")]
    fn the_tables_of_the_page_are_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/configuration.md");
        let old = std::fs::read_to_string(&path).unwrap();
        let page = with_rows(&old, "| Key | For example |", &key_rows());
        let page = with_rows(&page, "| Variable | |", &variable_rows());
        if std::env::var_os("TENTER_UPDATE").is_some() {
            std::fs::write(&path, &page).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text == page,
            "docs/configuration.md is out of date; write it with TENTER_UPDATE=1"
        );
    }
}
