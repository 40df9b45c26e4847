//! The filter of the records on a page.

use memchr::memmem::Finder;
use tenter_engine::DecisionKind;
use tenter_engine::journal::Record;
use tenter_protocol::tool_names;

use crate::line::TENTER;

/// Chooses records. An empty field chooses all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// A tool, by any of its names.
    pub(crate) tool: String,
    /// The full name of a hook.
    pub(crate) hook: String,
    /// The word of a decision.
    pub(crate) decision: String,
    /// The id of an agent.
    pub(crate) host: String,
    /// A text that occurs in the record, in whatever case.
    pub(crate) search: String,
}

impl Filter {
    /// Returns true if it chooses all records.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the fields that choose something, as they are in an address.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        let Self { tool, hook, decision, host, search } = self;
        let fields: [(&str, &String); 5] =
            [("tool", tool), ("hook", hook), ("decision", decision), ("host", host), ("q", search)];
        fields
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(key, value)| (key, &**value))
    }

    /// Returns the filter, ready to read many lines.
    pub(crate) fn reader(&self) -> FilterReader<'_> {
        // Lines are JSON, so the texts in them are escaped.
        let escape = |text: &str| {
            let text = serde_json::to_string(text).unwrap_or_default();
            text[1..text.len() - 1].to_owned()
        };
        // Answers to questions are chosen by `ask`, which they do not contain; records of Tenter name no agent.
        let is_written =
            |word: &&String| ![DecisionKind::Ask.as_str(), TENTER, ""].contains(&word.as_str());
        let words = [&self.hook, &self.decision, &self.host].into_iter().filter(is_written);
        FilterReader {
            filter: self,
            words: words.map(|word| Finder::new(&escape(word)).into_owned()).collect(),
            search: escape(&self.search).to_lowercase(),
        }
    }

    fn chooses(&self, record: &Record) -> bool {
        let Self { tool, hook, decision, host, search: _ } = self;
        let is_of_tool = |name: &str| is_tool(name, tool);
        let decided = || {
            let mut kinds = DecisionKind::ALL.into_iter();
            kinds
                .find(|kind| kind.as_str() == decision)
                .is_some_and(|kind| record.kind.decided(kind))
        };
        (tool.is_empty() || record.tool_name.as_deref().is_some_and(is_of_tool))
            && (hook.is_empty() || record.kind.hooks().any(|name| name == hook))
            && (host.is_empty() || record.host.as_deref().unwrap_or(TENTER) == host)
            && (decision.is_empty() || decided())
    }
}

/// Returns true if two names belong to one tool.
pub(crate) fn is_tool(one: &str, other: &str) -> bool {
    tool_names::canonical(one).unwrap_or(one) == tool_names::canonical(other).unwrap_or(other)
}

/// Reads lines through a filter. Most lines that are not chosen are recognised without being parsed.
pub(crate) struct FilterReader<'f> {
    filter: &'f Filter,
    /// The words that every chosen line contains.
    words: Vec<Finder<'static>>,
    /// The searched text, in lower case.
    search: String,
}

impl FilterReader<'_> {
    /// Reads a line.
    pub(crate) fn read(&self, line: &[u8]) -> FilteredLine {
        if self.words.iter().any(|word| word.find(line).is_none()) || !self.finds(line) {
            return FilteredLine::Other;
        }
        match serde_json::from_slice::<Record>(line) {
            Ok(record) if self.filter.chooses(&record) => FilteredLine::Chosen(Box::new(record)),
            Ok(_) => FilteredLine::Other,
            Err(_) => FilteredLine::Unreadable,
        }
    }

    /// Returns true if the searched text occurs in a line.
    fn finds(&self, line: &[u8]) -> bool {
        self.search.is_empty()
            || String::from_utf8_lossy(line).to_lowercase().contains(&self.search)
    }
}

/// A line, seen through a filter.
pub(crate) enum FilteredLine {
    /// A record that is chosen.
    Chosen(Box<Record>),
    /// A record that is not chosen.
    Other,
    /// Not a record.
    Unreadable,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn chooses(filter: &Filter, more: &Value) -> bool {
        let mut record = json!({"v": 1, "time": "t", "conversation_id": "c", "event": "before_tool", "tool_name": "bash"});
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let line = record.to_string();
        matches!(filter.reader().read(line.as_bytes()), FilteredLine::Chosen(_))
    }

    #[test]
    fn texts_are_found_although_lines_escape_them() {
        let name = "a \"quoted\"\\ ✓\thook";
        let run = |hook: &str| json!({"kind": "run", "hook": hook, "layer": "user", "hash": "", "spelling": "x", "duration_ms": 1, "exit": "exit 0", "decision": "deny"});
        let hook = Filter { hook: name.to_owned(), ..Filter::default() };
        assert!(chooses(&hook, &run(name)) && !chooses(&hook, &run("quoted")));
        let search = Filter { search: name.to_uppercase(), ..Filter::default() };
        assert!(chooses(&search, &run(name)) && !chooses(&search, &run("quoted")));
        let tenter = Filter { host: TENTER.to_owned(), ..Filter::default() };
        assert!(
            chooses(&tenter, &run("x")) && !chooses(&tenter, &json!({"kind": "new", "host": "pi"}))
        );
    }

    #[test]
    fn an_answered_question_is_chosen_by_ask() {
        let ask = Filter { decision: "ask".to_owned(), ..Filter::default() };
        let answer =
            json!({"kind": "answer", "hook": "h", "reason": "?", "answer": "no", "allowed": false});
        assert!(chooses(&ask, &answer));
        let deny = Filter { decision: "deny".to_owned(), ..Filter::default() };
        let text = json!({"kind": "notice", "text": "deny"});
        assert!(!chooses(&deny, &text));
    }
}
