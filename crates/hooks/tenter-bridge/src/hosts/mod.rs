//! The hosts, one file each.

mod claude_code;
mod claude_form;
mod claude_result;
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
mod others;
mod pi;
mod plugin_form;
mod qwen;
mod vibe;

use std::path::PathBuf;

use crate::Host;
use crate::host::UserDirectories;
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

/// The host with this id.
pub fn find(id: &str) -> Option<&'static Host> {
    ALL.iter().find(|host| host.id == id).copied()
}

/// What decides what any known agent loads, runs and allows: a relative path means that path in every directory (B49).
pub fn settings_paths(user: UserDirectories<'_>) -> impl Iterator<Item = PathBuf> {
    let others = others::SETTINGS.iter().flat_map(|paths| paths.written());
    let others = others.flat_map(move |written| user.paths(&written, None));
    ALL.iter().flat_map(move |host| host.settings_paths(user)).chain(others)
}

/// The same as the user would write them: `~` is the home directory.
pub fn written_settings_paths() -> impl Iterator<Item = String> {
    let all = ALL.iter().flat_map(|host| host.settings).chain(others::SETTINGS);
    all.flat_map(|paths| paths.written())
}

/// A host that also runs the commands that are registered with another one (B7).
struct Foreign {
    /// The host with which they are registered.
    registered: &'static str,
    /// The host that runs them, with the events, payloads and answers that it uses for them.
    host: &'static Host,
    /// Whether it wrote a payload.
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

/// The host that wrote a payload for a command that is registered with `host`; `None` if that host did.
pub(crate) fn caller(host: &Host, payload: &Payload) -> Option<&'static Host> {
    let mut foreign = FOREIGN.iter().filter(|foreign| foreign.registered == host.id);
    foreign.find(|foreign| (foreign.wrote)(payload)).map(|foreign| foreign.host)
}

/// The host with the id `caller`, as it runs the commands that are registered with `host`.
pub(crate) fn foreign(host: &Host, caller: &str) -> Option<&'static Host> {
    let foreign =
        FOREIGN.iter().find(|foreign| foreign.registered == host.id && foreign.host.id == caller);
    foreign.map(|foreign| foreign.host)
}
