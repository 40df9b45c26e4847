//! The fields of a manifest, one after the other, so that all problems are found at once (R16).

use std::ops::RangeInclusive;

use super::findings::{
    ASYNC, ASYNC_CANNOT_BLOCK, DESCRIPTION, FENCE, Findings, Kind, METADATA, NAME, PRIORITY,
    TIMEOUT, TRIGGER, UNKNOWN,
};
use super::reader::Reader;
use super::scalar::{Meaning, plain};
use super::split::Fences;
use super::suggest::{listed, nearest};
use super::tree::{Entry, Node, NodeKind, shown};
use super::{
    CheckPattern, DEFAULT_PRIORITY, DEFAULT_TIMEOUT, KEYS, LONGEST_DESCRIPTION, PRIORITIES,
    TIMEOUTS, extensions, matcher, name, trigger,
};
use crate::lifecycle::Power;
use crate::manifest::{Extensions, Manifest, MatcherText};
use crate::{EventName, Object};

/// Checks the tree of a front matter. `None` when what a hook cannot do without is missing.
pub(super) fn check(
    root: &Node,
    fences: &Fences,
    check: CheckPattern<'_>,
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
    let event = trigger.map(|(event, _)| event);
    let matcher = reader.matcher(event, check);
    let timeout = reader.timeout();
    let asynchronous = reader.asynchronous(event);
    let priority = reader.priority();
    let (metadata, extensions) = reader.metadata();
    let (event, trigger) = trigger?;
    Some(Manifest {
        name: name?,
        description,
        event,
        trigger,
        matcher,
        timeout_ms: u64::try_from(timeout).ok()?,
        asynchronous,
        priority: u16::try_from(priority).ok()?,
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
                _ if extensions::KEYS.contains(&key) => {
                    format!("write it below `metadata:`, as `  {key}: …`")
                }
                Some(known) => format!("did you mean `{known}`?"),
                None => {
                    format!("keys are {}; anything else belongs below `metadata:`", listed(&KEYS))
                }
            };
            let ignored = self.findings.instead("it is ignored");
            let message = format!("a manifest has no `{}`{ignored}", shown(key));
            self.findings.add(&UNKNOWN, Some(&entry.key.at), message, help);
        }
    }

    fn name(&mut self) -> Option<String> {
        let help = "write `name: …` with the name of the hook's folder";
        let entry = self.required("name", &NAME, help)?;
        let text = self.text(entry, &NAME)?;
        name::check(&text, &entry.value, self.findings)
    }

    fn description(&mut self) -> String {
        let help = "write `description: …`: what the hook is for, in a sentence";
        let entry = self.required("description", &DESCRIPTION, help);
        let Some(text) = entry.and_then(|entry| self.text(entry, &DESCRIPTION)) else {
            return String::new();
        };
        let at = entry.map(|entry| &entry.value.at);
        let text = text.trim();
        let length = text.chars().count();
        if length == 0 {
            self.findings.add(&DESCRIPTION, at, "the description is empty", help);
        } else if length > LONGEST_DESCRIPTION {
            let message = format!("the description is {length} characters long");
            let help = format!(
                "shorten it to {LONGEST_DESCRIPTION}; the rest belongs below the front matter"
            );
            self.findings.add(&DESCRIPTION, at, message, help);
        }
        text.to_owned()
    }

    fn trigger(&mut self) -> Option<(EventName, &'static str)> {
        let help = format!("write `trigger: …` with one of {}", trigger::events());
        let entry = self.required("trigger", &TRIGGER, &help)?;
        let text = self.text(entry, &TRIGGER)?;
        trigger::check(&text, &entry.value, self.findings)
    }

    fn matcher(&mut self, event: Option<EventName>, check: CheckPattern<'_>) -> MatcherText {
        match self.entry("matcher") {
            Some(entry) => matcher::check(entry, event, check, self),
            None => MatcherText::default(),
        }
    }

    fn timeout(&mut self) -> i64 {
        let meant = "milliseconds from 100 to 600000";
        self.whole("timeout", &TIMEOUT, &TIMEOUTS, meant).unwrap_or(DEFAULT_TIMEOUT)
    }

    fn priority(&mut self) -> i64 {
        let meant = "a number from 0 to 1000, higher runs earlier";
        self.whole("priority", &PRIORITY, &PRIORITIES, meant).unwrap_or(DEFAULT_PRIORITY)
    }

    /// A whole number within `range`.
    fn whole(
        &mut self,
        key: &str,
        kind: &Kind,
        range: &RangeInclusive<i64>,
        meant: &str,
    ) -> Option<i64> {
        let entry = self.entry(key)?;
        let scalar = self.scalar(entry, kind, meant)?;
        let (number, quoted) = match (scalar.meaning(), plain(&scalar.text)) {
            (Meaning::Integer(number), _) => (number, false),
            (Meaning::Text, Meaning::Integer(number)) => (number, true),
            _ => {
                self.complain(entry, kind, "is no whole number", meant);
                return None;
            }
        };
        if quoted {
            self.unquote(entry, scalar, kind);
        }
        let used = number.clamp(*range.start(), *range.end());
        if used != number {
            let instead = self.findings.instead(&format!("{used} is used"));
            let message = format!("`{key}` is {number}{instead}");
            self.findings.add(kind, Some(&entry.value.at), message, format!("write {meant}"));
        }
        Some(used)
    }

    fn asynchronous(&mut self, event: Option<EventName>) -> bool {
        let Some(entry) = self.entry("async") else { return false };
        let asynchronous = self.boolean(entry).unwrap_or(false);
        let blocks = |event: &EventName| event.may(Power::Block) || event.may(Power::Continue);
        if let Some(event) = event.filter(blocks).filter(|_| asynchronous) {
            let message = format!("nobody waits for this hook, so it cannot block at `{event}`");
            let help = "write `async: false` if it is meant to block";
            self.findings.add(&ASYNC_CANNOT_BLOCK, Some(&entry.value.at), message, help);
        }
        asynchronous
    }

    fn boolean(&mut self, entry: &Entry) -> Option<bool> {
        let scalar = self.scalar(entry, &ASYNC, "`true` or `false`")?;
        match (scalar.meaning(), plain(&scalar.text)) {
            (Meaning::Boolean(boolean), _) => Some(boolean),
            (Meaning::Text, Meaning::Boolean(boolean)) => {
                self.unquote(entry, scalar, &ASYNC);
                Some(boolean)
            }
            _ => {
                let meant = match scalar.text.to_lowercase().as_str() {
                    "yes" | "on" | "y" | "1" => "did you mean `true`?",
                    "no" | "off" | "n" | "0" => "did you mean `false`?",
                    _ => "write `true` or `false`",
                };
                let instead = self.findings.instead("`false` is used");
                let message = format!("`async` is neither `true` nor `false`{instead}");
                self.findings.add(&ASYNC, Some(&entry.value.at), message, meant);
                None
            }
        }
    }

    fn metadata(&mut self) -> (Object, Extensions) {
        let Some(entry) = self.entry("metadata") else { return Default::default() };
        let Some(entries) = self.mapping(entry, &METADATA) else { return Default::default() };
        let pairs = entries.iter().map(|entry| (entry.key.name.clone(), entry.value.to_json()));
        (pairs.collect(), extensions::read(entries, self))
    }
}
