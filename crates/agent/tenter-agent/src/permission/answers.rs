//! The answers that the user gave in a session.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tenter_base::lock;
use tenter_engine::PermissionSource;
use tenter_protocol::{Object, ToolCall};

use super::restriction::{Restriction, Restrictions};
use super::{
    Asker, CallContext, PermissionAnswer, PermissionMode, PermissionReply, PermissionRequest, Rule,
    Rules, rules,
};

/// The permission mode, the rules, and the answers that the user gave for the rest of the session.
#[derive(Debug, Default)]
pub struct Permissions {
    mode: Arc<Mutex<PermissionMode>>,
    /// In plan mode, calls that may change something do not run.
    is_planning: Arc<AtomicBool>,
    rules: Rules,
    restrictions: Arc<Restrictions>,
    /// Calls that hooks confine run without a question.
    lets_confined_run: bool,
    always: Mutex<Vec<AllowedCall>>,
    /// The calls that the user allowed where the mode asked.
    calls: Mutex<Vec<(String, Object)>>,
    /// The answers about protected paths.
    writes: Mutex<BTreeMap<PathBuf, bool>>,
}

/// A call that is always allowed: exactly this call, for exactly this hook.
#[derive(Debug, PartialEq)]
struct AllowedCall {
    hook: String,
    tool: String,
    input: Object,
}

/// An answer, and whether it was remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordedAnswer {
    /// The user's answer.
    pub(crate) answer: PermissionAnswer,
    /// The user gave it earlier in the session.
    pub(crate) remembered: bool,
}

/// The circumstances in which the permission for a call is needed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PermissionQuestion {
    /// A hook allowed the call, or asked the user about it.
    pub(crate) is_settled: bool,
    /// The mode asks about such calls.
    pub(crate) mode_asks: bool,
    /// A subagent makes the call.
    pub(crate) is_from_subagent: bool,
}

impl Permissions {
    /// Creates permissions without answers, in this mode and with these rules.
    pub fn new(mode: PermissionMode, rules: Rules) -> Self {
        Self { mode: Arc::new(Mutex::new(mode)), rules, ..Self::default() }
    }

    /// Adds rules that make the permissions stricter.
    #[must_use]
    pub fn with_restrictions(self, restrictions: Restrictions) -> Self {
        Self { restrictions: Arc::new(restrictions), ..self }
    }

    /// Returns the same mode and rules for another conversation, without the user's answers.
    #[must_use]
    pub fn for_another_conversation(&self) -> Self {
        let (mode, is_planning) = (Arc::clone(&self.mode), Arc::clone(&self.is_planning));
        let (rules, restrictions) = (self.rules.clone(), Arc::clone(&self.restrictions));
        let lets_confined_run = self.lets_confined_run;
        Self { mode, is_planning, rules, restrictions, lets_confined_run, ..Self::default() }
    }

    /// Lets calls run without a question if hooks confine them (F2).
    #[must_use]
    pub fn with_confined_allowed(self, lets_confined_run: bool) -> Self {
        Self { lets_confined_run, ..self }
    }

    /// Returns true if the mode does not ask about calls that hooks confine.
    pub(crate) fn lets_confined_run(&self) -> bool {
        self.lets_confined_run
    }

    /// Returns the mode.
    pub fn mode(&self) -> PermissionMode {
        *lock(&self.mode)
    }

    /// Switches to another mode.
    pub fn set_mode(&self, mode: PermissionMode) {
        *lock(&self.mode) = mode;
    }

    /// Returns whether plan mode is on.
    pub fn is_planning(&self) -> bool {
        self.is_planning.load(Ordering::Relaxed)
    }

    /// Switches plan mode on, or off when the user approves the plan. In plan mode, calls that may change something do not run,
    /// whatever hooks and rules allow. Subagents and side recipes share it.
    pub fn set_planning(&self, is_planning: bool) {
        self.is_planning.store(is_planning, Ordering::Relaxed);
    }

    /// Returns whether a call may be refused that the mode or a hook allows.
    pub(crate) fn is_restricted(&self) -> bool {
        self.is_planning() || !self.restrictions.is_empty()
    }

    /// Returns the rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Returns the rules that make the permissions stricter.
    pub fn restrictions(&self) -> &Restrictions {
        &self.restrictions
    }

    /// Decides whether a call may run. Asks the user if the mode or a rule requires it, unless they answered "always" to exactly this
    /// call before. Also returns an error if rules that they added could not be stored.
    pub(crate) fn decide(
        &self,
        asker: &dyn Asker,
        context: CallContext<'_>,
        question: PermissionQuestion,
    ) -> (PermissionSource, Option<String>) {
        // Held while asking: parallel calls must not ask two questions at once, and an answer may settle the next one.
        let mut calls = lock(&self.calls);
        let asking_rule = match self.asking_rule(context, question) {
            Ok(rule) => rule,
            Err(source) => return (source, None),
        };
        let CallContext { call, file, .. } = context;
        let key = (call.name.clone(), relevant_input(call));
        if calls.contains(&key) {
            return (answered(PermissionAnswer::Always, true, None), None);
        }
        // A rule that allows the call would not prevent the next question.
        let rules = if asking_rule.is_some() { Vec::new() } else { self.rules.proposed(context) };
        let request = PermissionRequest {
            call,
            file,
            rules: &rules,
            asking_rule: asking_rule.as_deref(),
            is_from_subagent: question.is_from_subagent,
        };
        let source = match asker.permits(&request) {
            PermissionReply::Yes => answered(PermissionAnswer::Yes, false, None),
            PermissionReply::Always => {
                calls.push(key);
                answered(PermissionAnswer::Always, false, None)
            }
            PermissionReply::AddRules => return self.add_rules(&rules),
            PermissionReply::No { reason } => answered(PermissionAnswer::No, false, reason),
            PermissionReply::NoUser => {
                let reason = asking_rule.map(|rule| format!("the rule {rule} asks the user"));
                answered(PermissionAnswer::Unattended { allowed: false }, false, reason)
            }
        };
        (source, None)
    }

    /// Returns the rule because of which the user is asked about a call, if it is not the mode that asks.
    ///
    /// # Errors
    /// The call is decided without a question.
    fn asking_rule(
        &self,
        context: CallContext<'_>,
        question: PermissionQuestion,
    ) -> Result<Option<String>, PermissionSource> {
        if self.is_planning() && !rules::only_reads(context) {
            let reason = "plan mode is on, so nothing may be changed yet; describe the plan, and the user will approve it";
            return Err(refused(reason.to_owned()));
        }
        match self.restrictions.find_for_call(context) {
            Some(Restriction::Deny(rule)) => {
                return Err(refused(format!("the rule {rule} denies it")));
            }
            Some(Restriction::Ask(rule)) if !question.is_settled => return Ok(Some(rule)),
            Some(Restriction::Ask(_)) | None => {}
        }
        if question.is_settled || !question.mode_asks {
            return Err(PermissionSource::Mode);
        }
        if let Some(rules) = self.rules.allowing(context) {
            return Err(PermissionSource::Rules(rules));
        }
        if rules::only_reads(context) { Err(PermissionSource::Mode) } else { Ok(None) }
    }

    /// Adds the rules that the user accepted. Also returns an error if they could not be stored.
    fn add_rules(&self, rules: &[Rule]) -> (PermissionSource, Option<String>) {
        let failure = self.rules.add(rules).err();
        let texts = rules.iter().map(Rule::to_string).collect();
        let (answer, reason) = (PermissionAnswer::Always, None);
        (PermissionSource::User { answer, remembered: false, added: texts, reason }, failure)
    }

    /// Returns the user's answer to a hook's question about a call. Does not ask again if the user answered "always" before.
    pub(crate) fn answer(
        &self,
        asker: &dyn Asker,
        hook: &str,
        reason: &str,
        call: &ToolCall,
    ) -> RecordedAnswer {
        // Held while asking: parallel calls must not ask two questions on one terminal at once.
        let mut always = lock(&self.always);
        let call_to_allow = AllowedCall {
            hook: hook.to_owned(),
            tool: call.name.clone(),
            input: call.input.clone(),
        };
        if always.contains(&call_to_allow) {
            return RecordedAnswer { answer: PermissionAnswer::Always, remembered: true };
        }
        let answer = asker.ask(hook, reason, call);
        if answer == PermissionAnswer::Always {
            always.push(call_to_allow);
        }
        RecordedAnswer { answer, remembered: false }
    }

    /// Returns whether file tools may change `place`; asks once per path.
    pub(crate) fn may_write(&self, asker: &dyn Asker, place: &Path, file: &Path) -> bool {
        // Held while asking, so that parallel calls do not ask the same question.
        let mut writes = lock(&self.writes);
        *writes.entry(place.to_owned()).or_insert_with(|| asker.agrees_to_write(place, file))
    }

    /// Forgets refusals: with the next message the user may have changed their mind.
    pub(crate) fn forget_refused_writes(&self) {
        let mut writes = lock(&self.writes);
        writes.retain(|_, agreed| *agreed);
    }
}

/// Returns the refusal of a call by a rule or mode of the user.
fn refused(reason: String) -> PermissionSource {
    answered(PermissionAnswer::No, true, Some(reason))
}

fn answered(
    answer: PermissionAnswer,
    is_remembered: bool,
    reason: Option<String>,
) -> PermissionSource {
    PermissionSource::User { answer, remembered: is_remembered, added: Vec::new(), reason }
}

/// Returns the input without the description of a command, which models word differently each time.
fn relevant_input(call: &ToolCall) -> Object {
    let mut input = call.input.clone();
    if call.name == "bash" {
        input.remove("description");
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    struct CountingAsker(PermissionAnswer, AtomicU32);

    impl Asker for CountingAsker {
        fn ask(&self, _: &str, _: &str, _: &ToolCall) -> PermissionAnswer {
            self.1.fetch_add(1, Ordering::SeqCst);
            self.0
        }
    }

    fn call(command: &str) -> ToolCall {
        let input = [("command".to_owned(), command.into())].into_iter().collect();
        ToolCall { id: "1".into(), name: "bash".into(), input }
    }

    fn answered_twice(answer: PermissionAnswer) -> (bool, bool, u32) {
        let asker = CountingAsker(answer, AtomicU32::new(0));
        let permissions = Permissions::default();
        let first = permissions.answer(&asker, "guard", "", &call("ls"));
        let second = permissions.answer(&asker, "guard", "", &call("ls"));
        (first.answer.allows(), second.answer.allows(), asker.1.load(Ordering::SeqCst))
    }

    #[test]
    fn yes_is_asked_again_and_always_is_not() {
        assert_eq!(answered_twice(PermissionAnswer::Yes), (true, true, 2));
        assert_eq!(answered_twice(PermissionAnswer::Always), (true, true, 1));
        assert_eq!(answered_twice(PermissionAnswer::No), (false, false, 2));
        assert_eq!(
            answered_twice(PermissionAnswer::Unattended { allowed: false }),
            (false, false, 2)
        );
        assert_eq!(answered_twice(PermissionAnswer::Unattended { allowed: true }), (true, true, 2));
    }

    #[test]
    fn always_applies_to_exactly_this_call_and_hook() {
        let asker = CountingAsker(PermissionAnswer::Always, AtomicU32::new(0));
        let permissions = Permissions::default();
        let ask =
            |hook: &str, call: &ToolCall| permissions.answer(&asker, hook, "", call).remembered;
        assert!(!ask("guard", &call("git push")));
        assert!(ask("guard", &ToolCall { id: "2".into(), ..call("git push") }));
        assert!(!ask("guard", &call("git push --force")));
        assert!(!ask("guard", &ToolCall { name: "other".into(), ..call("git push") }));
        assert!(!ask("another", &call("git push")));
    }
}
