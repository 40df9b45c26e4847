//! The processes of hooks. One that has ended is started again, but not too often (S9, S10).

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::connection::{Connector, Start};
use super::process::ServingProcess;
use super::question_clock::QuestionClock;
use crate::layer::Layer;
use crate::trust::Fingerprint;

/// The number of deaths within [`DEATH_WINDOW`] after which a hook is not started again.
const MAX_DEATHS: usize = 3;
const DEATH_WINDOW: Duration = Duration::from_mins(1);

/// Identifies the process of a hook.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PoolKey {
    /// The hook's layer.
    pub layer: Layer,
    /// Its full name.
    pub hook: String,
    /// Its content. Processes of other content of the same hook are ended.
    pub fingerprint: Fingerprint,
    /// The rest that its processes can differ in, such as the environment.
    pub variant: Vec<String>,
}

/// Processes of hooks, and for each what it was started from.
pub struct ProcessPool<S> {
    connector: Arc<dyn Connector>,
    clock: Arc<QuestionClock>,
    max: usize,
    slots: Mutex<Slots<S>>,
}

type Slots<S> = BTreeMap<PoolKey, Arc<Mutex<Slot<S>>>>;

/// The process of a hook, and the deaths of earlier ones.
struct Slot<S> {
    process: Option<(Arc<ServingProcess>, S)>,
    deaths: Vec<Instant>,
    /// The reason why no process is started any more, as the end of a sentence that begins with the process.
    given_up: Option<String>,
    last_used: Instant,
}

impl<S: Clone> ProcessPool<S> {
    /// Creates a pool without processes. If `max` hooks have one, the idle one that was not called for longest is ended for another.
    pub fn new(connector: Arc<dyn Connector>, max: usize) -> Self {
        let (clock, slots) = Default::default();
        Self { connector, clock, max, slots }
    }

    /// Returns the clock that stops while hooks ask the user.
    pub(crate) fn clock(&self) -> &QuestionClock {
        &self.clock
    }

    /// Returns the process of a hook, and what it was started from. It is started if there is none that is current. One that has ended is
    /// returned, too, until it is [removed](Self::remove_ended).
    ///
    /// # Errors
    /// The reason why there is none, as the end of a sentence that begins with the process.
    pub fn get_or_start(
        &self,
        key: &PoolKey,
        is_current: impl Fn(&S) -> bool,
        start: impl FnOnce() -> (S, Start),
    ) -> Result<(Arc<ServingProcess>, S), String> {
        let slot = self.slot(key);
        let mut slot = lock(&slot);
        slot.last_used = Instant::now();
        if let Some(why) = &slot.given_up {
            return Err(why.clone());
        }
        if let Some(current) = slot.process.as_ref().filter(|(_, source)| is_current(source)) {
            return Ok(current.clone());
        }
        let (source, start) = start();
        // A process that is not current ends when the last of its requests has.
        Ok(slot.process.insert((self.start(start)?, source)).clone())
    }

    /// Starts a process that is not kept.
    ///
    /// # Errors
    /// The reason why it cannot be started, as the end of a sentence that begins with the process.
    pub(super) fn start(&self, start: Start) -> Result<Arc<ServingProcess>, String> {
        let initialize = start.initialize.clone();
        let connect = |listener| self.connector.connect(start, listener);
        let process = ServingProcess::start(&initialize, Arc::clone(&self.clock), connect);
        process.map(Arc::new).map_err(|error: io::Error| format!("could not be started: {error}"))
    }

    /// Removes a process that has ended, and counts its death. Returns the reason why no process is started any more, if this is one
    /// death too many.
    pub fn remove_ended(&self, key: &PoolKey) -> Option<String> {
        lock(&self.slot(key)).remove_ended()
    }

    /// Forgets the hooks whose processes have not died for a minute, so that those that were given up are started again.
    pub fn forget_old_deaths(&self) {
        let is_in_use = |slot: &Arc<Mutex<Slot<S>>>| Arc::strong_count(slot) > 1;
        lock(&self.slots).retain(|_, slot| is_in_use(slot) || lock(slot).has_process_or_deaths());
    }

    /// Removes a process, which ends when the last of its requests has.
    pub(super) fn remove(&self, key: &PoolKey) {
        lock(&self.slot(key)).process = None;
    }

    /// Returns the processes that run.
    pub fn running(&self) -> Vec<(PoolKey, Arc<ServingProcess>, S)> {
        let slots = lock(&self.slots).clone();
        let running = slots.into_iter().filter_map(|(key, slot)| {
            let (process, source) = lock(&slot).process.clone()?;
            process.ending().is_none().then_some((key, process, source))
        });
        running.collect()
    }

    fn slot(&self, key: &PoolKey) -> Arc<Mutex<Slot<S>>> {
        let mut slots = lock(&self.slots);
        let is_same_hook = |other: &PoolKey| (other.layer, &other.hook) == (key.layer, &key.hook);
        slots.retain(|other, _| !is_same_hook(other) || other.fingerprint == key.fingerprint);
        if let Some(slot) = slots.get(key) {
            return Arc::clone(slot);
        }
        if slots.len() >= self.max {
            remove_idle(&mut slots);
        }
        let (process, deaths, given_up) = Default::default();
        let slot = Slot { process, deaths, given_up, last_used: Instant::now() };
        Arc::clone(slots.entry(key.clone()).or_insert(Arc::new(Mutex::new(slot))))
    }
}

impl<S> ProcessPool<S> {
    /// Ends all processes and waits for that. A hook that is called afterwards is started again.
    pub fn shut_down(&self) {
        let slots = std::mem::take(&mut *lock(&self.slots));
        let processes: Vec<_> =
            slots.values().filter_map(|slot| lock(slot).process.take()).collect();
        for (process, _) in &processes {
            process.shut_down();
        }
        for (process, _) in &processes {
            process.wait();
        }
    }
}

impl<S> Drop for ProcessPool<S> {
    fn drop(&mut self) {
        self.shut_down();
    }
}

impl<S> Slot<S> {
    fn remove_ended(&mut self) -> Option<String> {
        let ending = self.process.as_ref()?.0.ending()?;
        self.process = None;
        self.forget_old_deaths();
        self.deaths.push(Instant::now());
        if self.deaths.len() < MAX_DEATHS {
            return None;
        }
        let why = &ending.why;
        let why = format!("ended {MAX_DEATHS} times within a minute; the last time, it {why}");
        self.given_up.insert(why).clone().into()
    }

    fn forget_old_deaths(&mut self) {
        self.deaths.retain(|death| death.elapsed() < DEATH_WINDOW);
    }

    fn has_process_or_deaths(&mut self) -> bool {
        self.forget_old_deaths();
        self.process.is_some() || !self.deaths.is_empty()
    }

    /// Returns whether nothing calls the process.
    fn is_idle(&self) -> bool {
        self.process.as_ref().is_none_or(|(process, _)| Arc::strong_count(process) == 1)
    }
}

/// Removes the idle process that was not called for longest. A slot that something else refers to is about to be used.
fn remove_idle<S>(slots: &mut Slots<S>) {
    let idle =
        slots.iter().filter(|(_, slot)| Arc::strong_count(slot) == 1 && lock(slot).is_idle());
    let oldest = idle.min_by_key(|(_, slot)| lock(slot).last_used).map(|(key, _)| key.clone());
    if let Some(oldest) = oldest {
        slots.remove(&oldest);
    }
}

/// Ignores poisoning: no panic can leave the guarded data inconsistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tenter_proc::{DialogueListener, Invocation, NotSent};

    use super::super::connection::Connection;
    use super::*;

    /// Processes that answer nothing.
    struct Silent;

    impl Connector for Silent {
        fn connect(
            &self,
            _: Start,
            _: Box<dyn DialogueListener>,
        ) -> io::Result<Box<dyn Connection>> {
            Ok(Box::new(Self))
        }
    }

    impl Connection for Silent {
        fn send(&self, _: &[u8]) -> Result<(), NotSent> {
            Ok(())
        }

        fn close(&self, _: Duration) {}

        fn wait(&self, _: Duration) {}
    }

    fn key(hook: &str, content: &str, variant: &str) -> PoolKey {
        let (hook, fingerprint) = (hook.to_owned(), Fingerprint(content.to_owned()));
        PoolKey { layer: Layer::User, hook, fingerprint, variant: vec![variant.to_owned()] }
    }

    fn start(key: &PoolKey) -> Start {
        let initialize = r#"{"protocol": 1, "hook": "h", "project": "/", "host": "test", "events": [], "services": []}"#;
        Start {
            invocation: Invocation::default(),
            initialize: serde_json::from_str(initialize).unwrap(),
            layer: key.layer,
            fingerprint: key.fingerprint.clone(),
            requested_env: Vec::new(),
            is_serve_only: true,
        }
    }

    fn get(pool: &ProcessPool<u8>, key: &PoolKey, source: u8) -> Arc<ServingProcess> {
        let start = || (source, start(key));
        pool.get_or_start(key, |current| *current == source, start).unwrap().0
    }

    fn running(pool: &ProcessPool<u8>) -> Vec<PoolKey> {
        pool.running().into_iter().map(|(key, ..)| key).collect()
    }

    #[test]
    fn the_idle_process_that_was_not_called_for_longest_makes_room() {
        let pool = ProcessPool::new(Arc::new(Silent), 2);
        let keys = ["0", "1", "2", "3", "4"].map(|hook| key(hook, "1", ""));
        let keys_at = |indices: &[usize]| -> Vec<PoolKey> {
            indices.iter().map(|index| keys[*index].clone()).collect()
        };
        get(&pool, &keys[0], 0);
        let process = get(&pool, &keys[1], 0);
        get(&pool, &keys[2], 0);
        assert_eq!(running(&pool), keys_at(&[1, 2]));
        let also_used = get(&pool, &keys[3], 0);
        assert_eq!(running(&pool), keys_at(&[1, 3]));
        get(&pool, &keys[4], 0);
        assert_eq!(running(&pool), keys_at(&[1, 3, 4]), "no process that is called is ended");
        assert!(Arc::ptr_eq(&process, &get(&pool, &keys[1], 0)));
        assert!(Arc::ptr_eq(&also_used, &get(&pool, &keys[3], 0)));
    }

    #[test]
    fn other_content_and_another_source_replace_a_process_and_another_variant_does_not() {
        let pool = ProcessPool::new(Arc::new(Silent), usize::MAX);
        let [plain, other] = ["", "other"].map(|variant| key("hook", "1", variant));
        let first = get(&pool, &plain, 0);
        get(&pool, &other, 0);
        assert_eq!(running(&pool), [plain.clone(), other.clone()]);
        assert!(!Arc::ptr_eq(&first, &get(&pool, &plain, 1)));
        assert_eq!(running(&pool), [plain, other]);
        let next = key("hook", "2", "");
        get(&pool, &next, 0);
        assert_eq!(running(&pool), [next]);
        pool.shut_down();
        assert!(running(&pool).is_empty());
    }
    #[test]
    fn a_hook_that_was_given_up_is_started_again_a_minute_after_its_last_death() {
        let pool = ProcessPool::new(Arc::new(Silent), usize::MAX);
        let key = key("hook", "1", "");
        let is_started = || pool.get_or_start(&key, |_| true, || (0, start(&key))).is_ok();
        let die = |death| {
            let slot = pool.slot(&key);
            let mut slot = lock(&slot);
            (slot.given_up, slot.deaths) = (Some("ended".to_owned()), vec![death]);
        };
        die(Instant::now());
        pool.forget_old_deaths();
        assert!(!is_started());
        die(Instant::now().checked_sub(DEATH_WINDOW).unwrap());
        assert!(!is_started());
        pool.forget_old_deaths();
        assert!(is_started());
    }
}
