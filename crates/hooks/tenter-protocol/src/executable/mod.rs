//! The executable protocol: a program is run with `hook` to print its events, and with `run` to read a payload and print a
//! reply.
//!
//! `request` writes payloads, `reply` reads replies, and this module reads subscriptions. Spellings and the order of keys follow
//! the protocol's documentation; additions come last.

mod reply;
mod request;

pub use reply::parse_reply;
pub use request::payload;
#[cfg(feature = "schema")]
pub(crate) use request::payload_schema;

use crate::EventName;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::lifecycle::TABLE;
use crate::runtime::SERVE;

/// The version of the protocol in payloads and in `TENTER_PROTOCOL_VERSION`.
pub const PROTOCOL_VERSION: u32 = 1;

/// An event that a hook subscribes to, in the hook's own spelling. It is stored as the spelling, and read from the manifest spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subscription {
    /// The event.
    pub event: EventName,
    /// The spelling that the hook used; the payload echoes it (R2).
    pub spelling: &'static str,
}

impl Subscription {
    /// Returns the event that a manifest calls `word`.
    pub fn in_manifest(word: &str) -> Option<Self> {
        TABLE.iter().find_map(|row| {
            let spelling = row.manifest.iter().find(|spelling| **spelling == word)?;
            Some(Self { event: row.event, spelling })
        })
    }
}

impl Serialize for Subscription {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.spelling)
    }
}

impl<'de> Deserialize<'de> for Subscription {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let word = String::deserialize(from)?;
        Self::in_manifest(&word).ok_or_else(|| D::Error::custom(format!("no event {word:?}")))
    }
}

/// The announcement of an executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// The events that it subscribes to; never empty.
    pub subscriptions: Vec<Subscription>,
    /// True if it can be started once, with the argument `serve`, and called many times (S1).
    pub serves: bool,
}

/// Reads the output of an executable that was run with `hook` and `TENTER_SERVE=1`: one or more event names, one per line, and
/// the line `serve` if it can be called many times (R12, S1).
///
/// # Errors
/// The first line that is neither; an empty string if there is no event.
pub fn announcement(output: &str) -> Result<Announcement, String> {
    let lines = output.lines().map(str::trim).filter(|line| !line.is_empty());
    let (serve, events): (Vec<&str>, Vec<&str>) = lines.partition(|line| *line == SERVE);
    let subscriptions = named_by(&events)?;
    Ok(Announcement { subscriptions, serves: !serve.is_empty() })
}

/// Reads the output of an executable that was run with `hook`: one or more event names, one per line (R12).
///
/// # Errors
/// The first line that is not an event name; an empty string if nothing was printed.
pub fn subscriptions(output: &str) -> Result<Vec<Subscription>, String> {
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    named_by(&lines)
}

fn named_by(lines: &[&str]) -> Result<Vec<Subscription>, String> {
    if lines.is_empty() {
        return Err(String::new());
    }
    let mut subscriptions: Vec<Subscription> = Vec::new();
    for line in lines {
        let spelled = spelled(line);
        if spelled.is_empty() {
            return Err((*line).to_owned());
        }
        for subscription in spelled {
            // A program that prints both `after_turn` and `turn_end` runs once, with the spelling that it printed first.
            if subscriptions.iter().all(|other| other.event != subscription.event) {
                subscriptions.push(subscription);
            }
        }
    }
    Ok(subscriptions)
}

fn spelled(word: &str) -> Vec<Subscription> {
    TABLE
        .iter()
        .filter_map(|row| {
            let spelling = row.executable.iter().find(|spelling| **spelling == word)?;
            Some(Subscription { event: row.event, spelling })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_one_event_or_several_lines() {
        let one = subscriptions("  after_turn \n").unwrap();
        assert_eq!(one, [Subscription { event: EventName::AfterTurn, spelling: "after_turn" }]);
        let several =
            subscriptions("before_tool_call\r\nafter_tool_call\n\nturn_end\nafter_turn\n").unwrap();
        let events: Vec<&str> =
            several.iter().map(|subscription| subscription.event.as_str()).collect();
        assert_eq!(events, ["before_tool", "after_tool", "after_tool_failure", "after_turn"]);
        assert_eq!(several[3].spelling, "turn_end");
    }

    #[test]
    fn the_line_serve_is_accepted_only_where_the_program_was_asked_for_it() {
        let announced = announcement("before_tool_call\nserve\n").unwrap();
        assert!(announced.serves && announced.subscriptions.len() == 1);
        assert!(!announcement("after_turn").unwrap().serves);
        assert_eq!(announcement("serve"), Err(String::new()));
        assert_eq!(announcement("serve\nxyz"), Err("xyz".to_owned()));
        assert_eq!(subscriptions("after_turn\nserve"), Err("serve".to_owned()));
    }

    #[test]
    fn returns_the_first_unknown_line_as_the_error() {
        assert_eq!(subscriptions("xyz"), Err("xyz".to_owned()));
        assert_eq!(
            subscriptions("before_tool_call, agent_stop"),
            Err("before_tool_call, agent_stop".to_owned())
        );
        assert_eq!(subscriptions(" \n"), Err(String::new()));
    }
}
