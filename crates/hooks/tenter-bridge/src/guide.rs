//! The pages about hosts, written from their data: `docs/hosts.md`.

use std::fmt::Write as _;

use tenter_protocol::lifecycle::TABLE;

use crate::host::{EventPowers, Host, SettingsPaths, Support};
use crate::hosts;

const OPENING: &str = "\
# Agents

What Tenter's hooks can do in each agent, and what they cannot. `tenter bridge show AGENT` prints the same for your hooks. How to register
with an agent is in [Your hooks in other agents](bridge.md).

- **native**: the agent provides it.
- **emulated**: Tenter provides it in another way.
- **–**: it has no effect there; an event without any native event never fires.

This page is generated from the data that the bridge works with. What was proved is written by `tenter bridge prove --all --write-docs`.
";

/// The heading of the list about the user's own rules of the host.
pub const RULES: &str = "Your own permission rules, when a hook rewrites a call:";

/// The lines around the proved part.
const PROVED: (&str, &str) = ("<!-- proved: begin -->\n", "<!-- proved: end -->\n");

/// Writes the page about all hosts, in Markdown.
pub fn page() -> String {
    let (begin, end) = PROVED;
    let mut page = format!("{OPENING}\n{}\n{begin}{end}", overview());
    for host in hosts::ALL {
        page.push('\n');
        page.push_str(&section(host));
    }
    page
}

/// Replaces the proved part of the page by `text`; `None` if the page has no such part.
pub fn with_proved(page: &str, text: &str) -> Option<String> {
    let (begin, end) = PROVED;
    let (before, rest) = page.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}{text}{end}{after}"))
}

/// Returns the proved part of the page.
pub fn proved(page: &str) -> Option<&str> {
    let (begin, end) = PROVED;
    Some(page.split_once(begin)?.1.split_once(end)?.0)
}

/// Returns the table of what each host supports: one row for each power at an event.
fn overview() -> String {
    let names: Vec<String> = hosts::ALL.iter().map(|host| format!("`{}`", host.id)).collect();
    let mut table = format!("| event | power | {} |\n", names.join(" | "));
    let _ = writeln!(table, "| --- | --- |{}", " --- |".repeat(hosts::ALL.len()));
    for row in &TABLE {
        for (power, _) in row.may {
            let supports = hosts::ALL.iter().map(|host| match host.support(row.event, *power) {
                Support::Unsupported => "–",
                support => support.as_str(),
            });
            let supports: Vec<&str> = supports.collect();
            let (event, power) = (row.name, power.as_str());
            let _ = writeln!(table, "| {event} | {power} | {} |", supports.join(" | "));
        }
    }
    table
}

/// Writes the section about one host, in Markdown.
pub fn section(host: &Host) -> String {
    let mut text = format!("## {}\n\n{}\n", host.name, introduction(host));
    text.push_str("\n| event | fired by | native | emulated |\n| --- | --- | --- | --- |\n");
    for row in &TABLE {
        let powers = host.powers.iter().find(|powers| powers.event == row.event);
        let cells = powers.map_or_else(|| "never | | ".to_owned(), cells);
        let _ = writeln!(text, "| {} | {cells} |", row.name);
    }
    let _ = writeln!(text, "\n{}", host.registration.on_failure());
    let settings: Vec<String> = host.settings.iter().map(|paths| settings_in(*paths)).collect();
    let _ = writeln!(
        text,
        "\nFile tools [change only with you](security.md#settings-of-agents) what decides what it loads and allows: {}.",
        settings.join("; ")
    );
    list(&mut text, "Not shown to hooks:", host.blind_spots);
    list(&mut text, RULES, &host.user_rules.sentences(host.name));
    list(&mut text, "Good to know:", host.notes);
    text
}

fn introduction(host: &Host) -> String {
    let basis = match host.measured_version {
        Some(version) => format!("measured with version {version}"),
        None => "from its documentation only: **unproved**".to_owned(),
    };
    let registration = &host.registration;
    let project = [registration.personal_file, registration.shared_file];
    let project: Vec<String> = project.iter().flatten().map(|file| format!("`{file}`")).collect();
    let project = match project.as_slice() {
        [] => "it has no file for one project".to_owned(),
        files => format!("for one project in {}", files.join(" or ")),
    };
    let variable = registration.directory_variable;
    let variable =
        variable.map(|(name, _)| format!(" The variable `{name}` chooses another directory."));
    let (id, file) = (host.id, registration.user_file);
    format!("`{id}`, {basis}. Registered in `~/{file}`; {project}.{}", variable.unwrap_or_default())
}

/// Lists settings paths and their directories.
fn settings_in(paths: SettingsPaths) -> String {
    let in_quotes = |names: &[&str]| {
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let directories: Vec<&str> =
        paths.directories.iter().map(|name| if name.is_empty() { "*" } else { name }).collect();
    format!("in {}: {}", in_quotes(&directories), in_quotes(paths.names))
}

fn cells(row: &EventPowers) -> String {
    let fired_by: Vec<String> = row.fired_by.iter().map(|event| format!("`{event}`")).collect();
    let native: Vec<&str> = row.native.iter().map(|power| power.as_str()).collect();
    let emulated = row.emulated.iter().map(|(power, how)| format!("{}: {how}", power.as_str()));
    let emulated: Vec<String> = emulated.collect();
    format!("{} | {} | {}", fired_by.join(", "), native.join(", "), emulated.join("; "))
}

fn list(text: &mut String, heading: &str, items: &[impl AsRef<str>]) {
    if !items.is_empty() {
        let _ = write!(text, "\n{heading}\n\n");
        for item in items {
            let _ = writeln!(text, "- {}", item.as_ref());
        }
    }
}
