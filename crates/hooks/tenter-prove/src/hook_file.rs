//! The hooks of a scenario: manifest hooks, written to a scratch home as a user writes them.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;
use tenter_protocol::EventName;
use tenter_protocol::lifecycle::TABLE;

/// A manifest hook.
#[derive(Debug, Clone)]
pub(crate) struct HookFile {
    /// Its name.
    pub(crate) name: String,
    trigger: EventName,
    also: Vec<EventName>,
    matcher: String,
    settings: String,
    extensions: String,
    script: Option<String>,
}

impl HookFile {
    /// Creates a hook that fails closed and does nothing yet.
    fn new(name: &str, trigger: EventName) -> Self {
        Self {
            name: name.to_owned(),
            trigger,
            also: Vec::new(),
            matcher: String::new(),
            settings: String::new(),
            extensions: "  fail: closed\n".to_owned(),
            script: None,
        }
    }

    /// Returns a hook that runs a shell script.
    pub(crate) fn script(name: &str, trigger: EventName, script: impl Into<String>) -> Self {
        Self { script: Some(script.into()), ..Self::new(name, trigger) }
    }

    /// Returns a static hook that denies. The reason is in the second line of a text: an agent must not cut it off.
    pub(crate) fn deny(name: &str, trigger: EventName, reason: &str) -> Self {
        let reason = format!("action: deny\n  reason: \"Denied by a hook.\\n{reason}\"");
        Self::new(name, trigger).extend(&reason)
    }

    /// Returns a static hook that adds a text for the model. `text` is in its second line.
    pub(crate) fn context(name: &str, trigger: EventName, text: &str) -> Self {
        let text = format!("action: context\n  text: \"Added by a hook.\\n{text}\"");
        Self::new(name, trigger).extend(&text)
    }

    /// Returns a static hook that asks. The question is in the second line of a text.
    pub(crate) fn ask(name: &str, trigger: EventName, question: &str) -> Self {
        let question = format!("action: ask\n  reason: \"A hook asks.\\n{question}\"");
        Self::new(name, trigger).extend(&question)
    }

    /// Returns a hook that is written for Claude Code and prints an answer.
    pub(crate) fn claude_code(name: &str, trigger: EventName, answer: &Value) -> Self {
        Self::printing(name, trigger, &answer.to_string()).extend("dialect: claude-code")
    }

    /// Returns a hook that prints a reply.
    pub(crate) fn printing(name: &str, trigger: EventName, reply: &str) -> Self {
        Self::script(name, trigger, format!("cat > /dev/null\ncat << 'REPLY'\n{reply}\nREPLY\n"))
    }

    /// Returns a hook that writes every payload to a file of its own in `directory`, before every other hook runs.
    pub(crate) fn observer(directory: &Path) -> Self {
        let script = format!("cat > \"$(mktemp {}/XXXXXXXXXX)\"\n", quote(directory));
        let all: Vec<EventName> = TABLE.iter().skip(1).map(|row| row.event).collect();
        Self {
            also: all,
            settings: "priority: 1000\n".to_owned(),
            extensions: "  fail: open\n  payload: light\n".to_owned(),
            ..Self::script("observer", TABLE[0].event, script)
        }
    }

    /// Returns the same hook for calls of the tool whose name matches, with an input that contains `word`.
    pub(crate) fn only(self, tool: &str, word: &str) -> Self {
        let matcher = format!("matcher:\n  tool: ^{tool}$\n  pattern: {word}\n");
        Self { matcher, ..self }
    }

    /// Returns the same hook for every call of the tool whose name matches.
    pub(crate) fn every(self, tool: &str) -> Self {
        Self { matcher: format!("matcher:\n  tool: ^{tool}$\n"), ..self }
    }

    /// Returns the same hook with a timeout in milliseconds.
    pub(crate) fn timeout(self, milliseconds: u32) -> Self {
        let settings = format!("{}timeout: {milliseconds}\n", self.settings);
        Self { settings, ..self }
    }

    /// Returns the same hook, failing open.
    pub(crate) fn failing_open(self) -> Self {
        let extensions = self.extensions.replace("fail: closed", "fail: open");
        Self { extensions, ..self }
    }

    /// Returns the same hook with lines at the beginning of its script.
    pub(crate) fn first(self, lines: &str) -> Self {
        let script = self.script.unwrap_or_default();
        Self { script: Some(format!("{lines}{script}")), ..self }
    }

    fn extend(self, lines: &str) -> Self {
        Self { extensions: format!("{}  {lines}\n", self.extensions), ..self }
    }

    /// Writes the hook into a hooks directory.
    pub(crate) fn write(&self, hooks: &Path) -> io::Result<()> {
        let directory = hooks.join(&self.name);
        fs::create_dir_all(directory.join("scripts"))?;
        fs::write(directory.join("HOOK.md"), self.manifest())?;
        let Some(script) = &self.script else { return Ok(()) };
        write_program(&directory.join("scripts/run.sh"), script)
    }

    fn manifest(&self) -> String {
        let Self { name, trigger, matcher, settings, extensions, .. } = self;
        let also: Vec<&str> = self.also.iter().map(|event| event.as_str()).collect();
        let also = match also.as_slice() {
            [] => String::new(),
            events => format!("  triggers: [{}]\n", events.join(", ")),
        };
        format!(
            "---\nname: {name}\ndescription: A hook of the proof.\ntrigger: {trigger}\n{matcher}{settings}metadata:\n{extensions}{also}---\n"
        )
    }
}

/// Writes a program that is a shell script.
pub(crate) fn write_program(path: &Path, script: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, format!("#!/bin/sh\n{script}"))?;
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

/// Returns a path as a word of a shell command.
pub(crate) fn quote(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}
