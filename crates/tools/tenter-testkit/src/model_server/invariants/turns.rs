//! The rules for the order of messages: the user begins and ends, the model has no two consecutive turns, and every call is
//! answered once, in order, directly after it.

use std::collections::HashSet;

use super::Violations;

/// The side of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    User,
    Model,
}

/// The consecutive messages of one side.
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

    /// Adds a call of the model.
    pub(super) fn call(&mut self, id: &str) {
        self.calls.push(id.to_owned());
    }

    /// Adds the result of a call.
    pub(super) fn answer(&mut self, id: &str) {
        self.late |= self.speaks;
        self.answers.push(id.to_owned());
    }

    /// Records content other than calls and results.
    pub(super) fn speak(&mut self) {
        self.speaks = true;
    }

    fn is_empty(&self) -> bool {
        !self.speaks && self.calls.is_empty() && self.answers.is_empty()
    }
}

/// Returns the turn for the next message: the last one if it is of the same side and `joins`, else a new one.
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

/// Checks the order of the conversation in `field`.
pub(super) fn check(turns: &[Turn], field: &str, violations: &mut Violations) {
    let first = turns.first().map(|turn| turn.side);
    violations.demand(first.is_some(), field, "there is no message");
    violations.demand(first != Some(Side::Model), field, "the first message must be the user's");
    let last = turns.last().map(|turn| turn.side);
    violations.demand(last != Some(Side::Model), field, "the last message must be the user's");
    let mut calls: &[String] = &[];
    let mut side = None;
    for turn in turns {
        violations.demand(!turn.is_empty(), &turn.at, "says nothing");
        violations.demand(!turn.late, &turn.at, "answers to calls come before anything else");
        let twice = side == Some(Side::Model) && turn.side == Side::Model;
        violations.demand(!twice, &turn.at, "the model speaks twice in a row");
        answers(calls, turn, violations);
        calls = &turn.calls;
        side = Some(turn.side);
    }
    for call in calls {
        violations.add(field, &format!("the call {call} has no answer"));
    }
}

/// Checks that no two calls have the same id.
pub(super) fn distinct(turns: &[Turn], field: &str, violations: &mut Violations) {
    let mut ids = HashSet::new();
    for call in turns.iter().flat_map(|turn| &turn.calls) {
        violations.demand(ids.insert(call), field, &format!("two calls have the id {call}"));
    }
}

fn answers(calls: &[String], turn: &Turn, violations: &mut Violations) {
    let answers = &turn.answers;
    if calls == answers {
        return;
    }
    let count = |ids: &[String], id: &String| ids.iter().filter(|one| *one == id).count();
    let mut explained = false;
    for call in calls.iter().filter(|call| !answers.contains(call)) {
        explained = true;
        violations.add(&turn.at, &format!("the call {call} has no answer directly after it"));
    }
    let mut ids = HashSet::new();
    for answer in answers.iter().filter(|answer| ids.insert(*answer)) {
        let problem = match count(calls, answer) {
            0 => "answers no call directly before it",
            asked if asked < count(answers, answer) => "is answered twice",
            _ => continue,
        };
        explained = true;
        violations.add(&turn.at, &format!("{answer} {problem}"));
    }
    violations.demand(explained, &turn.at, "the answers are not in the order of the calls");
}
