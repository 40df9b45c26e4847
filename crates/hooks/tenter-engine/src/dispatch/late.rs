//! The parts of an asynchronous hook's reply that a later turn can use: context for the model, and a recipe to run on the history.
//!
//! The rest of such a reply comes too late. The number of replies kept is limited, because a conversation that has ended never
//! takes its own, and they must not fill the memory that others need.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tenter_protocol::{EventName, HistoryAction, Reply, Scope};

/// Maximum number of replies kept, over all conversations.
const MAX_KEPT: usize = 64;

/// The part of an asynchronous hook's reply that a later turn of the conversation can use: context, a callback or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateReply {
    /// The hook's full name.
    pub hook: String,
    /// The conversation and the agent of the event.
    pub scope: Arc<Scope>,
    /// The event that the hook replied to.
    pub event: EventName,
    /// Text for the model; not blank.
    pub context: Option<String>,
    /// The recipe to run on the history, and its arguments.
    pub callback: Option<(String, BTreeMap<String, String>)>,
}

impl LateReply {
    /// Takes what a later turn can use out of a reply, if there is any. What is left has no effect.
    pub(super) fn take_from(
        reply: &mut Reply,
        hook: &str,
        event: EventName,
        scope: &Arc<Scope>,
    ) -> Option<Self> {
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
            scope: Arc::clone(scope),
            event,
            context,
            callback,
        })
    }

    /// Returns the names of its parts.
    pub(super) fn parts(&self) -> &'static str {
        match (&self.callback, &self.context) {
            (Some(_), Some(_)) => "callback, context",
            (Some(_), None) => "callback",
            (None, _) => "context",
        }
    }
}

/// The replies that are kept, oldest first.
#[derive(Default)]
pub(super) struct LateReplies(Mutex<Vec<LateReply>>);

impl LateReplies {
    /// Takes the replies to one conversation.
    pub(super) fn take(&self, conversation_id: &str) -> Vec<LateReply> {
        let is_its = |late: &mut LateReply| late.scope.conversation_id == conversation_id;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extract_if(.., is_its).collect()
    }

    /// Makes room for one more. No reply can be taken while the room is held.
    pub(super) fn room(&self) -> Room<'_> {
        let mut replies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let dropped_reply = (replies.len() >= MAX_KEPT).then(|| replies.remove(0));
        Room { replies, dropped_reply }
    }
}

/// Room for one more reply.
pub(super) struct Room<'l> {
    replies: MutexGuard<'l, Vec<LateReply>>,
    /// The oldest reply, if it was dropped to make room.
    pub(super) dropped_reply: Option<LateReply>,
}

impl Room<'_> {
    pub(super) fn fill(mut self, late: LateReply) {
        self.replies.push(late);
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;
    use tenter_protocol::reply::VerdictKind;
    use tenter_protocol::{Message, Verdict};

    use super::*;

    fn take_from(reply: &mut Reply, conversation: &str) -> Option<LateReply> {
        let scope = Scope {
            conversation_id: conversation.to_owned(),
            cwd: PathBuf::from("/"),
            time: "T".to_owned(),
            ..Scope::default()
        };
        LateReply::take_from(reply, "hook", EventName::AfterAgent, &Arc::new(scope))
    }

    fn late(conversation: &str, context: &str) -> LateReply {
        let mut reply = Reply { context: Some(context.to_owned()), ..Reply::default() };
        take_from(&mut reply, conversation).unwrap()
    }

    /// Keeps a reply and returns the one that was dropped for it.
    fn keep(replies: &LateReplies, late: LateReply) -> Option<LateReply> {
        let mut room = replies.room();
        let dropped_reply = room.dropped_reply.take();
        room.fill(late);
        dropped_reply
    }

    #[test]
    fn keeps_the_late_parts_that_a_later_turn_can_use() {
        let callback = HistoryAction::Callback { recipe: "compact".into(), args: BTreeMap::new() };
        let deny = Some(Verdict::new(VerdictKind::Deny, None));
        let mut reply = Reply {
            verdict: deny.clone(),
            context: Some("read this".into()),
            history: Some(callback),
            ..Reply::default()
        };
        let late = take_from(&mut reply, "c").unwrap();
        assert_eq!(late.context.as_deref(), Some("read this"));
        assert_eq!(late.callback, Some(("compact".to_owned(), BTreeMap::new())));
        assert_eq!(reply, Reply { verdict: deny, ..Reply::default() });
    }

    #[test]
    fn ignores_late_mutations_and_blank_context() {
        let mutate = Some(HistoryAction::Mutate(vec![Message::user("x")]));
        let mut reply =
            Reply { history: mutate.clone(), context: Some(" \n".into()), ..Reply::default() };
        assert_eq!(take_from(&mut reply, "c"), None);
        assert_eq!(reply, Reply { history: mutate, ..Reply::default() });
    }

    #[test]
    fn drops_the_oldest_reply_when_full() {
        let replies = LateReplies::default();
        for index in 0..MAX_KEPT {
            assert_eq!(keep(&replies, late("ended", &index.to_string())), None);
        }
        assert_eq!(keep(&replies, late("c", "new")), Some(late("ended", "0")));
        assert_eq!(replies.take("c"), [late("c", "new")]);
        assert_eq!(replies.take("ended").len(), MAX_KEPT - 1);
    }

    proptest! {
        #[test]
        fn returns_the_replies_of_a_conversation_once_and_in_order(of in prop::collection::vec(0usize..3, 0..MAX_KEPT)) {
            let replies = LateReplies::default();
            let all: Vec<LateReply> =
                of.iter().enumerate().map(|(place, of)| late(&of.to_string(), &place.to_string())).collect();
            for late in &all {
                prop_assert_eq!(keep(&replies, late.clone()), None);
            }
            for id in ["1", "0", "2"] {
                let own: Vec<LateReply> =
                    all.iter().filter(|late| late.scope.conversation_id == id).cloned().collect();
                prop_assert_eq!(replies.take(id), own);
                prop_assert_eq!(replies.take(id), []);
            }
        }
    }
}
