//! The limits of what is kept of a session (R83). Each record is read up to the size within which it is written.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tenter_base::excerpt;
use tenter_protocol::manifest::MatcherText;

use super::{Guard, GuardRecord, WorkRecord};
use crate::digest::{MAX_ID, short_id};

/// Maximum number of agents whose continuations are counted.
pub(crate) const MAX_AGENTS: usize = 500;
/// Maximum length of the reason why a session is blocked, in characters.
const MAX_REASON: usize = 2_000;
/// Maximum length of the project's path, in bytes; no system call takes a longer one.
const MAX_PATH: usize = 4_096;
/// Maximum number of kinds of notices that are marked as read.
const MAX_NOTICED: usize = 2_000;
/// Maximum number of calls that the model was asked to make, and of hooks that asked for some.
const MAX_DEMANDED: usize = 500;
/// Maximum length of the names of the hooks that asked for one call, in bytes.
const MAX_DEMANDING: usize = 2_000;
/// Maximum number of hooks that guard a session.
const MAX_GUARDS: usize = 4_000;
/// Maximum size of what is kept of them, in bytes; without their matchers, it may be more.
const MAX_GUARD_BYTES: usize = 2 << 20;

/// A record in a file of its own.
pub(super) trait Record: Clone + Default + PartialEq + Serialize + DeserializeOwned {
    /// Maximum size of the file, in bytes.
    const MAX_BYTES: usize;

    /// Cuts the least important parts, until the record fits its file.
    fn cut(&mut self);

    /// Returns the size of the file.
    fn size(&self) -> usize {
        serde_json::to_vec(self).map_or(usize::MAX, |bytes| bytes.len())
    }
}

impl Record for GuardRecord {
    const MAX_BYTES: usize = 8 << 20;

    fn cut(&mut self) {
        self.project.take_if(|path| path.as_os_str().len() > MAX_PATH);
        self.prompt.take_if(|id| id.len() > MAX_ID);
        if let Some(reason) = &mut self.blocked {
            cut_text(reason, MAX_REASON);
        }
        for name in [&mut self.injected, &mut self.root].into_iter().flatten() {
            *name = short_id(name).into_owned();
        }
        self.continuations.retain(|agent, _| agent.len() <= MAX_ID);
        self.demands.retain(|hook, _| hook.len() <= MAX_DEMANDING);
        let demanding = |hooks: &BTreeSet<String>| {
            hooks.iter().map(String::len).sum::<usize>() <= MAX_DEMANDING
        };
        self.demanded.retain(|call, hooks| call.len() <= MAX_ID && demanding(hooks));
        while self.continuations.len() > MAX_AGENTS {
            self.continuations.pop_last();
        }
        while self.demands.len() > MAX_DEMANDED {
            self.demands.pop_last();
        }
        // A call that is forgotten is denied again.
        while self.demanded.len() > MAX_DEMANDED {
            self.demanded.pop_last();
        }
        // A notice that is forgotten is shown again.
        while self.noticed.len() > MAX_NOTICED {
            self.noticed.pop_last();
        }
        self.cut_guards();
    }
}

impl GuardRecord {
    /// Removes the matchers of the largest guards, which guard every call then, until all fit.
    fn cut_guards(&mut self) {
        let size = |guard: &Guard| serde_json::to_vec(guard).map_or(0, |bytes| bytes.len());
        let mut sizes: Vec<(usize, usize)> =
            self.guards.iter().map(size).enumerate().map(|(index, size)| (size, index)).collect();
        let mut total: usize = sizes.iter().map(|(size, _)| size).sum();
        sizes.sort_unstable();
        while total > MAX_GUARD_BYTES
            && let Some((before, index)) = sizes.pop()
        {
            self.guards[index].matcher = MatcherText::default();
            total = total - before + size(&self.guards[index]);
        }
        self.has_more_guards |= self.guards.len() > MAX_GUARDS;
        self.guards.truncate(MAX_GUARDS);
    }
}

/// The cuts of texts, the least important first.
const CUTS: [fn(&mut WorkRecord); 6] = [
    |work| work.cut_tasks(2_000),
    |work| work.notices.iter_mut().for_each(|text| cut_text(text, 500)),
    |work| work.cut_contexts(10_000),
    |work| work.cut_tasks(200),
    |work| work.cut_contexts(500),
    // A message is never sent in part.
    |work| work.messages.clear(),
];

impl Record for WorkRecord {
    const MAX_BYTES: usize = 1 << 20;

    fn cut(&mut self) {
        for cut in CUTS {
            if self.size() <= Self::MAX_BYTES {
                return;
            }
            cut(self);
        }
        while self.size() > Self::MAX_BYTES {
            self.forget_older_half();
        }
    }
}

impl WorkRecord {
    fn cut_tasks(&mut self, max: usize) {
        let subagents = self.subagents.iter_mut().map(|(_, subagent)| subagent);
        let expected = self.expected.iter_mut().map(|expected| &mut expected.subagent);
        for subagent in subagents.chain(expected) {
            cut_text(&mut subagent.task, max);
            cut_text(&mut subagent.name, max);
            cut_text(&mut subagent.kind, max);
        }
    }

    fn cut_contexts(&mut self, max: usize) {
        let waiting = self.waiting.iter_mut().map(|context| &mut context.text);
        let expected = self.expected.iter_mut().flat_map(|expected| &mut expected.contexts);
        let start = self.start_contexts.iter_mut();
        start.chain(waiting).chain(expected).for_each(|text| cut_text(text, max));
    }

    fn forget_older_half(&mut self) {
        fn halve<T>(list: &mut Vec<T>) {
            list.drain(..list.len().div_ceil(2));
        }
        halve(&mut self.notices);
        halve(&mut self.waiting);
        halve(&mut self.start_contexts);
        halve(&mut self.subagents);
        halve(&mut self.expected);
        self.transcripts.clear();
        self.messages.clear();
    }
}

fn cut_text(text: &mut String, max: usize) {
    if let Cow::Owned(cut) = excerpt::chars(text, max) {
        *text = cut;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{ExpectedSubagent, KnownSubagent, StateDir, WaitingContext};
    use super::*;
    use crate::digest::digest;

    /// Something that happens in a session, with a text of this length.
    #[derive(Debug, Clone, Copy)]
    enum Happening {
        Subagent,
        SubagentStart,
        Context,
        Notice,
        OnceNotice,
        Denial,
        Demand,
        Continuation,
        Block,
        Guard,
    }

    use Happening::{
        Block, Context, Continuation, Demand, Denial, Guard as NewGuard, Notice, OnceNotice,
        Subagent, SubagentStart,
    };

    fn happen(state: &mut GuardRecord, happening: Happening, number: usize, length: usize) {
        // Quotes and control characters are longer in JSON.
        let text = format!("{number}{}", "\"\u{1}x".repeat(length / 3));
        let subagent = || KnownSubagent {
            name: text.clone(),
            kind: text.clone(),
            task: text.clone(),
            parent: None,
        };
        match happening {
            Subagent => {
                let contexts = vec![text.clone(); 2];
                state.work.expected.push(ExpectedSubagent { subagent: subagent(), contexts });
            }
            SubagentStart => state.work.subagents.push((number.to_string(), subagent())),
            Context => state.work.waiting.push(WaitingContext { agent: None, text }),
            Notice => state.work.notices.push(text),
            OnceNotice => assert!(state.notice_once(&text)),
            Denial => state.denied_calls.add(&text, &text),
            Demand => {
                state.demanded.insert(digest(&[&text]), [text.clone()].into());
                state.demands.insert(text, 1);
            }
            Continuation => drop(state.continuations.insert(text, 1)),
            Block => state.blocked = Some(text),
            NewGuard => {
                let matcher = MatcherText { tool: None, pattern: Some(text) };
                let events = vec!["before_tool".to_owned()];
                state.guards.push(Guard { name: number.to_string(), events, matcher });
            }
        }
    }

    fn happening() -> impl Strategy<Value = (Happening, usize, usize)> {
        let kinds = [
            Subagent,
            SubagentStart,
            Context,
            Notice,
            OnceNotice,
            Denial,
            Demand,
            Continuation,
            Block,
            NewGuard,
        ];
        let length = prop_oneof![0..100_usize, 5_000..20_000_usize, 1_000_000..2_000_000_usize];
        (prop::sample::select(kinds.to_vec()), 1..150_usize, length)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]

        #[test]
        fn whatever_happens_the_next_process_knows_what_guards_the_session(
            happenings in prop::collection::vec(happening(), 1..12)
        ) {
            let scratch = tempfile::tempdir().unwrap();
            let states = StateDir::new(scratch.path());
            let mut names = Vec::new();
            for (at, (happening, times, length)) in happenings.into_iter().enumerate() {
                let times = times.min(2_000_000 / length.max(1)).max(1);
                let mut session = states.session("claude-code", "s");
                prop_assert_eq!(session.error(), None);
                session.update(|state| {
                    for time in 0..times {
                        happen(state, happening, at * 1000 + time, length);
                        if let NewGuard = happening {
                            names.push((at * 1000 + time).to_string());
                        }
                    }
                    state.breached = true;
                });
                prop_assert_eq!(session.error(), None);
                let state = states.session("claude-code", "s");
                prop_assert_eq!(state.error(), None);
                prop_assert_eq!(state.get(), session.get());
                let guards: Vec<&str> =
                    state.get().guards.iter().map(|guard| guard.name.as_str()).collect();
                prop_assert!(state.get().breached);
                prop_assert_eq!(guards, names.iter().map(String::as_str).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_largest_record_fits_its_file() {
        let mut state = GuardRecord::default();
        let long = |number: usize, length: usize| format!("{number}{}", "\u{1}".repeat(length));
        for number in 0..MAX_GUARDS + 10 {
            happen(&mut state, NewGuard, number, 3_000);
            happen(&mut state, Denial, number, 300);
            happen(&mut state, OnceNotice, number, 600);
            state.continuations.insert(long(number, MAX_ID - 5), 1);
            state.demands.insert(long(number, MAX_DEMANDING / 4), 1);
            state.demanded.insert(number.to_string(), [long(number, MAX_DEMANDING / 4)].into());
        }
        state.cut();
        assert!(state.size() <= GuardRecord::MAX_BYTES, "{}", state.size());
        assert_eq!((state.guards.len(), state.has_more_guards), (MAX_GUARDS, true));
    }

    #[test]
    fn what_is_least_important_is_cut_first() {
        let mut state = GuardRecord::default();
        happen(&mut state, SubagentStart, 1, 1_100_000);
        happen(&mut state, Context, 2, 3_000);
        happen(&mut state, Notice, 3, 300);
        let whole = state.work.clone();
        state.work.cut();
        assert_eq!(state.work.waiting, whole.waiting);
        assert_eq!(state.work.notices, whole.notices);
        let task = &state.work.subagent("1").unwrap().task;
        assert!(task.starts_with("1\"") && task.chars().count() == 2_000);
    }
}
