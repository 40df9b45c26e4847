//! Asks the user where a hook says `ask` (R30, R71).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tenter_protocol::{Object, ToolCall};

pub use tenter_engine::PermissionAnswer;

/// Puts a question to the user. Where there is no user, the answer is fixed.
pub trait Asker: Send + Sync {
    /// May this call run? `hook` asks, for `reason`.
    fn ask(&self, hook: &str, reason: &str, call: &ToolCall) -> PermissionAnswer;

    /// May file tools change `place`, which is protected (R76), for the rest of the session? The first change is that of
    /// `file`. Without a user to ask, the answer is no.
    fn agrees_to_write(&self, place: &Path, file: &Path) -> bool {
        let _ = (place, file);
        false
    }
}

/// Gives the same answer to every question.
#[derive(Debug, Clone, Copy)]
pub struct FixedAnswer(pub PermissionAnswer);

impl Asker for FixedAnswer {
    fn ask(&self, _hook: &str, _reason: &str, _call: &ToolCall) -> PermissionAnswer {
        self.0
    }
}

/// The calls that the user always allows in this session.
#[derive(Debug, Default)]
pub struct Permissions {
    always: Mutex<Vec<Allowed>>,
    /// What was answered about protected places.
    writes: Mutex<BTreeMap<PathBuf, bool>>,
}

/// A call that is always allowed: exactly this one, to exactly this hook.
#[derive(Debug, PartialEq)]
struct Allowed {
    hook: String,
    tool: String,
    input: Object,
}

/// An answer, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Given {
    /// The answer.
    pub(crate) answer: PermissionAnswer,
    /// Whether it was given earlier in the session.
    pub(crate) remembered: bool,
}

impl Permissions {
    /// The answer to a hook's question about a call. It is not asked again if the answer was "always" before.
    pub(crate) fn answer(
        &self,
        asker: &dyn Asker,
        hook: &str,
        reason: &str,
        call: &ToolCall,
    ) -> Given {
        // Held while asking: two calls in parallel must not put two questions on one terminal at once.
        let mut always = self.always.lock().unwrap_or_else(PoisonError::into_inner);
        let asked =
            Allowed { hook: hook.to_owned(), tool: call.name.clone(), input: call.input.clone() };
        if always.contains(&asked) {
            return Given { answer: PermissionAnswer::Always, remembered: true };
        }
        let answer = asker.ask(hook, reason, call);
        if answer == PermissionAnswer::Always {
            always.push(asked);
        }
        Given { answer, remembered: false }
    }

    /// Whether file tools may change `place`, asking once per place.
    pub(crate) fn may_write(&self, asker: &dyn Asker, place: &Path, file: &Path) -> bool {
        // Held while asking, so that two calls do not ask the same.
        let mut writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        *writes.entry(place.to_owned()).or_insert_with(|| asker.agrees_to_write(place, file))
    }

    /// With the next message the user may have changed their mind about what they refused.
    pub(crate) fn forget_refused_writes(&self) {
        let mut writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        writes.retain(|_, agreed| *agreed);
    }
}

/// Why a call does not run, for the model.
pub(crate) fn refusal(hook: &str, reason: &str, answer: PermissionAnswer) -> String {
    match answer {
        PermissionAnswer::Unattended { .. } => format!(
            "{reason} (the hook {hook} asked for the user's permission, but there is nobody to ask)"
        ),
        _ => format!("{reason} (the hook {hook} asked, and the answer was no)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Counting(PermissionAnswer, AtomicU32);

    impl Asker for Counting {
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
        let asker = Counting(answer, AtomicU32::new(0));
        let permissions = Permissions::default();
        let first = permissions.answer(&asker, "guard", "", &call("ls"));
        let second = permissions.answer(&asker, "guard", "", &call("ls"));
        (first.answer.allows(), second.answer.allows(), asker.1.load(Ordering::SeqCst))
    }

    #[test]
    fn yes_asks_again_always_does_not_and_no_is_no() {
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
    fn always_is_for_exactly_this_call_of_this_hook() {
        let asker = Counting(PermissionAnswer::Always, AtomicU32::new(0));
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
