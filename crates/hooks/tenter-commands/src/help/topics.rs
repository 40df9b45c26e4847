//! The topics of `tenter help`: a topic is a page of `docs/`.

use std::fmt::Write as _;

use tenter_terminal::{HEADING, NAME, styled};

/// A page of the manual.
pub(super) struct Topic {
    pub(super) name: &'static str,
    /// Name of the page's file, without `.md`; the topic goes by this name too.
    pub(super) file: &'static str,
    pub(super) about: &'static str,
    pub(super) page: &'static str,
}

impl Topic {
    pub(super) fn is_called(&self, word: &str) -> bool {
        word == self.name || word == self.file
    }
}

macro_rules! topic {
    ($name:literal, $about:literal) => {
        topic!($name, $name, $about)
    };
    ($name:literal, $file:literal, $about:literal) => {
        Topic {
            name: $name,
            file: $file,
            about: $about,
            page: include_str!(concat!("../../../../../docs/", $file, ".md")),
        }
    };
}

/// Every topic, in reading order.
pub(super) const TOPICS: &[Topic] = &[
    topic!("install", "Install, update and remove Tenter"),
    topic!("claude-code", "Guard Claude Code in five minutes"),
    topic!("tutorial", "Write, test, trust and watch your first hook"),
    topic!("hooks", "concepts", "What hooks are, where they live, in which order they run"),
    topic!("manifest-hooks", "Hooks with a HOOK.md"),
    topic!("executable-hooks", "Hooks that are one executable file"),
    topic!("static-hooks", "Hooks without a script"),
    topic!("runtime-hooks", "Hooks that stay up, services, SDKs, hooks behind HTTP"),
    topic!("commands", "Commands and paths: what a tool call does"),
    topic!("guards", "Ready-made hooks that prevent damage"),
    topic!("backtest", "What hooks would have done with past calls"),
    topic!("confine", "Run commands with fewer rights"),
    topic!("events", "Payloads and replies of every event"),
    topic!("tools", "Tool names, inputs, results and paths"),
    topic!("cookbook", "Ready-made hooks, explained"),
    topic!("testing", "Test, explain and debug hooks"),
    topic!("failures", "Timeouts, failures, fail open and fail closed"),
    topic!("trust", "Which hooks of a project may run"),
    topic!("journal", "The record of what hooks did, and `tenter log`"),
    topic!("inspect", "What hooks did, in a browser and in figures"),
    topic!("configuration", "Files, keys, environment variables, exit codes"),
    topic!("teams", "Hooks and settings for all users of a machine"),
    topic!("models", "Providers, model names, API keys, your own server"),
    topic!("chat", "Conversations at the terminal"),
    topic!("permissions", "Which calls of tools you are asked about"),
    topic!("conversations", "Search, export, fork, restore and delete conversations"),
    topic!("compaction", "Summaries of long conversations"),
    topic!("recipes", "Prompts in files; commit messages and pull requests"),
    topic!("skills", "Instructions that the model loads on demand"),
    topic!("mcp", "Tools of MCP servers"),
    topic!("bridge", "Your hooks in Claude Code and other agents"),
    topic!("hosts", "What hooks can do in each agent"),
    topic!("ci", "Test hooks and prove agents in CI"),
    topic!("import", "Hooks that are written for Claude Code, everywhere"),
    topic!("plugins", "Share hooks, skills and recipes in a repository"),
    topic!("scripted-models", "A model that plays a file, for tests"),
    topic!("headless", "The JSON stream of `tenter run --headless`"),
    topic!("security", "What Tenter protects against, and what it does not"),
    topic!("reliability", "What Tenter guarantees when things break"),
    topic!("performance", "What hooks cost, measured"),
    topic!("embedding", "Run hooks in an agent of your own"),
    topic!("decisions", "Decisions that the code cites"),
];

/// Returns the list of topics, for the end of `tenter help`.
pub fn listing() -> String {
    let width = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or(0);
    let mut text = styled(HEADING.underline(), "Topics:");
    for Topic { name, about, .. } in TOPICS {
        let padding = " ".repeat(width - name.len());
        let _ = write!(text, "\n  {}{padding}  {about}", styled(NAME, name));
    }
    text + "\n\nRead one with `tenter help TOPIC`."
}
