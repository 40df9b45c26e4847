//! A fault: what the hook does, what is done to its program, and the expected result under either protocol.

use std::fs::File;
use std::path::Path;

use tenter_protocol::EventName;

use super::{Means, Way};
use crate::scene::{PROJECT, USER};

/// A kind of misbehaviour.
pub(super) struct Fault {
    pub(super) name: &'static str,
    /// The hook's shell script.
    pub(super) script: String,
    /// The expected results: of an executable, of a manifest hook.
    executable: Means,
    manifest: Means,
    /// Of a runtime hook: `None` where it cannot do this.
    runtime: Option<Means>,
    /// True if it has a short timeout.
    pub(super) hangs: bool,
    /// True if every run is slow, so that its cells run in parallel.
    pub(super) takes_long: bool,
    /// True if its payload is a megabyte long.
    pub(super) big_payload: bool,
    /// Its layer; a project's hook is compared with the trusted content.
    pub(super) layer: &'static str,
    /// Number of runs. The last one is checked.
    pub(super) runs: usize,
    /// The change to its program between load and run; a returned file stays open during the run.
    pub(super) meanwhile: fn(&Path) -> Option<File>,
    /// The only event at which it is tested, for expensive faults.
    pub(super) only: Option<EventName>,
    /// Number of processes that survive a run that is not a call.
    survivors: usize,
}

impl Fault {
    /// Creates a user hook that runs `script`, with the same result under both protocols.
    pub(super) fn new(name: &'static str, script: impl Into<String>, means: Means) -> Self {
        Self {
            name,
            script: script.into(),
            executable: means,
            manifest: means,
            runtime: Some(means),
            hangs: false,
            takes_long: false,
            big_payload: false,
            layer: USER,
            runs: 1,
            meanwhile: |_| None,
            only: None,
            survivors: 0,
        }
    }

    /// Returns a correct hook whose program is changed after it was loaded.
    pub(super) fn done_to(
        name: &'static str,
        reason: &'static str,
        meanwhile: fn(&Path) -> Option<File>,
    ) -> Self {
        let means = Means::Fails { exit: "not started", reason };
        Self::new(name, "answer", means).meanwhile(meanwhile)
    }

    pub(super) fn meanwhile(self, meanwhile: fn(&Path) -> Option<File>) -> Self {
        Self { meanwhile, ..self }
    }

    pub(super) fn but_a_manifest(self, manifest: Means) -> Self {
        Self { manifest, runtime: Some(manifest), ..self }
    }

    /// Returns the result if the hook is called, where it is another one.
    pub(super) fn when_called(self, runtime: Means) -> Self {
        Self { runtime: Some(runtime), ..self }
    }

    /// Leaves out hooks that are called: they would wait for the next request.
    pub(super) fn not_when_called(self) -> Self {
        Self { runtime: None, ..self }
    }

    /// Returns whether a hook can do this.
    pub(super) fn is_possible(&self, way: Way) -> bool {
        way != Way::Runtime || self.runtime.is_some()
    }

    /// Returns the number of processes that survive a run. The processes of a runtime hook end with it.
    pub(super) fn survivors(&self, way: Way) -> usize {
        if way == Way::Runtime { 0 } else { self.survivors }
    }

    pub(super) fn hanging(self) -> Self {
        Self { hangs: true, takes_long: true, ..self }
    }

    pub(super) fn taking_long(self) -> Self {
        Self { takes_long: true, ..self }
    }

    pub(super) fn told_a_megabyte(self) -> Self {
        Self { big_payload: true, ..self }
    }

    pub(super) fn pinned(self) -> Self {
        Self { layer: PROJECT, ..self }
    }

    pub(super) fn run_twice(self) -> Self {
        Self { runs: 2, ..self }
    }

    pub(super) fn only_at(self, event: EventName) -> Self {
        Self { only: Some(event), ..self }
    }

    pub(super) fn outlived_by_one(self) -> Self {
        Self { survivors: 1, ..self }
    }

    /// Returns the expected result.
    pub(super) fn means(&self, way: Way) -> Means {
        match way {
            Way::Executable => self.executable,
            Way::Manifest => self.manifest,
            Way::Runtime => self.runtime.unwrap_or(self.manifest),
        }
    }
}
