//! The processes of hooks that the keeper keeps.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use tenter_base::rfc3339;
use tenter_bridge::keeper::{KeptHook, Opening};
use tenter_engine::inspect::{ProcessSlot, ServingProcess, start_child};
use tenter_proc::{Invocation, Limits, Streams};

/// Maximum number of processes. The one that was not used for longest is ended first.
const MAX_PROCESSES: usize = 64;

/// A hook in one state, with one environment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ProcessKey(Vec<String>);

impl ProcessKey {
    pub(super) fn new(opening: &Opening) -> Self {
        let Opening { initialize, layer, fingerprint, program, args, cwd, env } = opening;
        let mut parts = vec![layer.clone(), initialize.hook.clone(), fingerprint.clone()];
        parts.extend([program.clone(), cwd.clone()]);
        parts.extend(args.iter().cloned());
        parts.push(String::new());
        let mut env: Vec<String> =
            env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        env.sort();
        parts.extend(env);
        Self(parts)
    }

    /// Returns whether this is another state of the same hook.
    fn is_other_version_of(&self, other: &Self) -> bool {
        self.0[..2] == other.0[..2] && self.0[2] != other.0[2]
    }
}

/// The process of a hook.
struct KeptProcess {
    slot: ProcessSlot,
    hook: String,
    layer: String,
    started: Timestamp,
    last_used: Instant,
}

/// The processes of hooks.
#[derive(Default)]
pub(super) struct Processes(BTreeMap<ProcessKey, KeptProcess>);

impl Processes {
    /// Returns the process of a hook, which is started if there is none. `time` is the present time.
    ///
    /// # Errors
    /// The reason why there is none, as the end of a sentence that begins with the process.
    pub(super) fn get_or_start(
        &mut self,
        opening: &Opening,
        time: Timestamp,
    ) -> Result<Arc<ServingProcess>, String> {
        let key = ProcessKey::new(opening);
        self.remove_ended();
        // They end when the last of their requests has.
        self.0.retain(|other, _| !other.is_other_version_of(&key));
        if !self.0.contains_key(&key) {
            self.make_room();
        }
        let process = self.0.entry(key).or_insert_with(|| KeptProcess {
            slot: ProcessSlot::default(),
            hook: opening.initialize.hook.clone(),
            layer: opening.layer.clone(),
            started: time,
            last_used: Instant::now(),
        });
        process.last_used = Instant::now();
        if process.slot.process().is_none() {
            process.started = time;
        }
        process.slot.get_or_start(|| {
            let connect = |listener| start_child(invocation(opening), None, listener);
            ServingProcess::start(&opening.initialize, Arc::default(), connect)
        })
    }

    /// Records that a connection to the process of a hook has ended.
    pub(super) fn release(&mut self, opening: &Opening) {
        if let Some(process) = self.0.get_mut(&ProcessKey::new(opening)) {
            process.last_used = Instant::now();
        }
        self.remove_ended();
    }

    /// The processes that run.
    pub(super) fn status(&mut self) -> Vec<KeptHook> {
        self.remove_ended();
        let status = |entry: &KeptProcess| {
            let process = entry.slot.process()?;
            let (hook, layer) = (entry.hook.clone(), entry.layer.clone());
            Some(KeptHook {
                hook,
                layer,
                since: rfc3339(entry.started),
                answered: process.answered(),
            })
        };
        self.0.values().filter_map(status).collect()
    }

    /// Ends all processes, and waits for that.
    pub(super) fn shut_down(&mut self) {
        let processes: Vec<_> =
            self.0.values_mut().filter_map(|process| process.slot.take()).collect();
        for process in &processes {
            process.shut_down();
        }
        for process in &processes {
            process.wait();
        }
    }

    /// Counts the deaths of processes that have ended, and forgets deaths of more than a minute ago.
    fn remove_ended(&mut self) {
        self.0.retain(|_, entry| {
            entry.slot.remove_ended();
            let has_deaths = entry.slot.forget_old_deaths();
            has_deaths || entry.slot.process().is_some()
        });
    }

    /// Ends the process that was not used for longest if there are too many.
    fn make_room(&mut self) {
        if self.0.len() < MAX_PROCESSES {
            return;
        }
        let is_idle = |entry: &KeptProcess| entry.slot.process().is_none_or(|it| it.is_idle());
        let idle = self.0.iter().filter(|(_, entry)| is_idle(entry));
        let oldest = idle.min_by_key(|(_, entry)| entry.last_used).map(|(key, _)| key.clone());
        if let Some(oldest) = oldest {
            self.0.remove(&oldest);
        }
    }
}

fn invocation(opening: &Opening) -> Invocation {
    Invocation {
        program: (&opening.program).into(),
        args: opening.args.iter().map(OsString::from).collect(),
        cwd: (&opening.cwd).into(),
        env: opening.env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        stdin: Vec::new(),
        streams: Streams::Separate,
        limits: Limits::default(),
    }
}
