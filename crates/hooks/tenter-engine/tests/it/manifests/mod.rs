//! Manifest hooks as the engine meets them: `catalog` covers discovery and precedence, `scripts` covers
//! what runs, `static_action` about hooks without code, `triggers` about hooks with several events.

mod catalog;
mod scripts;
mod static_hooks;
mod triggers;

use std::path::PathBuf;

use tenter_engine::inspect::Outcome;

use crate::scene::{Scene, call, reason};

/// Says no to everything.
const DENY: &str = "#!/bin/sh\necho \"$TENTER_HOOK_DIR says no\" >&2\nexit 2\n";
const SCRIPT: &str = "scripts/run";

impl Scene {
    /// Returns a manifest hook for `before_tool` in `directory`, its name and `more` lines in the front matter.
    pub(super) fn manifest(&self, directory: &str, name: &str, more: &str) -> PathBuf {
        self.manifest_in(directory, name, name, more)
    }

    /// Returns the same in a directory of another name.
    pub(super) fn manifest_in(
        &self,
        directory: &str,
        dir: &str,
        name: &str,
        more: &str,
    ) -> PathBuf {
        let front = format!("name: {name}\ndescription: d\ntrigger: before_tool\n{more}");
        self.bare(directory, dir, &front);
        self.file(&format!("{directory}/{dir}/{SCRIPT}"), DENY, 0o755);
        self.at(&format!("{directory}/{dir}"))
    }

    /// Returns a directory with a manifest and nothing to run.
    pub(super) fn bare(&self, directory: &str, dir: &str, front: &str) -> PathBuf {
        self.file(
            &format!("{directory}/{dir}/HOOK.md"),
            &format!("---\n{front}\n---\n# Why\n"),
            0o644,
        );
        self.at(&format!("{directory}/{dir}"))
    }

    pub(super) fn settings(&self, directory: &str, text: &str) {
        self.file(&format!("{directory}/hooks.toml"), text, 0o644);
    }

    /// Dispatches one call to the hooks of this scene.
    pub(super) fn dispatch(&self) -> Outcome {
        call(&self.engine(self.load().0).0)
    }
}
