//! The way in which each agent is run without a terminal, against a model server: data and a few functions, one file per agent.

mod claude_code;
mod cline;
mod codex;
mod copilot;
mod droid;
mod gemini;
mod kilo;
mod kimi_code;
mod opencode;
mod pi;
mod qwen;
mod vibe;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tenter_base::search_path;
use tenter_bridge::host::Moment;
use tenter_bridge::{Host, hosts};
use tenter_model_server::{Format, Match, ModelReply};

use crate::scenario::Scenario;

/// The way in which an agent is run without a terminal.
#[derive(Debug)]
pub struct Client {
    /// The id of the agent.
    pub host: &'static str,
    /// The API by which it talks to its model.
    pub format: Format,
    /// The arguments of its program, separated by blanks. `{prompt}` is the user's message, `{resume}` the place of the next field.
    pub arguments: &'static str,
    /// The arguments that continue a session in another process; `None` if it cannot.
    pub resume: Option<&'static str>,
    /// Arguments that depend on the run.
    pub more_arguments: fn(&Launch) -> Vec<String>,
    /// Environment variables that are set to `1`, separated by blanks.
    pub switches: &'static str,
    /// Other environment variables, besides those that every client gets.
    pub environment: fn(&Launch) -> Vec<(&'static str, String)>,
    /// Its settings, written before the hooks are registered.
    pub files: fn(&Launch) -> Vec<(PathBuf, String)>,
    /// The arguments of a run of its program that must precede the others, such as one that stores a key.
    pub setup: Option<fn(&Launch) -> Vec<String>>,
    /// Adds a call of the tool that runs a shell command.
    pub shell: fn(ModelReply, &str) -> ModelReply,
    /// Adds a call of the tool that writes a text to a file, whose path is absolute.
    pub write: fn(ModelReply, &Path, &str) -> ModelReply,
    /// Adds a call that fails and whose input contains a word; `None` if a failing shell command is such a call.
    pub failing_call: Option<fn(ModelReply, &str) -> ModelReply>,
    /// The support for subagents; `None` if it has none without a terminal.
    pub subagent: Option<Subagent>,
    /// The limit at which it replaces its history by a summary; `None` if it does not without a terminal.
    pub compaction: Option<Compaction>,
    /// The name that its model reads of the tool `MCP_TOOL`; `None` if it has no MCP servers, or none without a terminal.
    pub mcp_tool: Option<&'static str>,
    /// Adds a call of the tool that loads a skill; `None` if it fires no event for commands in the text of a skill.
    pub skill: Option<fn(ModelReply, &str) -> ModelReply>,
    /// Its own sandbox for commands; `None` if it has none, or none without a terminal.
    pub own_sandbox: Option<OwnSandbox>,
    /// The setting with which a user disables hooks; `None` if it is not known where its administrators register hooks.
    pub off_switch: Option<&'static str>,
    /// The plugin of another program; `None` if hooks are not plugins there.
    pub other_plugin: Option<OtherPlugin>,
    /// Set if its program unpacks itself into the user's cache when it is run for the first time.
    pub unpacks_itself: bool,
    /// Set if a denied call ends the whole run: the rest of a scenario then gets a run of its own.
    pub deny_ends_run: bool,
    /// Set if an answer after which hooks make the agent continue is taken out of the history.
    pub takes_answers_back: bool,
    /// Checks that do not hold without a terminal, although they do otherwise: the id of each, and the reason.
    pub limits: &'static [(&'static str, &'static str)],
}

/// An agent's own sandbox for commands.
#[derive(Debug)]
pub struct OwnSandbox {
    /// The setting that turns it on, for users.
    pub setting: &'static str,
    /// The programs that it needs on Linux.
    pub programs: &'static [&'static str],
    /// The effect of one of them that is not installed, and the packages to install.
    pub without_programs: &'static str,
}

impl OwnSandbox {
    /// Returns whether everything that it needs is in `path`, the value of `PATH`.
    pub(crate) fn has_programs(&self, path: &OsStr) -> bool {
        let is_installed = |name: &&str| {
            search_path::files(*name, path).any(|file| search_path::is_executable(&file))
        };
        !cfg!(target_os = "linux") || self.programs.iter().all(is_installed)
    }
}

/// A skill with a command in its text that makes a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SkillCommand {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
}

/// The skill whose command hooks let pass.
pub(crate) const PASSED_SKILL: SkillCommand =
    SkillCommand { name: "passed-skill", file: "by-skill.txt" };
/// The skill whose command a hook denies.
pub(crate) const GUARDED_SKILL: SkillCommand =
    SkillCommand { name: "guarded-skill", file: "denied-to-skill.txt" };

impl SkillCommand {
    fn text(self) -> String {
        let Self { name, file } = self;
        format!(
            "---\nname: {name}\ndescription: A test\nallowed-tools: Bash\n---\nThe state: !`touch {file}`\n"
        )
    }
}

/// The support of a client for subagents.
#[derive(Debug)]
pub struct Subagent {
    /// Adds a call of the tool, with this task.
    pub call: fn(ModelReply, &str) -> ModelReply,
    /// Matches the requests of the subagent. Its task contains [`Subagent::TASK`].
    pub requests: fn() -> Match,
    /// Adds a call with which the main agent waits for the subagent, if the tool does not.
    pub wait: Option<fn(ModelReply) -> ModelReply>,
}

impl Subagent {
    /// A word in the task of every subagent.
    pub const TASK: &str = "SUBTASK";

    /// Creates a subagent that the call waits for, and whose history begins with its task.
    const fn new(call: fn(ModelReply, &str) -> ModelReply) -> Self {
        Self { call, requests: || Match::default().first_user(Self::TASK), wait: None }
    }
}

/// The point at which a client replaces its history by a summary.
#[derive(Debug)]
pub struct Compaction {
    /// The tokens that the model has to report, to be near the context window.
    pub tokens: u64,
    /// Matches the requests for the summary.
    pub requests: fn() -> Match,
}

/// A plugin of another program, which is loaded before or after Tenter's.
#[derive(Debug)]
pub struct OtherPlugin {
    /// The extension of its file.
    pub extension: &'static str,
    /// Its code, in which [`FLAG`] is replaced by the path of a file that it writes before each call of a tool.
    pub code: &'static str,
}

/// The place of a path in the code of a plugin.
pub const FLAG: &str = "{flag}";

/// A process of a client.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'l> {
    /// The scratch home directory.
    pub home: &'l Path,
    /// The scratch project.
    pub project: &'l Path,
    /// The address of the model server, as the format's clients expect it.
    pub url: &'l str,
    /// The user's message.
    pub prompt: &'l str,
    /// Set if the process continues the session of the one before it.
    pub continues: bool,
    /// The scenario of the run.
    pub scenario: Scenario,
    /// The program of an MCP server, if the settings are to have one.
    pub mcp_server: Option<&'l Path>,
}

impl Launch<'_> {
    /// Returns the program that the user's rules deny, if there is to be such a rule.
    fn denied_program(&self) -> Option<&'static str> {
        (self.scenario == Scenario::UserRule).then_some(DENIED_PROGRAM)
    }

    /// Returns true if the agent's own sandbox is to be on.
    fn is_sandboxed(&self) -> bool {
        self.scenario == Scenario::OwnSandbox
    }

    /// Returns the skills below a directory of the project, if there are to be any.
    fn skills(&self, directory: &str) -> Vec<(PathBuf, String)> {
        let directory = self.project.join(directory);
        let file =
            |skill: SkillCommand| (directory.join(skill.name).join("SKILL.md"), skill.text());
        let skills = [PASSED_SKILL, GUARDED_SKILL].map(file);
        if self.scenario == Scenario::Skill { skills.into() } else { Vec::new() }
    }

    /// Returns true if the user disables hooks.
    fn disables_hooks(&self) -> bool {
        self.scenario == Scenario::Managed
    }

    /// Returns the settings of MCP servers that most clients share: `{"scratch": {"command": PROGRAM, "args": []}}`, or `{}`.
    fn mcp_servers(&self) -> Value {
        let server = |program: &Path| json!({MCP_SERVER: {"command": program, "args": []}});
        self.mcp_server.map_or_else(|| json!({}), server)
    }

    /// Returns a file of settings that has the MCP servers and nothing else, if there are any.
    fn mcp_file(&self, path: &str) -> Option<(PathBuf, String)> {
        let settings = || json!({"mcpServers": self.mcp_servers()}).to_string();
        self.mcp_server.map(|_| (self.home.join(path), settings()))
    }
}

impl Client {
    /// A client without any peculiarity; each client states those that it has.
    const BASE: Self = Self {
        host: "",
        format: Format::Chat,
        arguments: "{prompt}",
        resume: None,
        more_arguments: |_| Vec::new(),
        switches: "",
        environment: |_| Vec::new(),
        files: |_| Vec::new(),
        setup: None,
        shell: |reply, command| reply.call("bash", json!({"command": command})),
        write: |reply, file, text| reply.call("write", json!({"path": file, "content": text})),
        failing_call: None,
        subagent: None,
        compaction: None,
        mcp_tool: None,
        skill: None,
        own_sandbox: None,
        off_switch: None,
        other_plugin: None,
        unpacks_itself: false,
        deny_ends_run: false,
        takes_answers_back: false,
        limits: &[],
    };

    /// Every client.
    pub const ALL: &[&Self] = &[
        &claude_code::CLIENT,
        &codex::CLIENT,
        &gemini::CLIENT,
        &opencode::CLIENT,
        &copilot::CLIENT,
        &qwen::CLIENT,
        &kimi_code::CLIENT,
        &cline::CLIENT,
        &pi::CLIENT,
        &kilo::CLIENT,
        &droid::CLIENT,
        &vibe::CLIENT,
    ];

    /// Returns the client of an agent; `None` if it is not known how to run it without a terminal.
    pub fn find(host: &Host) -> Option<&'static Self> {
        Self::ALL.iter().find(|client| client.host == host.id).copied()
    }

    /// Returns the arguments of a process.
    pub(crate) fn arguments(&self, launch: &Launch) -> Vec<String> {
        let resume = self.resume.filter(|_| launch.continues).unwrap_or_default();
        let arguments = self.arguments.replace("{resume}", resume);
        let words = arguments.split_whitespace();
        let words = words.map(|word| if word == "{prompt}" { launch.prompt } else { word });
        words.map(str::to_owned).chain((self.more_arguments)(launch)).collect()
    }

    /// Returns the environment variables of a process, besides those that every client gets.
    pub(crate) fn environment(&self, launch: &Launch) -> Vec<(&'static str, String)> {
        let switches = self.switches.split_whitespace().map(|name| (name, "1".to_owned()));
        switches.chain((self.environment)(launch)).collect()
    }

    /// Adds a call that fails and whose input contains a word.
    pub(crate) fn failing_call(&self, reply: ModelReply, word: &str) -> ModelReply {
        match self.failing_call {
            Some(call) => call(reply, word),
            None => (self.shell)(reply, &format!("echo {word} >&2; exit 3")),
        }
    }

    /// Returns whether contexts reach the model only with the next message.
    pub(crate) fn defers_contexts(&self) -> bool {
        hosts::find(self.host).is_some_and(|host| !(host.takes_context)(Moment::AfterTool))
    }

    /// Returns whether hooks see that the agent stops again after they made it continue.
    pub(crate) fn shows_second_stop(&self) -> bool {
        hosts::find(self.host).is_none_or(|host| host.max_continuations > 1)
    }

    /// Returns the reason why a check is known not to hold without a terminal.
    pub(crate) fn limit(&self, check: &str) -> Option<&'static str> {
        self.limits.iter().find(|(id, _)| *id == check).map(|(_, why)| *why)
    }
}

/// The name of the MCP server in scratch homes, and of its one tool, which makes a file.
pub(crate) const MCP_SERVER: &str = "scratch";
pub(crate) const MCP_TOOL: &str = "touch";

/// The key that clients send to the model server.
const KEY: &str = "no-key-needed";

/// The program that the rules of each client deny in the scenario [`Scenario::UserRule`].
const DENIED_PROGRAM: &str = "touch";
