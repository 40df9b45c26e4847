//! The fields of a manifest, one after the other, so that all problems are found at once (R16).

use tenter_base::{nearest, or_list};

use super::findings::{
    ASYNC, ASYNC_CANNOT_BLOCK, DESCRIPTION, FENCE, Findings, METADATA, NAME, UNKNOWN,
};
use super::reader::Reader;
use super::scalar::{Meaning, Style, plain};
use super::split::Fences;
use super::tree::{Entry, Node, NodeKind, shown};
use super::{Checks, KEYS, LONGEST_DESCRIPTION, action, extensions, matcher, name, number};
use crate::lifecycle::Power;
use crate::manifest::{Extensions, Manifest, MatcherText, Unset};
use crate::{EventName, Object};

/// Checks the tree of a front matter. `None` when what a hook cannot do without is missing.
pub(super) fn check(
    root: &Node,
    fences: &Fences,
    checks: Checks<'_>,
    findings: &mut Findings<'_>,
) -> Option<Manifest> {
    let NodeKind::Mapping(entries) = &root.kind else {
        let help = "write `key: value` lines, beginning with `name: …`";
        findings.add(
            &FENCE,
            Some(&root.at),
            "the front matter is no mapping of keys to values",
            help,
        );
        return None;
    };
    let mut reader = Reader { entries, fences, findings };
    reader.unknown_keys();
    let name = reader.name();
    let description = reader.description();
    let trigger = reader.trigger();
    let further = reader.further_triggers(trigger);
    let events: Vec<EventName> = trigger.iter().chain(&further).map(|named| named.event).collect();
    let matcher = reader.matcher(&events, checks);
    let timeout = number::TIMEOUT.read(&mut reader);
    let asynchronous = reader.asynchronous(&events);
    let priority = number::PRIORITY.read(&mut reader);
    let is_unset = |key| reader.entry(key).is_none();
    let unset = Unset { timeout: is_unset("timeout"), asynchronous: is_unset("async") };
    let (metadata, extensions) = reader.metadata(&events, checks);
    let trigger = trigger?;
    Some(Manifest {
        name: name?,
        description,
        event: trigger.event,
        trigger: trigger.spelling,
        further,
        matcher,
        timeout_ms: u64::try_from(timeout).ok()?,
        asynchronous,
        priority: u16::try_from(priority).ok()?,
        unset,
        extensions,
        metadata,
    })
}

impl Reader<'_, '_> {
    fn unknown_keys(&mut self) {
        for entry in self.entries {
            let key = entry.key.name.as_str();
            if KEYS.contains(&key) {
                continue;
            }
            let help = match nearest(key, &KEYS) {
                _ if extensions::is_known(key) => {
                    format!("write it below `metadata:`, as `  {key}: …`")
                }
                Some(known) => format!("did you mean `{known}`?"),
                None => {
                    format!("keys are {}; anything else belongs below `metadata:`", or_list(&KEYS))
                }
            };
            let ignored = self.findings.instead(&UNKNOWN, "it is ignored");
            let message = format!("a manifest has no `{}`{ignored}", shown(key));
            self.findings.add(&UNKNOWN, Some(&entry.key.at), message, help);
        }
    }

    fn name(&mut self) -> Option<String> {
        let meant = "the name of the hook's folder";
        let entry = self.required("name", &NAME, meant)?;
        let text = self.text(entry, &NAME, meant)?;
        name::check(&text, &entry.value, self.findings)
    }

    fn description(&mut self) -> String {
        let meant = "what the hook is for, in a sentence";
        let entry = self.required("description", &DESCRIPTION, meant);
        let Some((entry, text)) =
            entry.and_then(|entry| Some((entry, self.text(entry, &DESCRIPTION, meant)?)))
        else {
            return String::new();
        };
        let text = text.trim();
        let length = text.chars().count();
        if length == 0 {
            self.complain(entry, &DESCRIPTION, "is empty", meant);
        } else if length > LONGEST_DESCRIPTION {
            let what = format!("is {length} characters long; {LONGEST_DESCRIPTION} are allowed");
            self.complain(entry, &DESCRIPTION, &what, "the rest below the front matter");
        }
        text.to_owned()
    }

    fn matcher(&mut self, events: &[EventName], checks: Checks<'_>) -> MatcherText {
        match self.entry("matcher") {
            Some(entry) => matcher::check(entry, events, checks, self),
            None => MatcherText::default(),
        }
    }

    fn asynchronous(&mut self, events: &[EventName]) -> bool {
        let Some(entry) = self.entry("async") else { return false };
        let asynchronous = self.boolean(entry).unwrap_or(false);
        let blocks = |event: &&EventName| event.may(Power::Block) || event.may(Power::Continue);
        if let Some(event) = events.iter().find(blocks).filter(|_| asynchronous) {
            let message = format!("an asynchronous hook cannot block at `{event}`");
            let help = "write `async: false` if it is meant to block";
            self.findings.add(&ASYNC_CANNOT_BLOCK, Some(&entry.value.at), message, help);
        }
        asynchronous
    }

    fn boolean(&mut self, entry: &Entry) -> Option<bool> {
        let scalar = self.scalar(entry, &ASYNC, "`true` or `false`")?;
        let Meaning::Boolean(boolean) = plain(&scalar.text) else {
            let help = match scalar.text.to_lowercase().as_str() {
                "yes" | "on" | "y" | "1" => "did you mean `true`?",
                "no" | "off" | "n" | "0" => "did you mean `false`?",
                _ => "write `true` or `false`",
            };
            let instead = self.findings.instead(&ASYNC, "`false` is used");
            let message = format!("`async` is neither `true` nor `false`{instead}");
            self.findings.add(&ASYNC, Some(&entry.value.at), message, help);
            return None;
        };
        if scalar.style != Style::Plain {
            self.unquote(entry, scalar, &ASYNC);
        }
        Some(boolean)
    }

    fn metadata(&mut self, events: &[EventName], checks: Checks<'_>) -> (Object, Extensions) {
        let Some(entry) = self.entry("metadata") else { return Default::default() };
        let Some(entries) = self.mapping(entry, &METADATA) else { return Default::default() };
        let pairs = entries.iter().map(|entry| (entry.key.name.clone(), entry.value.to_json()));
        let pairs = pairs.collect();
        let declaration = action::read(entries, events, checks, self);
        (pairs, Extensions { declaration, ..extensions::read(entries, self) })
    }
}
