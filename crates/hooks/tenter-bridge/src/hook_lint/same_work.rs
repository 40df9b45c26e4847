//! Tools that do the same: two formatters of one language undo each other's work, two linters report everything twice.

use super::Problem;
use super::entries::HookEntry;

/// Tools of which one is enough, and their work.
struct SameWork {
    work: &'static str,
    /// The beginnings of commands.
    tools: &'static [&'static str],
}

const TABLE: [SameWork; 8] = [
    SameWork {
        work: "format JavaScript",
        tools: &["prettier", "biome format", "biome check", "dprint", "deno fmt"],
    },
    SameWork {
        work: "lint JavaScript",
        tools: &["eslint", "biome lint", "biome check", "oxlint", "standard"],
    },
    SameWork { work: "format Python", tools: &["black", "ruff format", "autopep8", "yapf"] },
    SameWork { work: "lint Python", tools: &["ruff check", "flake8", "pylint"] },
    SameWork { work: "check the types of Python", tools: &["mypy", "pyright", "pyre"] },
    SameWork { work: "format Go", tools: &["gofmt", "gofumpt", "goimports"] },
    SameWork { work: "format shell scripts", tools: &["shfmt", "beautysh"] },
    SameWork {
        work: "notify you",
        tools: &["notify-send", "terminal-notifier", "osascript", "dunstify"],
    },
];

/// Finds an earlier entry for the same calls whose tool does the same as the tool of `entry`.
pub(super) fn find(entry: &HookEntry, earlier: &[HookEntry]) -> Option<Problem> {
    let words = words(entry)?;
    let others = earlier.iter().filter(|other| other.event == entry.event && overlap(entry, other));
    others.into_iter().find_map(|other| {
        let other_words = self::words(other)?;
        TABLE.iter().find_map(|same| {
            let tool = tool(same, &words)?;
            let other = tool_besides(same, tool, &other_words)?;
            Some(Problem::new(
                format!("{other} and {tool} both {}", same.work),
                "keep the one that the project is set up for",
            ))
        })
    })
}

/// Returns the words of the command, each without its directory.
fn words(entry: &HookEntry) -> Option<Vec<String>> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let words = entry.command()?.split(|c| !is_part(c)).filter(|word| !word.is_empty());
    Some(words.map(str::to_owned).collect())
}

fn tool(same: &SameWork, words: &[String]) -> Option<&'static str> {
    same.tools.iter().copied().find(|tool| has(words, tool))
}

/// Returns a tool in the words, if `tool` is not there, too: such an entry is another step with the same tool.
fn tool_besides(same: &SameWork, tool: &str, words: &[String]) -> Option<&'static str> {
    self::tool(same, words).filter(|_| !has(words, tool))
}

fn has(words: &[String], tool: &str) -> bool {
    let parts: Vec<&str> = tool.split(' ').collect();
    words.windows(parts.len()).any(|window| window == parts.as_slice())
}

/// Returns whether a call can fit the matchers of both.
fn overlap(one: &HookEntry, other: &HookEntry) -> bool {
    let names = |entry: &HookEntry| -> Vec<String> {
        let matcher = entry.matcher.as_deref().unwrap_or_default();
        matcher.split('|').map(|name| name.trim().to_owned()).collect()
    };
    let (one, other) = (names(one), names(other));
    let is_open = |names: &[String]| names.iter().any(|name| name.is_empty() || name == "*");
    is_open(&one) || is_open(&other) || one.iter().any(|name| other.contains(name))
}
