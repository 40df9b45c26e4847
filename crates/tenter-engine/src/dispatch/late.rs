//! What asynchronous hooks ask for that a later turn can still use: more for the model to read, and a recipe on the history.
//!
//! Anything else that they answer comes too late. What waits is bounded: a conversation that has ended takes nothing any
//! more, and must not take the room of those that go on.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tenter_protocol::{Event, EventName, HistoryAction, Reply, Scope};

/// Answers that wait at most, over all conversations.
const MOST_KEPT: usize = 64;

/// What an asynchronous hook asked for, of use to a later turn of its conversation. It asks for something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateReply {
    /// The hook's full name.
    pub hook: String,
    /// Where and for whom the event was that it answers.
    pub scope: Scope,
    /// The event that it answers.
    pub event: EventName,
    /// What the model shall read besides; not blank.
    pub context: Option<String>,
    /// The recipe that shall run on the history, and its arguments.
    pub callback: Option<(String, BTreeMap<String, String>)>,
}

impl LateReply {
    /// Takes out of an answer what a later turn can use, if there is any; what is left in it is in vain.
    pub(super) fn take_from(reply: &mut Reply, hook: &str, event: &Event) -> Option<Self> {
        let context = reply.context.take().filter(|text| !text.trim().is_empty());
        let callback = match reply.history.take() {
            Some(HistoryAction::Callback { recipe, args }) => Some((recipe, args)),
            other => {
                reply.history = other;
                None
            }
        };
        (context.is_some() || callback.is_some()).then(|| Self {
            hook: hook.to_owned(),
            scope: event.scope.clone(),
            event: event.body.name(),
            context,
            callback,
        })
    }

    /// What it asks for, in words.
    pub(super) fn parts(&self) -> &'static str {
        match (&self.callback, &self.context) {
            (Some(_), Some(_)) => "callback, context",
            (Some(_), None) => "callback",
            (None, _) => "context",
        }
    }
}

/// The answers that wait, in the order in which they came.
#[derive(Default)]
pub(super) struct LateReplies(Mutex<Vec<LateReply>>);

impl LateReplies {
    /// Takes those of one conversation.
    pub(super) fn take(&self, conversation_id: &str) -> Vec<LateReply> {
        let is_its = |late: &mut LateReply| late.scope.conversation_id == conversation_id;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extract_if(.., is_its).collect()
    }

    /// Room for one more. Nobody can take anything as long as it is held.
    pub(super) fn room(&self) -> Room<'_> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let dropped = (kept.len() >= MOST_KEPT).then(|| kept.remove(0));
        Room { kept, dropped }
    }
}

/// Room for one more answer.
pub(super) struct Room<'l> {
    kept: MutexGuard<'l, Vec<LateReply>>,
    /// The oldest answer, where it had to go.
    pub(super) dropped: Option<LateReply>,
}

impl Room<'_> {
    pub(super) fn fill(mut self, late: LateReply) {
        self.kept.push(late);
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;
    use tenter_protocol::reply::VerdictKind;
    use tenter_protocol::{Body, Message, Verdict};

    use super::*;

    fn event(conversation: &str) -> Event {
        let scope = Scope {
            conversation_id: conversation.to_owned(),
            parent_conversation_id: None,
            cwd: PathBuf::from("/"),
            recipe: None,
            recipe_full_name: None,
            time: "T".to_owned(),
        };
        Event { scope, body: Body::AfterAgent { response: String::new() } }
    }

    fn late(conversation: &str, context: &str) -> LateReply {
        let mut reply = Reply { context: Some(context.to_owned()), ..Reply::default() };
        LateReply::take_from(&mut reply, "hook", &event(conversation)).unwrap()
    }

    /// Keeps it, and says what had to go.
    fn keep(answers: &LateReplies, late: LateReply) -> Option<LateReply> {
        let mut room = answers.room();
        let dropped = room.dropped.take();
        room.fill(late);
        dropped
    }

    #[test]
    fn what_can_still_be_used_is_taken_out_and_the_rest_is_left() {
        let callback = HistoryAction::Callback { recipe: "compact".into(), args: BTreeMap::new() };
        let deny = Some(Verdict::new(VerdictKind::Deny, None));
        let mut reply = Reply {
            verdict: deny.clone(),
            context: Some("read this".into()),
            history: Some(callback),
            ..Reply::default()
        };
        let late = LateReply::take_from(&mut reply, "hook", &event("c")).unwrap();
        assert_eq!(late.context.as_deref(), Some("read this"));
        assert_eq!(late.callback, Some(("compact".to_owned(), BTreeMap::new())));
        assert_eq!(reply, Reply { verdict: deny, ..Reply::default() });
    }

    #[test]
    fn a_history_is_never_replaced_late_and_blank_text_is_nothing() {
        let mutate = Some(HistoryAction::Mutate(vec![Message::user("x")]));
        let mut reply =
            Reply { history: mutate.clone(), context: Some(" \n".into()), ..Reply::default() };
        assert_eq!(LateReply::take_from(&mut reply, "hook", &event("c")), None);
        assert_eq!(reply, Reply { history: mutate, ..Reply::default() });
    }

    #[test]
    fn of_too_many_the_oldest_goes() {
        let answers = LateReplies::default();
        for index in 0..MOST_KEPT {
            assert_eq!(keep(&answers, late("ended", &index.to_string())), None);
        }
        assert_eq!(keep(&answers, late("c", "new")), Some(late("ended", "0")));
        assert_eq!(answers.take("c"), [late("c", "new")]);
        assert_eq!(answers.take("ended").len(), MOST_KEPT - 1);
    }

    proptest! {
        #[test]
        fn each_conversation_takes_its_own_once_and_in_order(of in prop::collection::vec(0usize..3, 0..MOST_KEPT)) {
            let answers = LateReplies::default();
            let all: Vec<LateReply> =
                of.iter().enumerate().map(|(place, of)| late(&of.to_string(), &place.to_string())).collect();
            for late in &all {
                prop_assert_eq!(keep(&answers, late.clone()), None);
            }
            for id in ["1", "0", "2"] {
                let own: Vec<LateReply> =
                    all.iter().filter(|late| late.scope.conversation_id == id).cloned().collect();
                prop_assert_eq!(answers.take(id), own);
                prop_assert_eq!(answers.take(id), []);
            }
        }
    }
}
