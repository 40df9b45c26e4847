//! The state of a conversation with a hook: which requests are open, which wait for their turn, and what an id in a response means.
//! No threads, no pipes, no clock. Each request has a condition of its own, so that a change wakes only the thread that it concerns.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar};

use tenter_protocol::runtime::{ErrorObject, Id, Initialized, RawJson};

use super::caller::OpenService;
use crate::run_end::RunEnd;

/// The id of `initialize`. Event requests follow.
pub(super) const INITIALIZE_ID: u64 = 1;

/// A hook's answer to a request.
pub type HookAnswer = Result<RawJson, ErrorObject>;

/// The reason why there is no process any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Termination {
    /// The end, for records.
    pub(crate) end: RunEnd,
    /// The reason why, as the end of a sentence that begins with the process.
    pub(crate) why: String,
    /// The request that was open, if there was exactly one: it is the one that failed.
    pub(super) blamed_request: Option<u64>,
    /// True if `initialize` was not answered yet.
    pub(super) was_starting: bool,
}

#[derive(Debug)]
enum Phase {
    /// `initialize` is not answered yet.
    Starting,
    Ready(Initialized),
    Terminated(Arc<Termination>),
}

/// The place of a request in the queue.
#[derive(Debug, Clone)]
pub(super) struct Ticket {
    number: u64,
    /// Notified when something changes for the request.
    pub(super) changes: Arc<Condvar>,
}

/// The requests of one conversation.
#[derive(Debug)]
pub(super) struct Requests<C: ?Sized> {
    phase: Phase,
    last_id: u64,
    last_ticket: u64,
    waiting: VecDeque<Ticket>,
    open: BTreeMap<u64, OpenRequest<C>>,
    /// The caller of the last request.
    last_caller: Option<Arc<C>>,
    /// Answers to requests that had ended.
    pub(super) late: u64,
    /// Number of requests that the hook answered in time.
    pub(super) answer_count: u64,
    /// The requests of the hook that are not answered yet.
    pub(super) services: Vec<OpenService>,
}

#[derive(Debug)]
struct OpenRequest<C: ?Sized> {
    /// The caller that the request belongs to.
    caller: Arc<C>,
    answer: Option<HookAnswer>,
    changes: Arc<Condvar>,
}

/// The turn of a request in the queue.
#[derive(Debug)]
pub(super) enum Turn {
    /// It may, under this id.
    Now(u64),
    Wait,
    Terminated(Arc<Termination>),
}

impl<C: ?Sized> Requests<C> {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Starting,
            last_id: INITIALIZE_ID,
            last_ticket: 0,
            waiting: VecDeque::new(),
            open: BTreeMap::new(),
            last_caller: None,
            late: 0,
            answer_count: 0,
            services: Vec::new(),
        }
    }

    /// Records the answer to `initialize`.
    pub(super) fn initialized(&mut self, answer: Initialized) {
        if self.is_starting() {
            self.phase = Phase::Ready(answer);
            self.wake_next();
        }
    }

    /// Returns whether `initialize` is not answered yet.
    pub(super) fn is_starting(&self) -> bool {
        matches!(self.phase, Phase::Starting)
    }

    /// Returns the hook's answer to `initialize`.
    pub(super) fn readiness(&self) -> Option<Initialized> {
        match self.phase {
            Phase::Ready(answer) => Some(answer),
            Phase::Starting | Phase::Terminated(_) => None,
        }
    }

    /// Joins the queue.
    pub(super) fn join(&mut self) -> Ticket {
        self.last_ticket += 1;
        let ticket = Ticket { number: self.last_ticket, changes: Arc::default() };
        self.waiting.push_back(ticket.clone());
        ticket
    }

    /// Leaves the queue.
    pub(super) fn leave(&mut self, ticket: &Ticket) {
        self.waiting.retain(|waiting| waiting.number != ticket.number);
        self.wake_next();
    }

    /// Opens the request that waits with this ticket, if it is its turn.
    pub(super) fn take_turn(&mut self, ticket: &Ticket, caller: &Arc<C>) -> Turn {
        if let Phase::Terminated(ending) = &self.phase {
            return Turn::Terminated(Arc::clone(ending));
        }
        let is_first = self.waiting.front().is_some_and(|first| first.number == ticket.number);
        if !is_first || !self.has_room() {
            return Turn::Wait;
        }
        self.waiting.pop_front();
        self.last_id += 1;
        self.last_caller = Some(Arc::clone(caller));
        let (caller, changes) = (Arc::clone(caller), Arc::clone(&ticket.changes));
        self.open.insert(self.last_id, OpenRequest { caller, answer: None, changes });
        self.wake_next();
        Turn::Now(self.last_id)
    }

    fn has_room(&self) -> bool {
        self.readiness().is_some_and(|answer| self.open.len() < answer.concurrency)
    }

    /// Wakes the first request of the queue if it is its turn.
    fn wake_next(&self) {
        if let Some(first) = self.waiting.front().filter(|_| self.has_room()) {
            first.changes.notify_all();
        }
    }

    /// Records the answer to a request.
    ///
    /// # Errors
    /// No request was ever sent with this id.
    pub(super) fn answered(&mut self, id: &Id, answer: HookAnswer) -> Result<(), String> {
        let request_id = match id {
            Id::Number(number) => {
                u64::try_from(*number).ok().filter(|id| (1..=self.last_id).contains(id))
            }
            Id::Text(_) => None,
        };
        let Some(id) = request_id else {
            return Err(format!("answered the id {id}, which was never sent"));
        };
        match self.open.get_mut(&id) {
            Some(open) if open.answer.is_none() => {
                open.answer = Some(answer);
                open.changes.notify_all();
                self.answer_count += 1;
            }
            _ => self.late += 1,
        }
        Ok(())
    }

    /// Takes the answer to a request, which is closed with that.
    pub(super) fn take_answer(&mut self, id: u64) -> Option<HookAnswer> {
        let answer = self.open.get_mut(&id)?.answer.take()?;
        self.close(id);
        Some(answer)
    }

    /// Closes a request.
    pub(super) fn close(&mut self, id: u64) {
        if self.open.remove(&id).is_some() {
            self.wake_next();
        }
    }

    /// Returns whether a request is open and not answered.
    pub(super) fn is_open(&self, id: u64) -> bool {
        self.open.get(&id).is_some_and(|open| open.answer.is_none())
    }

    /// Returns the caller of the request with this id, or of the only one that is open.
    pub(super) fn caller(&self, id: Option<u64>) -> Option<(u64, &Arc<C>)> {
        let mut unanswered = self.open.iter().filter(|(_, open)| open.answer.is_none());
        let request = match id {
            Some(id) => unanswered.find(|(open, _)| **open == id),
            None => unanswered.next().filter(|_| unanswered.next().is_none()),
        };
        request.map(|(id, open)| (*id, &open.caller))
    }

    /// Returns the caller of the last request.
    pub(super) fn last_caller(&self) -> Option<Arc<C>> {
        self.last_caller.clone()
    }

    /// Records the end of the conversation; the first end counts.
    pub(super) fn end(&mut self, end: RunEnd, why: String) -> &Arc<Termination> {
        if !matches!(self.phase, Phase::Terminated(_)) {
            let mut unanswered = self.open.iter().filter(|(_, open)| open.answer.is_none());
            let first = unanswered.next().map(|(id, _)| *id);
            let blamed = first.filter(|_| unanswered.next().is_none());
            let was_starting = self.is_starting();
            self.phase = Phase::Terminated(Arc::new(Termination {
                end,
                why,
                blamed_request: blamed,
                was_starting,
            }));
            let open = self.open.values().map(|open| &open.changes);
            let waiting = self.waiting.iter().map(|ticket| &ticket.changes);
            open.chain(waiting).for_each(|condition| condition.notify_all());
        }
        match &self.phase {
            Phase::Terminated(ending) => ending,
            Phase::Starting | Phase::Ready(_) => unreachable!("it was set above"),
        }
    }

    /// Returns the end of the conversation, if it has ended.
    pub(super) fn ending(&self) -> Option<&Arc<Termination>> {
        match &self.phase {
            Phase::Terminated(ending) => Some(ending),
            Phase::Starting | Phase::Ready(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ready(concurrency: usize) -> Requests<()> {
        let mut requests = Requests::new();
        requests.initialized(Initialized { concurrency });
        requests
    }

    fn opened(requests: &mut Requests<()>) -> u64 {
        let ticket = requests.join();
        match requests.take_turn(&ticket, &Arc::new(())) {
            Turn::Now(id) => id,
            other => panic!("{other:?}"),
        }
    }

    fn number(id: u64) -> Id {
        Id::Number(i64::try_from(id).unwrap())
    }

    #[test]
    fn an_answer_that_comes_late_is_counted_and_one_to_an_id_never_sent_is_an_error() {
        let mut requests = ready(1);
        let id = opened(&mut requests);
        requests.close(id);
        assert_eq!(requests.answered(&number(id), Ok(RawJson::null())), Ok(()));
        assert_eq!(requests.answered(&number(INITIALIZE_ID), Ok(RawJson::null())), Ok(()));
        assert_eq!(requests.late, 2);
        for unknown in [number(id + 1), Id::Number(0), Id::Number(-1), Id::Text(id.to_string())] {
            assert!(requests.answered(&unknown, Ok(RawJson::null())).is_err(), "{unknown}");
        }
    }

    #[test]
    fn only_a_request_that_is_open_alone_is_blamed() {
        for (others, blamed) in [(0, true), (1, false)] {
            let mut requests = ready(2);
            let id = opened(&mut requests);
            for _ in 0..others {
                opened(&mut requests);
            }
            let ending = requests.end(RunEnd::Exited(3), "exited".into());
            assert_eq!(ending.blamed_request, blamed.then_some(id));
        }
    }

    #[test]
    fn a_service_belongs_to_the_request_that_it_names_or_to_the_only_one() {
        let mut requests = ready(2);
        assert!(requests.caller(None).is_none());
        let first = opened(&mut requests);
        assert_eq!(requests.caller(None).map(|(id, _)| id), Some(first));
        let second = opened(&mut requests);
        assert!(requests.caller(None).is_none());
        assert_eq!(requests.caller(Some(second)).map(|(id, _)| id), Some(second));
        requests.answered(&number(first), Ok(RawJson::null())).unwrap();
        assert!(requests.caller(Some(first)).is_none());
        assert_eq!(requests.caller(None).map(|(id, _)| id), Some(second));
    }

    proptest! {
        #[test]
        fn requests_are_sent_in_the_order_of_the_queue_and_never_more_than_fit(
            concurrency in 1_usize..4,
            steps in prop::collection::vec((0_u8..4, any::<prop::sample::Index>()), 0..60),
        ) {
            let mut requests = ready(concurrency);
            let mut waiting: VecDeque<Ticket> = VecDeque::new();
            let mut open: Vec<u64> = Vec::new();
            let mut last = INITIALIZE_ID;
            for (step, index) in steps {
                match step {
                    0 => waiting.push_back(requests.join()),
                    1 if !waiting.is_empty() => {
                        let place = index.index(waiting.len());
                        let is_its_turn = place == 0 && open.len() < concurrency;
                        match requests.take_turn(&waiting[place], &Arc::new(())) {
                            Turn::Now(id) => {
                                prop_assert!(is_its_turn && id == last + 1);
                                last = id;
                                open.push(id);
                                waiting.pop_front();
                            }
                            other => prop_assert!(!is_its_turn, "{other:?}"),
                        }
                    }
                    2 if !open.is_empty() => {
                        let id = open.remove(index.index(open.len()));
                        requests.answered(&number(id), Ok(RawJson::null())).unwrap();
                        prop_assert!(requests.take_answer(id).is_some() && requests.take_answer(id).is_none());
                    }
                    3 if !waiting.is_empty() => {
                        let ticket = waiting.remove(index.index(waiting.len())).unwrap();
                        requests.leave(&ticket);
                    }
                    _ => {}
                }
            }
        }
    }
}
