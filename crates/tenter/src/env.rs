//! The process's surroundings: environment, folders, clock, terminal. The only place that reads them; everything else
//! takes them as values.
//!
//! | variable | meaning |
//! | --- | --- |
//! | `TENTER_MODEL` | the model, where `--model` is not given |
//! | `TENTER_WEAK_MODEL` | the model for lesser work, where `--weak-model` is not given |
//! | `TENTER_MAX_TOKENS` | tokens of a response, where `--max-tokens` is not given |
//! | `TENTER_REASONING_EFFORT` | how hard it thinks, where `--reasoning-effort` is not given |
//! | `TENTER_BASE_URL` | the model's server, where `--base-url` is not given |
//! | `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY`, `GOOGLE_API_KEY` | the providers' keys |
//! | `ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL` | the providers' addresses, where the configuration has none |
//! | `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY` | the proxy before a model's server; in small letters as well |
//! | `SSL_CERT_FILE` | the authorities that may sign a model's server's certificate, where the configuration names none |
//! | `TENTER_TRUST` | `all` switches the trust gate off (R47) |
//! | `TENTER_COMPACT_RATIO` | how full the context is when a conversation is compacted by itself, where `--compact-ratio` is not given |
//! | `TENTER_MAX_TURNS` | the turn limit, where `--max-turns` is not given; 0 is without limit |
//! | `TENTER_LOG` | `debug` also shows what successful hooks write to stderr (R43) |
//! | `XDG_CONFIG_HOME`, `XDG_STATE_HOME`, `XDG_CACHE_HOME` | where configuration, state and caches live |
//! | `HOME` | the home folder |
//! | `PAGER` | the program that shows a long text on a terminal; else `less`; empty or `cat` for none |
//! | `VISUAL`, `EDITOR` | the editor for a text that is to be looked over; else `vi` |
//! | `NO_COLOR` | no colours |

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal as _, Read as _};
use std::path::PathBuf;

use tenter_engine::Directories;
use tenter_engine::environment::Environment;
use tenter_engine::layout::Layout;

/// What a process finds around itself.
#[derive(Debug, Clone)]
pub(crate) struct Env {
    /// Every environment variable.
    pub(crate) vars: Environment,
    /// The working folder.
    pub(crate) cwd: PathBuf,
    /// The home folder.
    pub(crate) home: PathBuf,
}

/// The real clock.
#[expect(clippy::disallowed_methods, reason = "this is where the clock comes from")]
pub(crate) fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

impl Env {
    /// The surroundings of this process.
    #[expect(clippy::disallowed_methods, reason = "this is where the environment comes from")]
    pub(crate) fn of_process() -> Self {
        let vars: Environment = std::env::vars_os().collect();
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        Self::of_variables(vars, cwd)
    }

    /// The surroundings of a process with these variables in this working directory.
    pub(crate) fn of_variables(vars: Environment, cwd: PathBuf) -> Self {
        let home = find(&vars, "HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
        Self { vars, cwd, home }
    }

    /// The file of this program, for scripts that start it.
    pub(crate) fn program() -> PathBuf {
        std::env::current_exe().unwrap_or_else(|_| PathBuf::from("tenter"))
    }

    /// A variable's value; an empty one counts as absent.
    pub(crate) fn var(&self, name: &str) -> Option<&OsStr> {
        find(&self.vars, name)
    }

    /// A variable's value as text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.var(name)?.to_str()
    }

    /// `config.toml` of the person.
    pub(crate) fn config_file(&self) -> PathBuf {
        self.directories().config_home.join("tenter/config.toml")
    }

    /// Where conversations, journal and trust live.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.directories().state
    }

    /// Where conversations are stored.
    pub(crate) fn store_file(&self) -> PathBuf {
        self.state_dir().join("conversations.db")
    }

    /// Where the journal is written.
    pub(crate) fn journal_dir(&self) -> PathBuf {
        self.state_dir().join("journal")
    }

    /// What the person wants every agent to know.
    pub(crate) fn context_files(&self) -> Vec<PathBuf> {
        let config_home = self.directories().config_home;
        vec![self.home.join(".kodelet/AGENTS.md"), config_home.join("agents/AGENTS.md")]
    }

    /// What the person edits texts with, as a shell reads it.
    pub(crate) fn editor(&self) -> &str {
        self.text("VISUAL").or_else(|| self.text("EDITOR")).unwrap_or("vi")
    }

    /// The user's directories, as the engine needs them.
    pub(crate) fn directories(&self) -> Directories {
        Directories::from_vars(&self.vars)
    }

    /// Where hooks are looked for, given the project's root.
    pub(crate) fn places(&self, project: PathBuf) -> Layout {
        Layout::new(project, &self.home, self.directories().config_home)
    }

    /// Whether a person can be asked: both sides of the dialogue are a terminal.
    pub(crate) fn can_ask() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Whether there is a terminal to talk at: what is typed and what is shown go through one.
    pub(crate) fn has_terminal() -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// What was piped in; nothing where stdin is a terminal.
    pub(crate) fn piped_stdin() -> io::Result<String> {
        let mut bytes = Vec::new();
        if !io::stdin().is_terminal() {
            io::stdin().lock().read_to_end(&mut bytes)?;
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn find<'v>(vars: &'v [(OsString, OsString)], name: &str) -> Option<&'v OsStr> {
    let (_, value) = vars.iter().find(|(key, _)| key == name)?;
    Some(value.as_os_str()).filter(|value| !value.is_empty())
}
