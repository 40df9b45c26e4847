//! The fold: replies, in order, into one outcome. Pure: no clock, no process, no observer (RESOLUTIONS section D).

use tenter_protocol::confinement::Confinement;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::reply::VerdictKind;
use tenter_protocol::tool_names::ToolNames;
use tenter_protocol::{Body, HistoryAction, Reply, Rewrite, ToolResult, Verdict, tool_fields};

use crate::builtin;
use crate::observe::RewriteChange;

/// A part of a decision, and the hook that it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attributed<T> {
    /// The hook's full name.
    pub hook: String,
    /// The part.
    pub value: T,
}

/// The common decision of the hooks of one event. If no hook replied, the body is unchanged and everything else is empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The event's body as the hooks left it.
    pub body: Body,
    /// The strongest verdict, and the first hook that gave it.
    pub verdict: Option<Attributed<Verdict>>,
    /// The confinements of the call: all apply (F2).
    pub confinements: Vec<Attributed<Confinement>>,
    /// The hook that explicitly allowed the call as it is now.
    pub(crate) allowed_by: Option<String>,
    /// True if the event is denied because a hook failed (R42).
    pub denied_by_failure: bool,
    /// The hooks that rewrote something, in order.
    pub rewritten_by: Vec<String>,
    /// Text to add for the model, in order.
    pub contexts: Vec<Attributed<String>>,
    /// Messages with which the agent continues, in order (R31).
    pub follow_ups: Vec<Attributed<String>>,
    /// Changes to the history, in order: the first that can be started counts (R31, R66).
    pub history: Vec<Attributed<HistoryAction>>,
    /// The body before the first rewrite, if there was one.
    original: Option<Body>,
    pub(super) tool_names: ToolNames,
}

impl Outcome {
    /// Creates the outcome if no hook replies.
    pub fn new(body: Body) -> Self {
        Self {
            body,
            verdict: None,
            confinements: Vec::new(),
            allowed_by: None,
            denied_by_failure: false,
            rewritten_by: Vec::new(),
            contexts: Vec::new(),
            follow_ups: Vec::new(),
            history: Vec::new(),
            original: None,
            tool_names: ToolNames::default(),
        }
    }

    /// Returns the hook that denied the event and its reason, if one did.
    pub fn denied(&self) -> Option<(&str, &str)> {
        self.verdict_of(VerdictKind::Deny)
    }

    /// Returns the hook that asks the user and its reason, if one does and none denied.
    pub fn asked(&self) -> Option<(&str, &str)> {
        self.verdict_of(VerdictKind::Ask)
    }

    fn verdict_of(&self, kind: VerdictKind) -> Option<(&str, &str)> {
        let verdict = self.verdict.as_ref().filter(|verdict| verdict.value.kind == kind)?;
        Some((&verdict.hook, verdict.value.reason_text()))
    }

    /// Returns the hooks whose history action does not count because an earlier one does, except for the built-in hook (R31).
    pub fn overruled(&self) -> Vec<String> {
        let behind = self.history.iter().skip(1).map(|action| &action.hook);
        behind.filter(|hook| *hook != builtin::NAME).cloned().collect()
    }

    /// Adds one hook's reply. Returns what its rewrite changed.
    ///
    /// # Errors
    /// The rewrite does not fit the event. Nothing of the reply is applied then.
    pub fn apply(&mut self, hook: &str, reply: Reply) -> Result<Option<RewriteChange>, String> {
        let denies = reply.verdict.as_ref().is_some_and(Verdict::is_deny);
        // A denied event is not changed. After a tool, a redaction counts in addition to the feedback.
        let rewrite = reply.rewrite.filter(|_| !denies || !self.body.name().is_deniable());
        let change = rewrite.map(|rewrite| self.rewrite(hook, rewrite)).transpose()?.flatten();
        if denies {
            self.deny(hook, reply.verdict);
        } else {
            self.raise_verdict(hook, reply.verdict);
        }
        let confinements = reply.confinements.into_iter();
        self.confinements
            .extend(confinements.map(|value| Attributed { hook: hook.to_owned(), value }));
        let attribute = |value| Attributed { hook: hook.to_owned(), value };
        self.contexts.extend(reply.context.filter(|text| !text.trim().is_empty()).map(attribute));
        self.follow_ups.extend(reply.follow_ups.into_iter().map(attribute));
        let action = reply.history.map(|value| Attributed { hook: hook.to_owned(), value });
        self.history.extend(action);
        Ok(change)
    }

    /// Adds the action of the built-in hook after the actions of all hooks. Returns the hook whose action comes first, if there is
    /// one.
    pub(super) fn add_built_in_action(
        &mut self,
        hook: &str,
        action: HistoryAction,
    ) -> Option<&str> {
        self.history.push(Attributed { hook: hook.to_owned(), value: action });
        self.history.first().filter(|_| self.history.len() > 1).map(|first| first.hook.as_str())
    }

    /// Denies because a hook that fails closed failed (R42).
    pub(super) fn deny_for_failure(&mut self, hook: &str, failure: &str) {
        let reason = format!("{}, and it is set to fail closed", failed(hook, failure));
        self.deny_without_reply(hook, reason);
    }

    /// Denies because a hook is not the one that was trusted, whatever its fail mode (R75).
    pub(super) fn deny_for_change(&mut self, hook: &str, failure: &str) {
        self.deny_without_reply(hook, failed(hook, failure));
    }

    fn deny_without_reply(&mut self, hook: &str, reason: String) {
        self.deny(hook, Some(Verdict::new(VerdictKind::Deny, Some(reason))));
        self.denied_by_failure = true;
    }

    /// Withholds a tool's output, because a hook that fails closed failed to check it (R42).
    pub(super) fn withhold_for_failure(&mut self, hook: &str, failure: &str) {
        self.withhold(hook, &format!("{}, and it is set to fail closed", failed(hook, failure)));
    }

    /// Withholds a tool's output, because a hook that should check it is not the one that was trusted (R75).
    pub(super) fn withhold_for_change(&mut self, hook: &str, failure: &str) {
        self.withhold(hook, &failed(hook, failure));
    }

    fn withhold(&mut self, hook: &str, why: &str) {
        let Body::AfterTool { result, .. } = &mut self.body else { return };
        let error = format!("the output is withheld: {why}");
        *result = ToolResult::failure(&result.tool_name, error, result.timestamp.clone());
        self.rewritten_by.push(hook.to_owned());
    }

    /// Undoes every rewrite after a deny that prevents the event (R24, R26). After a tool, where a deny is only feedback,
    /// redactions stay.
    pub(super) fn deny(&mut self, hook: &str, verdict: Option<Verdict>) {
        self.raise_verdict(hook, verdict);
        if !self.body.name().may(Power::Block) {
            return;
        }
        self.rewritten_by.clear();
        if let Some(original) = self.original.take() {
            self.body = original;
        }
    }

    pub(super) fn raise_verdict(&mut self, hook: &str, verdict: Option<Verdict>) {
        let Some(verdict) = verdict else { return };
        if self.verdict.as_ref().is_none_or(|earlier| verdict.kind > earlier.value.kind) {
            self.verdict = Some(Attributed { hook: hook.to_owned(), value: verdict });
        }
    }

    /// Replaces the subject of the body. Returns `None` if that changes nothing.
    fn rewrite(&mut self, hook: &str, rewrite: Rewrite) -> Result<Option<RewriteChange>, String> {
        let mut body = self.body.clone();
        match (&mut body, rewrite) {
            (Body::BeforeAgent { .. }, Rewrite::Message(new)) if new.trim().is_empty() => {
                return Err("a message must not be empty".to_owned());
            }
            (Body::BeforeAgent { message }, Rewrite::Message(new)) => *message = new,
            (Body::BeforeTool(call), Rewrite::Input(new)) => {
                // Two spellings with different values stay as they are: the tool's check refuses them.
                let tool = self.tool_names.standard(&call.name);
                call.input = tool_fields::renamed(tool, &new).unwrap_or(new);
            }
            (Body::AfterTool { result, .. }, Rewrite::Output(new)) => {
                *result = result.rewrite(&new)?;
            }
            _ => return Err("this event has nothing that could be rewritten so".to_owned()),
        }
        if body == self.body {
            return Ok(None);
        }
        let change =
            RewriteChange { before: super::subject(&self.body), after: super::subject(&body) };
        self.allowed_by = None;
        let before = std::mem::replace(&mut self.body, body);
        self.original.get_or_insert(before);
        self.rewritten_by.push(hook.to_owned());
        Ok(Some(change))
    }
}

fn failed(hook: &str, failure: &str) -> String {
    format!("the hook {hook} failed ({failure})")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::observe::DecisionKind;
    use proptest::prelude::*;
    use serde_json::json;
    use tenter_protocol::{Message, Object, ToolCall};

    fn object(text: &str) -> Object {
        json!({"command": text}).as_object().unwrap().clone()
    }

    fn before_tool() -> Body {
        Body::BeforeTool(ToolCall { id: "1".into(), name: "bash".into(), input: object("ls") })
    }

    fn verdict(kind: VerdictKind, reason: &str) -> Reply {
        Reply { verdict: Some(Verdict::new(kind, Some(reason.to_owned()))), ..Reply::default() }
    }

    fn rewrite(text: &str) -> Reply {
        Reply { rewrite: Some(Rewrite::Input(object(text))), ..Reply::default() }
    }

    fn fold(replies: &[(&str, Reply)]) -> Outcome {
        let mut outcome = Outcome::new(before_tool());
        for (hook, reply) in replies {
            if outcome.denied().is_some() {
                break;
            }
            outcome.apply(hook, reply.clone()).unwrap();
        }
        outcome
    }

    fn command(outcome: &Outcome) -> &str {
        outcome.body.tool_call().unwrap().input["command"].as_str().unwrap()
    }

    #[test]
    fn the_first_deny_counts_and_discards_rewrites() {
        let outcome = fold(&[
            ("a", rewrite("ls -l")),
            (
                "b",
                Reply {
                    rewrite: Some(Rewrite::Input(object("rm"))),
                    ..verdict(VerdictKind::Deny, "no")
                },
            ),
            ("c", verdict(VerdictKind::Deny, "never asked")),
        ]);
        assert_eq!(outcome.denied(), Some(("b", "no")));
        assert_eq!(command(&outcome), "ls");
        assert!(outcome.rewritten_by.is_empty());
    }

    #[test]
    fn redactions_stay_when_a_later_hook_denies() {
        let Body::BeforeTool(call) = before_tool() else { unreachable!() };
        let result = tenter_protocol::ToolResult::failure("bash", "SECRET", "T".to_owned());
        let mut outcome = Outcome::new(Body::AfterTool { call, result });
        let redacted = json!({"error": "[redacted]"}).as_object().unwrap().clone();
        let reply = Reply { rewrite: Some(Rewrite::Output(redacted)), ..Reply::default() };
        outcome.apply("redact", reply).unwrap();
        outcome.apply("critic", verdict(VerdictKind::Deny, "not good")).unwrap();
        assert_eq!(outcome.denied(), Some(("critic", "not good")));
        assert!(
            matches!(&outcome.body, Body::AfterTool { result, .. } if result.text() == "<error>[redacted]</error>")
        );
    }

    #[test]
    fn a_redaction_counts_in_addition_to_feedback() {
        let Body::BeforeTool(call) = before_tool() else { unreachable!() };
        let result = ToolResult::failure("bash", "SECRET", "T".to_owned());
        let mut outcome = Outcome::new(Body::AfterTool { call, result });
        let redacted = json!({"error": "[redacted]"}).as_object().unwrap().clone();
        let deny = verdict(VerdictKind::Deny, "a key was printed");
        let reply = Reply { rewrite: Some(Rewrite::Output(redacted)), ..deny };
        assert!(outcome.apply("redact", reply).unwrap().is_some());
        assert_eq!(outcome.denied(), Some(("redact", "a key was printed")));
        assert!(
            matches!(&outcome.body, Body::AfterTool { result, .. } if result.text() == "<error>[redacted]</error>")
        );
    }

    #[test]
    fn contexts_of_a_chain_that_ends_in_a_deny_are_kept() {
        let context = |text: &str| Reply { context: Some(text.into()), ..Reply::default() };
        let deny = Reply { context: Some("b".into()), ..verdict(VerdictKind::Deny, "no") };
        let outcome = fold(&[("one", context("a")), ("two", deny)]);
        let contexts: Vec<&str> =
            outcome.contexts.iter().map(|context| context.value.as_str()).collect();
        assert_eq!((contexts, outcome.denied()), (vec!["a", "b"], Some(("two", "no"))));
    }

    #[test]
    fn a_rewrite_that_changes_nothing_is_no_rewrite() {
        let mut outcome = Outcome::new(before_tool());
        assert_eq!(outcome.apply("a", rewrite("ls")), Ok(None));
        assert_eq!(outcome, Outcome::new(before_tool()));
    }

    #[test]
    fn withholds_the_output_that_a_failed_hook_should_check() {
        let Body::BeforeTool(call) = before_tool() else { unreachable!() };
        let metadata = tenter_protocol::tool_metadata::Bash {
            output: "SECRET".to_owned(),
            ..Default::default()
        };
        let result = ToolResult::success("bash", &metadata, "T".to_owned());
        let mut outcome = Outcome::new(Body::AfterTool { call, result });
        outcome.withhold_for_failure("redact", "it exited with code 1");
        let Body::AfterTool { result, .. } = &outcome.body else { unreachable!() };
        assert!(result.is_failure() && !result.text().contains("SECRET"), "{result:?}");
        assert!(result.text().contains("redact failed (it exited with code 1)"), "{result:?}");
    }

    #[test]
    fn rewrites_chain_and_silence_undoes_none() {
        let outcome = fold(&[
            ("a", rewrite("ls -l")),
            ("b", Reply::default()),
            ("c", verdict(VerdictKind::Allow, "fine")),
        ]);
        assert_eq!(command(&outcome), "ls -l");
        assert_eq!(outcome.rewritten_by, ["a"]);
        assert_eq!(outcome.parts(), [(DecisionKind::Rewrite, "a"), (DecisionKind::Allow, "c")]);
    }

    #[test]
    fn ask_overrides_allow_and_the_first_of_equals_counts() {
        let outcome = fold(&[
            ("a", verdict(VerdictKind::Allow, "")),
            ("b", verdict(VerdictKind::Ask, "first")),
            ("c", verdict(VerdictKind::Ask, "second")),
        ]);
        assert_eq!(outcome.asked(), Some(("b", "first")));
    }

    #[test]
    fn the_first_history_action_wins_and_follow_ups_accumulate() {
        let mut outcome = Outcome::new(before_tool());
        let mutate = |text: &str| Some(HistoryAction::Mutate(vec![Message::user(text)]));
        for (hook, text) in [("a", "one"), ("b", "two")] {
            let reply = Reply {
                history: mutate(text),
                follow_ups: vec![text.to_owned()],
                ..Reply::default()
            };
            outcome.apply(hook, reply).unwrap();
        }
        assert_eq!(outcome.history[0].hook, "a");
        assert_eq!(outcome.overruled(), ["b"]);
        let texts: Vec<&str> = outcome.follow_ups.iter().map(|text| text.value.as_str()).collect();
        assert_eq!(texts, ["one", "two"]);
    }

    #[test]
    fn applies_nothing_of_a_reply_whose_rewrite_does_not_fit() {
        let mut outcome = Outcome::new(before_tool());
        let reply = Reply {
            rewrite: Some(Rewrite::Message("x".into())),
            context: Some("c".into()),
            ..Reply::default()
        };
        assert!(outcome.apply("a", reply).is_err());
        assert_eq!(outcome, Outcome::new(before_tool()));
    }

    #[test]
    fn a_fail_closed_failure_denies_and_is_marked() {
        let mut outcome = Outcome::new(before_tool());
        outcome.deny_for_failure("guard", "timed out after 30 s");
        let (hook, reason) = outcome.denied().unwrap();
        assert_eq!(hook, "guard");
        assert!(reason.contains("guard failed (timed out after 30 s)"), "{reason}");
        assert!(outcome.denied_by_failure);
    }

    fn any_reply() -> impl Strategy<Value = Reply> {
        let verdict = prop_oneof![
            4 => Just(None),
            1 => Just(Some(VerdictKind::Allow)),
            1 => Just(Some(VerdictKind::Ask)),
            1 => Just(Some(VerdictKind::Deny)),
        ];
        (verdict, proptest::option::of("[a-c]{1,2}"), proptest::option::of("[x-z]")).prop_map(
            |(kind, command, context)| Reply {
                verdict: kind.map(|kind| Verdict::new(kind, None)),
                rewrite: command.map(|command| Rewrite::Input(object(&command))),
                context,
                ..Reply::default()
            },
        )
    }

    /// Answers of which some want something done to the history.
    fn any_history_reply() -> impl Strategy<Value = Reply> {
        let action = prop_oneof![
            Just(None),
            "[a-c]".prop_map(|text| Some(HistoryAction::Mutate(vec![Message::user(text)]))),
            "[a-c]"
                .prop_map(|recipe| Some(HistoryAction::Callback { recipe, args: BTreeMap::new() })),
        ];
        (any_reply(), action).prop_map(|(reply, history)| Reply { history, ..reply })
    }

    fn named(replies: &[Reply]) -> Vec<(String, Reply)> {
        replies
            .iter()
            .enumerate()
            .map(|(index, reply)| (format!("hook{index}"), reply.clone()))
            .collect()
    }

    fn fold_named(replies: &[(String, Reply)]) -> Outcome {
        let borrowed: Vec<(&str, Reply)> =
            replies.iter().map(|(hook, reply)| (hook.as_str(), reply.clone())).collect();
        fold(&borrowed)
    }

    proptest! {
        #[test]
        fn empty_replies_change_nothing(replies in proptest::collection::vec(any_reply(), 0..6), at in 0usize..7) {
            let plain = named(&replies);
            let mut with_silence = plain.clone();
            with_silence.insert(at.min(plain.len()), ("silent".to_owned(), Reply::default()));
            prop_assert_eq!(fold_named(&plain), fold_named(&with_silence));
        }

        #[test]
        fn a_deny_wins_in_any_position_and_the_first_is_named(replies in proptest::collection::vec(any_reply(), 0..6)) {
            let replies = named(&replies);
            let first = replies.iter().find(|(_, reply)| reply.verdict.as_ref().is_some_and(Verdict::is_deny));
            let outcome = fold_named(&replies);
            prop_assert_eq!(outcome.denied().map(|(hook, _)| hook), first.map(|(hook, _)| hook.as_str()));
            if first.is_some() {
                prop_assert_eq!(outcome.body, before_tool());
            }
        }

        #[test]
        fn the_built_in_hook_comes_last_and_changes_nothing_else(
            replies in proptest::collection::vec(any_history_reply(), 0..6),
        ) {
            let mut outcome = fold_named(&named(&replies));
            let before = outcome.clone();
            let action = HistoryAction::Callback { recipe: "compact".into(), args: BTreeMap::new() };
            let first = outcome.add_built_in_action(builtin::NAME, action.clone()).map(str::to_owned);
            prop_assert_eq!(first.as_ref(), before.history.first().map(|decision| &decision.hook));
            let mut expected = before.clone();
            expected.history.push(Attributed { hook: builtin::NAME.into(), value: action });
            prop_assert_eq!(outcome.overruled(), before.overruled());
            prop_assert_eq!(outcome, expected);
        }

        #[test]
        fn without_a_deny_the_last_rewrite_stands(replies in proptest::collection::vec(any_reply(), 0..6)) {
            let replies: Vec<Reply> =
                replies.into_iter().filter(|reply| !reply.verdict.as_ref().is_some_and(Verdict::is_deny)).collect();
            let last = replies.iter().rev().find_map(|reply| match &reply.rewrite {
                Some(Rewrite::Input(input)) => Some(input.clone()),
                _ => None,
            });
            let outcome = fold_named(&named(&replies));
            prop_assert_eq!(&outcome.body.tool_call().unwrap().input, &last.unwrap_or_else(|| object("ls")));
        }
    }
}
