//! The order of a conversation, which is nearly the same in every format: the user begins and ends, the model does not speak
//! twice in a row, and every call is answered once, in order, directly after it.

use std::collections::HashSet;

use super::Findings;

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    User,
    Model,
}

/// Everything that one side says before the other does.
#[derive(Debug)]
pub(super) struct Turn {
    at: String,
    side: Side,
    calls: Vec<String>,
    answers: Vec<String>,
    speaks: bool,
    late: bool,
}

impl Turn {
    pub(super) fn new(at: &str, side: Side) -> Self {
        Self {
            at: at.to_owned(),
            side,
            calls: Vec::new(),
            answers: Vec::new(),
            speaks: false,
            late: false,
        }
    }

    /// The model calls a tool.
    pub(super) fn call(&mut self, id: &str) {
        self.calls.push(id.to_owned());
    }

    /// The user's side answers a call.
    pub(super) fn answer(&mut self, id: &str) {
        self.late |= self.speaks;
        self.answers.push(id.to_owned());
    }

    /// Something else than calls and answers.
    pub(super) fn speak(&mut self) {
        self.speaks = true;
    }

    fn is_empty(&self) -> bool {
        !self.speaks && self.calls.is_empty() && self.answers.is_empty()
    }
}

/// The turn that what comes next belongs to: the last one, when it is the same side's and `joins`; else a new one.
pub(super) fn turn<'t>(
    turns: &'t mut Vec<Turn>,
    at: &str,
    side: Side,
    joins: bool,
) -> &'t mut Turn {
    if !(joins && turns.last().is_some_and(|last| last.side == side)) {
        turns.push(Turn::new(at, side));
    }
    let last = turns.len() - 1;
    &mut turns[last]
}

/// Checks the order of a conversation that stands in `field`.
pub(super) fn check(turns: &[Turn], field: &str, findings: &mut Findings) {
    let first = turns.first().map(|turn| turn.side);
    findings.demand(first.is_some(), field, "there is no message");
    findings.demand(first != Some(Side::Model), field, "the first message must be the user's");
    let last = turns.last().map(|turn| turn.side);
    findings.demand(last != Some(Side::Model), field, "the last message must be the user's");
    let mut calls: &[String] = &[];
    let mut side = None;
    for turn in turns {
        findings.demand(!turn.is_empty(), &turn.at, "says nothing");
        findings.demand(!turn.late, &turn.at, "answers to calls come before anything else");
        let twice = side == Some(Side::Model) && turn.side == Side::Model;
        findings.demand(!twice, &turn.at, "the model speaks twice in a row");
        answers(calls, turn, findings);
        calls = &turn.calls;
        side = Some(turn.side);
    }
    for call in calls {
        findings.add(field, &format!("the call {call} has no answer"));
    }
}

/// Checks that no two calls have the same id.
pub(super) fn distinct(turns: &[Turn], field: &str, findings: &mut Findings) {
    let mut seen = HashSet::new();
    for call in turns.iter().flat_map(|turn| &turn.calls) {
        findings.demand(seen.insert(call), field, &format!("two calls have the id {call}"));
    }
}

fn answers(calls: &[String], turn: &Turn, findings: &mut Findings) {
    let answers = &turn.answers;
    if calls == answers {
        return;
    }
    let count = |ids: &[String], id: &String| ids.iter().filter(|known| *known == id).count();
    let mut explained = false;
    for call in calls.iter().filter(|call| !answers.contains(call)) {
        explained = true;
        findings.add(&turn.at, &format!("the call {call} has no answer directly after it"));
    }
    let mut seen = HashSet::new();
    for answer in answers.iter().filter(|answer| seen.insert(*answer)) {
        let problem = match count(calls, answer) {
            0 => "answers no call directly before it",
            asked if asked < count(answers, answer) => "is answered twice",
            _ => continue,
        };
        explained = true;
        findings.add(&turn.at, &format!("{answer} {problem}"));
    }
    findings.demand(explained, &turn.at, "the answers are not in the order of the calls");
}
