//! One way to misbehave: what the hook does, what is done to it, and what must come of it under either protocol.

use std::fs::File;
use std::path::Path;

use tenter_protocol::EventName;

use super::{Means, Way};
use crate::scene::{PROJECT, USER};

/// A way to misbehave.
pub(super) struct Fault {
    pub(super) name: &'static str,
    /// What the hook does when it is run, in shell.
    pub(super) script: String,
    /// What comes of it: of an executable, of a manifest hook.
    executable: Means,
    manifest: Means,
    /// Whether it is ended at a short deadline.
    pub(super) hangs: bool,
    /// Whether every run takes its time, so that its cells are better played side by side.
    pub(super) takes_long: bool,
    /// Whether its payload has a megabyte.
    pub(super) big_payload: bool,
    /// Where it lies; a project's hook is pinned.
    pub(super) layer: &'static str,
    /// How often it is run. The last run is the one that is looked at.
    pub(super) runs: usize,
    /// What is done to its program between load and run; a file that is returned is held open meanwhile.
    pub(super) meanwhile: fn(&Path) -> Option<File>,
    /// The one event at which it is tried, where one is enough for what it costs.
    pub(super) only: Option<EventName>,
    /// How many processes of a run outlive it.
    pub(super) survivors: usize,
}

impl Fault {
    /// A user hook that runs `script`, with the same consequence under both protocols.
    pub(super) fn new(name: &'static str, script: impl Into<String>, means: Means) -> Self {
        Self {
            name,
            script: script.into(),
            executable: means,
            manifest: means,
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

    /// A hook that nothing is wrong with until, once it is loaded, something is done to its program.
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
        Self { manifest, ..self }
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

    /// What must come of it.
    pub(super) fn means(&self, way: Way) -> Means {
        match way {
            Way::Executable => self.executable,
            Way::Manifest => self.manifest,
        }
    }
}
