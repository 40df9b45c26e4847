//! Manifest hooks as the engine meets them: `catalog` is about what is found and what takes whose place, `scripts` about
//! what runs.

mod catalog;
mod scripts;

use std::path::PathBuf;

use tenter_engine::catalog::Catalog;
use tenter_engine::environment::HookEnvironment;
use tenter_engine::{Engine, EngineSettings, Outcome};
use tenter_protocol::{Body, Event, Scope, ToolCall};

use crate::scene::Scene;

/// Says no to everything.
const DENY: &str = "#!/bin/sh\necho \"$TENTER_HOOK_DIR says no\" >&2\nexit 2\n";
const SCRIPT: &str = "scripts/run";

impl Scene {
    /// A manifest hook for `before_tool` in `folder`, its name and `more` lines in the front matter.
    pub(super) fn manifest(&self, folder: &str, name: &str, more: &str) -> PathBuf {
        self.manifest_in(folder, name, name, more)
    }

    /// The same in a folder of another name.
    pub(super) fn manifest_in(&self, folder: &str, dir: &str, name: &str, more: &str) -> PathBuf {
        let front = format!("name: {name}\ndescription: d\ntrigger: before_tool\n{more}");
        self.bare(folder, dir, &front);
        self.file(&format!("{folder}/{dir}/{SCRIPT}"), DENY, 0o755);
        self.at(&format!("{folder}/{dir}"))
    }

    /// A folder with a manifest and nothing to run.
    pub(super) fn bare(&self, folder: &str, dir: &str, front: &str) -> PathBuf {
        self.file(
            &format!("{folder}/{dir}/HOOK.md"),
            &format!("---\n{front}\n---\n# Why\n"),
            0o644,
        );
        self.at(&format!("{folder}/{dir}"))
    }

    pub(super) fn settings(&self, folder: &str, text: &str) {
        self.file(&format!("{folder}/hooks.toml"), text, 0o644);
    }

    /// What the hooks of this scene make of one call.
    pub(super) fn dispatch(&self) -> Outcome {
        call(&self.engine(self.load().0))
    }

    pub(super) fn engine(&self, catalog: Catalog) -> Engine {
        let path = vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
        Engine::new(
            catalog,
            EngineSettings {
                project: self.places.project.clone(),
                environment: HookEnvironment::new(&path, &[]),
                clock: || jiff::Timestamp::UNIX_EPOCH,
                observers: Vec::new(),
            },
        )
    }
}

/// Tells the engine's hooks of `bash {"command": "ls"}`.
fn call(engine: &Engine) -> Outcome {
    let scope = Scope {
        conversation_id: "c".into(),
        parent_conversation_id: None,
        cwd: "/".into(),
        recipe: None,
        time: "T".into(),
    };
    let input = serde_json::json!({"command": "ls"}).as_object().unwrap().clone();
    let body = Body::BeforeTool(ToolCall { id: "1".into(), name: "bash".into(), input });
    engine.dispatch(Event { scope, body }, &tenter_proc::Cancel::new())
}

fn reason(outcome: &Outcome) -> &str {
    outcome.denied().map_or("", |(_, reason)| reason)
}
