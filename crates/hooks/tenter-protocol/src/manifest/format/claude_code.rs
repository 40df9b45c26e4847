//! `metadata.dialect` and the keys that belong to it: a script that is written for Claude Code (B36). Without `dialect`, those keys
//! are the author's own.

use tenter_base::{did_you_mean, or_list};

use super::codes::{EXTENSION, METADATA_KEY};
use crate::EventName;
use crate::claude_code::{self, EVENTS};
use crate::front_matter::{Field, Report, find, quotable};
use crate::manifest::ClaudeCodeScript;

/// The dialects besides the specification's own.
pub(super) const DIALECTS: [&str; 1] = ["claude-code"];
/// The keys below `metadata` that belong to the dialect.
pub(super) const KEYS: [&str; 5] = ["event", "matcher", "plugin_root", "origin", "imported"];

/// Reads the dialect of a hook that subscribes to `events`, from the top-level fields and the fields of `metadata`.
pub(super) fn read(
    top: &[Field],
    fields: &[Field],
    events: &[EventName],
    report: &mut Report<'_>,
) -> Option<ClaudeCodeScript> {
    let dialect = find(fields, "dialect")?;
    report.choice(dialect, &EXTENSION, &DIALECTS)?;
    if find(fields, "action").is_some() {
        let message = "`metadata.dialect` has no effect with an `action`";
        report.add(&METADATA_KEY, &dialect.key_at, message, "remove one of them");
        return None;
    }
    report_second_matcher(top, fields, report);
    let mut text = |key: &str| {
        let field = find(fields, key)?;
        report.text(field, &EXTENSION, "text")
    };
    let script = ClaudeCodeScript {
        event: text("event"),
        matcher: text("matcher"),
        plugin_root: text("plugin_root"),
        origin: text("origin"),
        imported: text("imported"),
    };
    check_event(fields, script.event.as_deref(), events, report);
    Some(script)
}

/// Reports a second matcher of the tool's name, which is matched in one way only.
fn report_second_matcher(top: &[Field], fields: &[Field], report: &mut Report<'_>) {
    let own = find(top, "matcher").and_then(|field| find(field.value.as_mapping()?, "tool"));
    if let (Some(own), Some(_)) = (own, find(fields, "matcher")) {
        let message = "`matcher.tool` has no effect with `metadata.matcher`";
        report.add(&METADATA_KEY, &own.key_at, message, "remove one of them");
    }
}

fn check_event(
    fields: &[Field],
    word: Option<&str>,
    events: &[EventName],
    report: &mut Report<'_>,
) {
    let (Some(word), Some(field)) = (word, find(fields, "event")) else { return };
    let at = &field.value.at;
    let Some(native) = claude_code::named(word) else {
        let names: Vec<&str> = EVENTS.iter().map(|event| event.name).collect();
        let message = format!("Claude Code has no event `{}` that Tenter has", quotable(word));
        let help = did_you_mean(word, &names, || format!("write {}", or_list(&names)));
        report.add(&EXTENSION, at, message, help);
        return;
    };
    let is_subagents = word == "SubagentStop" && events.contains(&EventName::SubagentStop);
    if !events.contains(&native.event) && !is_subagents {
        let message = format!("`{word}` is not an event of this hook's triggers");
        let help = format!("write `trigger: {}`", native.event);
        report.add(&EXTENSION, at, message, help);
    }
}
