//! The executable protocol: a program that is asked `hook` (which events?) and `run` (here is a payload, what say you?).
//!
//! `request` writes payloads, `reply` reads answers, this module reads subscriptions. The spellings and the order of keys
//! are the documents' (`kodelet-hooks.md`), with additions after them.

mod reply;
mod request;

pub use reply::parse_reply;
pub use request::payload;

use crate::EventName;
use crate::lifecycle::TABLE;

/// The version of this protocol, as payloads and `TENTER_PROTOCOL_VERSION` give it.
pub const PROTOCOL_VERSION: u32 = 1;

/// An event that a hook wants to be told of, in the words in which it said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subscription {
    /// The event.
    pub event: EventName,
    /// What the executable printed; the payload's `event` echoes it (R2).
    pub spelling: &'static str,
}

/// Reads what an executable printed when it was asked `hook`: one known event name, or several, one a line (R12).
///
/// # Errors
/// The first line that is no known event name; empty when nothing was printed.
pub fn subscriptions(printed: &str) -> Result<Vec<Subscription>, String> {
    let lines: Vec<&str> = printed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        return Err(String::new());
    }
    let mut found: Vec<Subscription> = Vec::new();
    for line in lines {
        let named = spelled(line);
        if named.is_empty() {
            return Err(line.to_owned());
        }
        for subscription in named {
            // A program that names `after_turn` and `turn_end` is still told once, in the words that it used first.
            if found.iter().all(|known| known.event != subscription.event) {
                found.push(subscription);
            }
        }
    }
    Ok(found)
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
    fn one_name_or_several_one_a_line_are_read() {
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
    fn anything_else_is_shown_back() {
        assert_eq!(subscriptions("xyz"), Err("xyz".to_owned()));
        assert_eq!(
            subscriptions("before_tool_call, agent_stop"),
            Err("before_tool_call, agent_stop".to_owned())
        );
        assert_eq!(subscriptions(" \n"), Err(String::new()));
    }
}
