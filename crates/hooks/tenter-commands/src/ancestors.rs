//! Finds the known coding agents among the ancestors of this process (B42). Linux only; elsewhere it finds none.
//!
//! An editor is not an agent, since its terminal is the user's own. An agent that detaches a process from itself is not found:
//! like every guard, this stops mistakes and makes intent visible.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use tenter_engine::inspect::Environment;

/// The process table of Linux.
const PROC: &str = "/proc";
/// Maximum number of ancestors examined.
const MOST_ANCESTORS: usize = 256;

/// Agents: name, file names of their programs, and package paths of those that an interpreter runs.
const AGENTS: [(&str, &[&str], &[&str]); 22] = [
    ("Tenter", &["tenter"], &[]),
    ("Claude Code", &["claude"], &["/@anthropic-ai/claude-code/"]),
    ("Codex", &["codex"], &["/@openai/codex/"]),
    ("Gemini CLI", &["gemini", "gemini-cli"], &["/@google/gemini-cli/"]),
    ("Copilot CLI", &["copilot"], &["/@github/copilot/"]),
    ("OpenCode", &["opencode", "opencode2"], &["/opencode-ai/"]),
    ("Qwen Code", &["qwen", "qwen-code"], &["/@qwen-code/qwen-code/"]),
    ("Kimi Code", &["kimi", "kimi-cli", "kimi-code"], &["/@moonshot-ai/kimi-code/"]),
    ("Goose", &["goose"], &[]),
    ("Crush", &["crush"], &["/@charmland/crush/"]),
    ("Cline", &["cline"], &["/node_modules/cline/"]),
    ("Kilo", &["kilo", "kilocode"], &["/@kilocode/cli/"]),
    ("Factory Droid", &["droid"], &["/@factory/cli"]),
    ("Mistral Vibe", &["vibe", "vibe-acp"], &[]),
    ("Aider", &["aider"], &[]),
    ("Amp", &["amp"], &["/@sourcegraph/amp/"]),
    ("Auggie", &["auggie"], &["/@augmentcode/auggie/"]),
    ("Cursor CLI", &["cursor-agent"], &[]),
    ("Devin CLI", &["devin"], &[]),
    ("OpenHands", &["openhands"], &[]),
    ("Pi", &["pi"], &["/pi-coding-agent/"]),
    ("Kodelet", &["kodelet"], &[]),
];
/// Programs whose first argument is the program that they run.
const INTERPRETERS: [&str; 11] =
    ["node", "nodejs", "bun", "deno", "python", "python3", "uv", "ruby", "sh", "bash", "zsh"];

/// A coding agent above this process.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AgentAbove {
    /// The name of the agent.
    pub name: &'static str,
    /// The process id.
    pub process: u32,
    /// Its environment, if it can be read.
    pub environment: Option<Environment>,
    /// Its working directory, if it can be read.
    pub cwd: Option<PathBuf>,
}

/// Returns the agents above this process, the nearest first.
pub(crate) fn agents_above() -> Vec<AgentAbove> {
    let own_arguments: Vec<String> = std::env::args().skip(1).collect();
    let proc = Path::new(PROC);
    let parent = std::os::unix::process::parent_id();
    agents(proc, starter_parent(proc, parent, &own_arguments).unwrap_or(parent))
}

/// Returns the parent of the process `first` if that is the script of the npm package, which starts Tenter with its own arguments.
fn starter_parent(proc: &Path, first: u32, own_arguments: &[String]) -> Option<u32> {
    let directory = proc.join(first.to_string());
    let words = arguments(&fs::read(directory.join("cmdline")).ok()?);
    let script = words.get(1).filter(|script| stem(script) == "tenter")?;
    let is_starter = script_of(&words) == Some(script) && words[2..] == *own_arguments;
    let stat = fs::read_to_string(directory.join("stat")).ok()?;
    is_starter.then(|| Some(comm_and_parent(&stat)?.1))?
}

/// Returns the agents among the process `first` and its ancestors, in the process table at `proc`.
fn agents(proc: &Path, first: u32) -> Vec<AgentAbove> {
    let mut agents = Vec::new();
    let mut process = first;
    for _ in 0..MOST_ANCESTORS {
        let directory = proc.join(process.to_string());
        let stat = fs::read_to_string(directory.join("stat")).unwrap_or_default();
        let Some((comm, parent)) = comm_and_parent(&stat) else { break };
        let line = fs::read(directory.join("cmdline")).unwrap_or_default();
        agents.extend(agent(&comm, &arguments(&line)).map(|name| AgentAbove {
            name,
            process,
            environment: fs::read(directory.join("environ")).ok().map(|block| variables(&block)),
            cwd: fs::read_link(directory.join("cwd")).ok(),
        }));
        process = parent;
    }
    agents
}

/// Returns the name of a process and its parent, from its `stat`. The name is in brackets and may contain brackets itself.
fn comm_and_parent(stat: &str) -> Option<(String, u32)> {
    let (start, end) = (stat.find('(')?, stat.rfind(')')?);
    let parent = stat.get(end + 1..)?.split_whitespace().nth(1)?.parse().ok()?;
    Some((stat.get(start + 1..end)?.to_owned(), parent))
}

fn arguments(line: &[u8]) -> Vec<String> {
    let arguments = line.split(|byte| *byte == 0).filter(|argument| !argument.is_empty());
    arguments.map(|argument| String::from_utf8_lossy(argument).into_owned()).collect()
}

fn variables(block: &[u8]) -> Environment {
    let variables = block.split(|byte| *byte == 0).filter_map(|variable| {
        let equals = variable.iter().position(|byte| *byte == b'=')?;
        let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        Some((text(&variable[..equals]), text(&variable[equals + 1..])))
    });
    variables.collect()
}

/// Returns the agent that a process is, if any.
fn agent(comm: &str, arguments: &[String]) -> Option<&'static str> {
    let program = arguments.first().map_or("", String::as_str);
    let script = script_of(arguments).map_or("", String::as_str);
    let names = [comm, stem(program), stem(script)];
    let is_one = |(_, programs, packages): &&(&str, &[&str], &[&str])| {
        names.iter().any(|name| programs.contains(name))
            || packages.iter().any(|package| script.contains(package))
    };
    AGENTS.iter().find(is_one).map(|(name, _, _)| *name)
}

/// Returns the script that an interpreter runs; `None` if it runs the text of an argument.
fn script_of(arguments: &[String]) -> Option<&String> {
    let program = arguments.first()?;
    if !INTERPRETERS.contains(&stem(program)) {
        return None;
    }
    let is_text = |argument: &&String| ["-c", "-e", "--eval"].contains(&argument.as_str());
    let before_text = arguments.iter().skip(1).take_while(|argument| !is_text(argument));
    let mut scripts = before_text.filter(|argument| !argument.starts_with('-'));
    scripts.next()
}

/// Returns the file name of a program without its extension.
fn stem(program: &str) -> &str {
    Path::new(program).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tenter_bridge::hosts;

    use super::*;

    /// Returns a process table with these processes, each the child of the next.
    fn table(processes: &[(&str, &[&str])]) -> tempfile::TempDir {
        let proc = tempfile::tempdir().unwrap();
        for (place, (comm, arguments)) in processes.iter().enumerate() {
            let id = place + 10;
            let parent = if place + 1 == processes.len() { 0 } else { id + 1 };
            let directory = proc.path().join(id.to_string());
            fs::create_dir(&directory).unwrap();
            fs::write(directory.join("stat"), format!("{id} ({comm}) S {parent} 1 1 0")).unwrap();
            fs::write(directory.join("cmdline"), arguments.join("\0")).unwrap();
        }
        proc
    }

    fn found(processes: &[(&str, &[&str])]) -> Vec<&'static str> {
        agents(table(processes).path(), 10).into_iter().map(|agent| agent.name).collect()
    }

    #[test]
    fn the_script_of_the_npm_package_is_no_agent() {
        let proc = table(&[
            ("node", &["node", "/n/bin/tenter", "guard", "add", "x"]),
            ("bash", &["bash"]),
            ("tenter", &["tenter", "run", "do it"]),
        ]);
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(starter_parent(proc.path(), 10, &own(&["guard", "add", "x"])), Some(11));
        assert_eq!(agents(proc.path(), 11).len(), 1, "what runs the script still counts");
        assert_eq!(starter_parent(proc.path(), 10, &own(&["guard", "add", "y"])), None);
        assert_eq!(starter_parent(proc.path(), 11, &own(&[])), None);
        assert_eq!(starter_parent(proc.path(), 12, &own(&["do it"])), None, "no interpreter");
    }

    #[test]
    fn every_agent_of_the_bridge_is_one() {
        let programs = hosts::ALL.iter().flat_map(|host| host.registration.programs);
        for program in programs.filter(|program| **program != "cursor") {
            assert!(agent(program, &[]).is_some(), "{program}");
        }
        assert_eq!(agent("cursor", &[]), None, "an editor");
    }

    #[test]
    fn an_agent_is_found_by_its_program_its_script_or_its_package() {
        let bash: (&str, &[&str]) = ("bash", &["bash", "-c", "tenter trust --yes"]);
        let agents: [(&str, &[&str], &str); 7] = [
            ("claude", &["claude"], "Claude Code"),
            ("codex", &["/usr/bin/codex", "exec"], "Codex"),
            ("a) b (c", &["/opt/opencode/bin/opencode"], "OpenCode"),
            ("node", &["node", "--no-warnings", "/usr/local/bin/gemini"], "Gemini CLI"),
            (
                "MainThread",
                &["node", "/lib/node_modules/@anthropic-ai/claude-code/cli.js"],
                "Claude Code",
            ),
            ("python3", &["/usr/bin/python3", "/home/ada/.local/bin/aider", "x.py"], "Aider"),
            ("tenter", &["tenter", "chat"], "Tenter"),
        ];
        for (comm, arguments, name) in agents {
            assert_eq!(found(&[(comm, arguments)]), [name]);
            assert_eq!(found(&[bash, (comm, arguments), ("init", &["init"])]), [name]);
        }
        let all = [("tenter", &["tenter"][..]), bash, ("claude", &["claude"])];
        assert_eq!(found(&all), ["Tenter", "Claude Code"]);
    }

    #[test]
    fn editors_shells_and_similar_names_are_not_agents() {
        let others: [(&str, &[&str]); 7] = [
            ("code", &["/usr/share/code/code", "--type=zygote"]),
            ("cursor", &["/opt/cursor/cursor"]),
            ("node", &["node", "/home/ada/tenter/scripts/build.js"]),
            ("node", &["node", "-e", "claude"]),
            ("bash", &["bash", "-c", "claude"]),
            ("vim", &["vim", "claude"]),
            ("kthreadd", &[]),
        ];
        for process in others {
            assert!(found(&[process]).is_empty(), "{process:?}");
        }
    }

    #[test]
    fn the_search_ends_at_an_unreadable_process_and_at_a_circle() {
        let proc = table(&[("bash", &["bash"])]);
        assert!(agents(proc.path(), 99).is_empty());
        fs::write(proc.path().join("10/stat"), "10 (bash) S 10 1").unwrap();
        assert!(agents(proc.path(), 10).is_empty());
    }

    #[test]
    fn environment_and_working_directory_are_read_if_possible() {
        let proc = table(&[("claude", &["claude"])]);
        let bare = agents(proc.path(), 10).remove(0);
        assert_eq!((bare.environment, bare.cwd), (None, None));
        fs::write(proc.path().join("10/environ"), "HOME=/home/ada\0X=a=b\0").unwrap();
        std::os::unix::fs::symlink("/work", proc.path().join("10/cwd")).unwrap();
        let full = agents(proc.path(), 10).remove(0);
        let expected = vec![("HOME".into(), "/home/ada".into()), ("X".into(), "a=b".into())];
        assert_eq!((full.environment, full.cwd), (Some(expected), Some("/work".into())));
    }
}
