//! Asks the user when a hook replies `ask` (R30, R71).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tenter_proc::Cancel;
use tenter_protocol::runtime::Question;
use tenter_protocol::{Object, ToolCall};

pub use tenter_engine::PermissionAnswer;

/// Asks the user a question. Without a user, the answer is fixed.
pub trait Asker: Send + Sync {
    /// Whether `call` may run; `hook` asks, for `reason`.
    fn ask(&self, hook: &str, reason: &str, call: &ToolCall) -> PermissionAnswer;

    /// Whether file tools may change the protected `place` (R76) for the rest of the session; `file` is the first file to
    /// change. Without a user, the answer is no.
    fn agrees_to_write(&self, place: &Path, file: &Path) -> bool {
        let _ = (place, file);
        false
    }

    /// The user's answer to a hook's question (S7): one of its choices if it has any. Questions are put one after another.
    ///
    /// # Errors
    /// Why there is no answer.
    fn answer(&self, hook: &str, question: &Question, cancel: &Cancel) -> Result<String, NoAnswer> {
        let _ = (hook, question, cancel);
        Err(NoAnswer::NoUser)
    }
}

/// Why there is no answer to a hook's question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    /// There is no user to ask.
    NoUser,
    /// The user interrupted the agent, or the hook's request ended.
    Interrupted,
}

/// Gives the same answer to every question.
#[derive(Debug, Clone, Copy)]
pub struct FixedAnswer(pub PermissionAnswer);

impl Asker for FixedAnswer {
    fn ask(&self, _hook: &str, _reason: &str, _call: &ToolCall) -> PermissionAnswer {
        self.0
    }
}

/// The answers that the user gave for the rest of the session.
#[derive(Debug, Default)]
pub struct Permissions {
    always: Mutex<Vec<Allowed>>,
    /// The answers about protected paths.
    writes: Mutex<BTreeMap<PathBuf, bool>>,
}

/// A call that is always allowed: exactly this call, for exactly this hook.
#[derive(Debug, PartialEq)]
struct Allowed {
    hook: String,
    tool: String,
    input: Object,
}

/// An answer, and whether it was remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordedAnswer {
    /// The user's answer.
    pub(crate) answer: PermissionAnswer,
    /// Whether it was given earlier in the session.
    pub(crate) remembered: bool,
}

impl Permissions {
    /// The answer to a hook's question about a call. Does not ask again if the user answered "always" before.
    pub(crate) fn answer(
        &self,
        asker: &dyn Asker,
        hook: &str,
        reason: &str,
        call: &ToolCall,
    ) -> RecordedAnswer {
        // Held while asking: parallel calls must not ask two questions on one terminal at once.
        let mut always = self.always.lock().unwrap_or_else(PoisonError::into_inner);
        let asked =
            Allowed { hook: hook.to_owned(), tool: call.name.clone(), input: call.input.clone() };
        if always.contains(&asked) {
            return RecordedAnswer { answer: PermissionAnswer::Always, remembered: true };
        }
        let answer = asker.ask(hook, reason, call);
        if answer == PermissionAnswer::Always {
            always.push(asked);
        }
        RecordedAnswer { answer, remembered: false }
    }

    /// Whether file tools may change `place`; asks once per path.
    pub(crate) fn may_write(&self, asker: &dyn Asker, place: &Path, file: &Path) -> bool {
        // Held while asking, so that parallel calls do not ask the same question.
        let mut writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        *writes.entry(place.to_owned()).or_insert_with(|| asker.agrees_to_write(place, file))
    }

    /// Forgets refusals: with the next message the user may have changed their mind.
    pub(crate) fn forget_refused_writes(&self) {
        let mut writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        writes.retain(|_, agreed| *agreed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

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
