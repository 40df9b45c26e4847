//! The hooks of another program, registered before and after ours: they run at each call of a tool and make a file.

use std::path::Path;
use std::{fs, io};

use serde_json::{Map, Value, json};
use tenter_bridge::Host;
use tenter_bridge::host::{EntryFormat, EntryLayout, Moment, TimeoutUnit};

use crate::client::{Client, FLAG};
use crate::hook_file::{quote, write_program};

/// The timeout of an entry, in seconds.
const TIMEOUT: u64 = 60;

/// The position of an entry among the entries of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryPosition {
    /// The agent reads it before ours.
    Before,
    /// The agent reads it after ours.
    After,
}

impl EntryPosition {
    /// Returns the name of the file in the project that the hook makes.
    pub(crate) fn file(self) -> &'static str {
        match self {
            Self::Before => "other-before.txt",
            Self::After => "other-after.txt",
        }
    }

    /// Returns a name that is sorted before or after ours.
    fn name(self) -> &'static str {
        match self {
            Self::Before => "a-other",
            Self::After => "z-other",
        }
    }
}

/// Returns whether hooks of several programs can be registered with an agent.
pub(crate) fn is_possible(host: &Host, client: &Client) -> bool {
    host.registration.entries().is_some() || client.other_plugin.is_some()
}

/// Returns whether the agent runs the other program's hooks: one that trusts each entry on its own does not run these.
pub(crate) fn is_run(host: &Host) -> bool {
    host.registration.trust_file.is_none()
}

/// Adds the hook of another program to the agent's registrations: to the end of `file`, or to the directory `file` of plugins.
pub(crate) fn register(
    (host, client): (&Host, &Client),
    file: &Path,
    place: EntryPosition,
    (programs, project): (&Path, &Path),
) -> io::Result<()> {
    let flag = project.join(place.file());
    if let Some(plugin) = &client.other_plugin {
        let code = plugin.code.replace(FLAG, &json!(flag).to_string());
        fs::create_dir_all(file)?;
        return fs::write(file.join(format!("{}.{}", place.name(), plugin.extension)), code);
    }
    let event = host.events.iter().find(|event| event.moment == Moment::BeforeTool);
    let (Some(format), Some(event)) = (host.registration.entries(), event) else { return Ok(()) };
    let program = programs.join(place.name());
    write_program(&program, &format!("cat > /dev/null\n: > {}\n", quote(&flag)))?;
    let text = fs::read_to_string(file).unwrap_or_default();
    let entry = entry(format, place, &quote(&program));
    file.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(file, with_entry(&text, format, event.name, entry)?)
}

/// Returns an entry without its event.
fn entry(format: &EntryFormat, place: EntryPosition, command: &str) -> Map<String, Value> {
    let timeout = match format.unit {
        TimeoutUnit::Seconds => TIMEOUT,
        TimeoutUnit::Milliseconds | TimeoutUnit::MillisecondsFrom1000 => TIMEOUT * 1000,
    };
    let fields = format.fields.iter().map(|(key, value)| (*key, json!(value)));
    let name = format.name.map(|key| (key, json!(place.name())));
    let others = [("command", json!(command)), (format.timeout, json!(timeout))];
    let members = fields.chain(name).chain(others);
    members.map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Returns the text of a file with one more entry at its end.
fn with_entry(
    text: &str,
    format: &EntryFormat,
    event: &str,
    entry: Map<String, Value>,
) -> io::Result<String> {
    let group = match format.layout {
        EntryLayout::TomlTables { event: key } => {
            let members = entry.iter().map(|(key, value)| format!("{key} = {value}\n"));
            let members: String = members.collect();
            return Ok(format!("{text}\n[[hooks]]\n{key} = {}\n{members}", json!(event)));
        }
        EntryLayout::JsonGroups => json!({"hooks": [entry]}),
        EntryLayout::JsonHandlers => Value::Object(entry),
    };
    let text = if text.is_empty() { "{}" } else { text };
    let mut settings: Value = serde_json::from_str(text)?;
    for (key, value) in format.root {
        settings[*key] = json!(value);
    }
    match &mut settings["hooks"][event] {
        Value::Array(groups) => groups.push(group),
        groups => *groups = json!([group]),
    }
    Ok(format!("{settings:#}\n"))
}

#[cfg(test)]
mod tests {
    use tenter_bridge::hosts;

    use super::*;

    fn added(host: &str, text: &str) -> String {
        let host = hosts::find(host).unwrap();
        let format = host.registration.entries().unwrap();
        with_entry(text, format, "E", entry(format, EntryPosition::Before, "'/p'")).unwrap()
    }

    #[test]
    fn an_entry_is_added_at_the_end_in_the_format_of_the_agent() {
        let before = r#"{"model": "m", "hooks": {"E": [{"hooks": []}]}}"#;
        let settings: Value = serde_json::from_str(&added("claude-code", before)).unwrap();
        let handler = json!({"type": "command", "command": "'/p'", "timeout": 60});
        let groups = json!([{"hooks": []}, {"hooks": [handler]}]);
        assert_eq!(settings, json!({"model": "m", "hooks": {"E": groups}}));
        let settings: Value = serde_json::from_str(&added("copilot", "")).unwrap();
        assert_eq!(
            (&settings["version"], &settings["hooks"]["E"][0]["command"]),
            (&json!(1), &json!("'/p'"))
        );
        let toml =
            "\n[[hooks]]\ntype = \"E\"\nname = \"a-other\"\ncommand = \"'/p'\"\ntimeout = 60\n";
        assert_eq!(added("vibe", "x = 1\n"), format!("x = 1\n{toml}"));
    }
}
