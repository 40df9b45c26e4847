//! The hosts, one file each.

mod claude_code;
mod claude_form;
mod cline;
mod codex;
mod copilot;
mod copilot_form;
mod crush;
mod cursor;
mod droid;
mod emulation;
mod gemini;
mod gemini_result;
mod goose;
mod kilo;
mod kimi_code;
mod opencode;
mod pi;
mod plugin_form;
mod qwen;
mod vibe;

use std::path::PathBuf;

use crate::Host;
use crate::host::{ANYWHERE, SettingsPaths, UserDirectories, within};
use crate::occurrence::NativeCall;
use crate::payload::Payload;

/// Every host, in the order in which they are listed.
pub const ALL: &[&Host] = &[
    &claude_code::HOST,
    &codex::HOST,
    &gemini::HOST,
    &opencode::HOST,
    &copilot::HOST,
    &qwen::HOST,
    &kimi_code::HOST,
    &cline::HOST,
    &pi::HOST,
    &kilo::HOST,
    &cursor::HOST,
    &droid::HOST,
    &goose::HOST,
    &crush::HOST,
    &vibe::HOST,
];

/// Returns the host with this id.
pub fn find(id: &str) -> Option<&'static Host> {
    ALL.iter().find(|host| host.id == id).copied()
}

/// Returns an agent's name for one of Tenter's tools: for Claude Code, `bash` → `Bash`. `host` is `None` for Tenter itself.
pub fn tool_name<'t>(host: Option<&str>, tool: &'t str) -> &'t str {
    let tools = host.and_then(find).map_or(&[][..], |host| host.tools);
    tools.iter().find(|native| native.canonical == tool).map_or(tool, |native| native.name)
}

/// Returns a call of Cline as hooks read it: the fields of Tenter's tools are added for what Cline has in lists.
pub fn cline_call(call: NativeCall) -> NativeCall {
    cline::shown(call)
}

/// Returns the settings paths of every known agent. A relative path means that path in every directory (B49).
pub fn settings_paths(user: UserDirectories<'_>) -> impl Iterator<Item = PathBuf> {
    let others = OTHER_SETTINGS.iter().flat_map(|paths| paths.written());
    let others = others.flat_map(move |pattern| user.paths(&pattern, None));
    ALL.iter().flat_map(move |host| host.settings_paths(user)).chain(others)
}

/// Returns the settings paths as users write them: `~` is the home directory.
pub fn written_settings_paths() -> impl Iterator<Item = String> {
    let all = ALL.iter().flat_map(|host| host.settings).chain(OTHER_SETTINGS);
    all.flat_map(|paths| paths.written())
}

/// A host that also runs the commands that are registered with another one (B7).
struct Foreign {
    /// The host with which they are registered.
    registered: &'static str,
    /// The host that runs them, with the events, payloads and answers that it uses for them.
    host: &'static Host,
    /// Returns whether it wrote a payload.
    wrote: fn(&Payload) -> bool,
}

const FOREIGN: &[Foreign] = &[
    Foreign {
        registered: "claude-code",
        host: &copilot::IN_CLAUDE_SETTINGS,
        wrote: copilot::wrote_for_claude,
    },
    Foreign { registered: "claude-code", host: &cursor::IN_CLAUDE_SETTINGS, wrote: cursor::wrote },
];

/// Returns the host that wrote a payload for a command that is registered with `host`; `None` if it was `host` itself.
pub(crate) fn caller(host: &Host, payload: &Payload) -> Option<&'static Host> {
    let mut foreign = FOREIGN.iter().filter(|foreign| foreign.registered == host.id);
    foreign.find(|foreign| (foreign.wrote)(payload)).map(|foreign| foreign.host)
}

/// Returns the host with the id `caller` in the form in which it runs the commands that are registered with `host`.
pub(crate) fn foreign(host: &Host, caller: &str) -> Option<&'static Host> {
    let foreign =
        FOREIGN.iter().find(|foreign| foreign.registered == host.id && foreign.host.id == caller);
    foreign.map(|foreign| foreign.host)
}

/// The settings that decide what agents load, run and allow that are not hosts yet.
const OTHER_SETTINGS: &[SettingsPaths] = &[
    // Amp.
    within(&[".amp", "~/.config/amp"], &["settings.json", "plugins", "toolboxes", "tools"]),
    // Antigravity and other agents that share these directories.
    within(&[ANYWHERE], &[".agents/hooks.json", ".agents/mcp.json"]),
    // Augment.
    within(&[".augment"], &["settings.json", "agents", "commands", "plugins"]),
    // Continue.
    within(
        &[".continue"],
        &["config.yaml", "config.json", "config.ts", "mcpServers", "permissions.yaml"],
    ),
    // Cupcake.
    within(&[ANYWHERE], &[".cupcake"]),
    // Devin.
    within(
        &[".devin", "~/.config/devin"],
        &["config.json", "config.local.json", "hooks.v1.json", "mcp.json"],
    ),
    // Grok CLI.
    within(&[".grok"], &["settings.json", "user-settings.json", "hooks", "plugins", "config.toml"]),
    // Junie.
    within(&[".junie"], &["config.json", "mcp"]),
    // Kiro and Amazon Q.
    within(&[".kiro"], &["hooks", "settings", "agents"]),
    within(&[".amazonq", "~/.aws/amazonq"], &["mcp.json", "cli-agents", "agents"]),
    // Roo Code.
    within(&[ANYWHERE], &[".roo/mcp.json", ".roomodes"]),
    // Windsurf.
    within(&[".windsurf", "~/.codeium/windsurf"], &["hooks.json", "mcp_config.json"]),
    // Zed.
    within(&[".zed", "~/.config/zed"], &["settings.json"]),
];
