//! Asking the person, where a hook says `ask` (R30).

use std::collections::BTreeSet;
use std::sync::Mutex;

use tenter_protocol::ToolCall;

/// Puts a question to the person. Without a person there is a fixed answer.
pub trait Asker: Send + Sync {
    /// May this call run? `hook` asks, for `reason`.
    fn ask(&self, hook: &str, reason: &str, call: &ToolCall) -> Answer;
}

/// What the person answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// This time.
    Once,
    /// This time, and whenever this hook asks about this tool in this session.
    Always,
    /// No.
    No,
}

/// The answer where nobody can be asked: no, unless configured otherwise (R30).
#[derive(Debug, Clone, Copy)]
pub struct FixedAnswer(pub Answer);

impl Asker for FixedAnswer {
    fn ask(&self, _hook: &str, _reason: &str, _call: &ToolCall) -> Answer {
        self.0
    }
}

/// Remembers what the person allowed for the session.
#[derive(Debug, Default)]
pub struct Permissions {
    always: Mutex<BTreeSet<(String, String)>>,
}

impl Permissions {
    /// Whether the call may run, asking unless the person said "always" before.
    pub(crate) fn granted(
        &self,
        asker: &dyn Asker,
        hook: &str,
        reason: &str,
        call: &ToolCall,
    ) -> bool {
        // Held while asking: two calls in parallel must not put two questions on one terminal at once.
        let mut always = self.always.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let key = (hook.to_owned(), call.name.clone());
        if always.contains(&key) {
            return true;
        }
        match asker.ask(hook, reason, call) {
            Answer::No => false,
            Answer::Once => true,
            Answer::Always => always.insert(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Counting(Answer, AtomicU32);

    impl Asker for Counting {
        fn ask(&self, _: &str, _: &str, _: &ToolCall) -> Answer {
            self.1.fetch_add(1, Ordering::SeqCst);
            self.0
        }
    }

    fn granted_twice(answer: Answer) -> (bool, bool, u32) {
        let asker = Counting(answer, AtomicU32::new(0));
        let call =
            ToolCall { id: "1".into(), name: "bash".into(), input: tenter_protocol::Object::new() };
        let permissions = Permissions::default();
        let first = permissions.granted(&asker, "guard", "", &call);
        let second = permissions.granted(&asker, "guard", "", &call);
        (first, second, asker.1.load(Ordering::SeqCst))
    }

    #[test]
    fn once_asks_again_always_does_not_and_no_is_no() {
        assert_eq!(granted_twice(Answer::Once), (true, true, 2));
        assert_eq!(granted_twice(Answer::Always), (true, true, 1));
        assert_eq!(granted_twice(Answer::No), (false, false, 2));
    }
}
