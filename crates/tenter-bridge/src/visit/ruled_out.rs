//! Tool calls that no hook is about: they need no catalog (B29).
//!
//! What hooks are about is kept together with the state of the files that say so. As long as that is the same, nothing else has to be
//! read for a call that no hook is about: whichever hooks are trusted, whatever their scripts do, none of them would run.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tenter_base::{private_dir, replace_file, untrusted_file};
use tenter_engine::catalog::{Catalog, Concerns, HookFiles};
use tenter_engine::configuration::{HookConfiguration, Reaction};
use tenter_engine::{Engine, EngineBuilder};
use tenter_protocol::{Diagnostic, EventName, ToolCall};

use super::guards::guards;
use super::{Visitor, tool};
use crate::occurrence::{Detail, Occurrence};
use crate::state::{Guard, State, digest};
use crate::tool_call;

/// Another version may know other events and names of tools.
const VERSION: &str = concat!("1/", env!("CARGO_PKG_VERSION"));
/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// The events of a call: hooks of its result may deny it, and those of its failure see a denial.
const EVENTS: [EventName; 3] =
    [EventName::BeforeTool, EventName::AfterTool, EventName::AfterToolFailure];

/// The hooks for an occurrence.
pub(super) struct Loaded {
    pub(super) engine: Engine,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Whether no hook is about the occurrence; then none was loaded.
    pub(super) is_ruled_out: bool,
}

/// What the hooks of a project are about.
#[derive(Serialize, Deserialize)]
struct Kept {
    version: String,
    /// The digest of the state of their files.
    files: String,
    concerns: Concerns,
    /// The digest of the hooks that guard a session: each session has to remember them.
    guards: String,
}

/// The file that keeps what the hooks of a project are about.
pub(super) struct ConcernsFile<'v> {
    visitor: &'v Visitor,
    path: PathBuf,
    settings: [PathBuf; 2],
}

impl<'v> ConcernsFile<'v> {
    /// The file for the project with these settings files.
    pub(super) fn new(visitor: &'v Visitor, settings: [PathBuf; 2]) -> Self {
        let project = settings[1].to_string_lossy();
        let name = format!("{}.json", digest(&[&project]));
        let path = visitor.directories.state.join("bridge/concerns").join(name);
        Self { visitor, path, settings }
    }

    /// Loads the hooks, unless none of them is about `call`.
    pub(super) fn load(&self, loader: EngineBuilder, call: Option<&KnownCall>) -> Loaded {
        let files = loader.hook_files(&self.settings).ok();
        let kept = files.as_ref().and_then(|files| self.read(files));
        let is_ruled_out = match (&kept, call) {
            (Some(kept), Some(call)) => call.is_ruled_out_by(kept),
            _ => false,
        };
        if is_ruled_out {
            let engine = loader.build(Catalog::default());
            return Loaded { engine, diagnostics: Vec::new(), is_ruled_out };
        }
        let (engine, diagnostics) = loader.load();
        if let (None, Some(files)) = (kept, files) {
            // Without it, the next process loads the hooks.
            let _ = self.keep(&files, &engine);
        }
        Loaded { engine, diagnostics, is_ruled_out }
    }

    /// What is kept, if the files are unchanged.
    fn read(&self, files: &HookFiles) -> Option<Kept> {
        let bytes = untrusted_file::read(&self.path, MAX_BYTES).ok()?;
        let kept: Kept = serde_json::from_slice(&bytes).ok()?;
        (kept.version == VERSION && kept.files == files.digest()).then_some(kept)
    }

    /// Keeps what the hooks are about. `files` was read before them.
    fn keep(&self, files: &HookFiles, engine: &Engine) -> io::Result<()> {
        if !files.are_settled((self.visitor.clock)()) {
            return Ok(());
        }
        let catalog = engine.catalog();
        let kept = Kept {
            version: VERSION.to_owned(),
            files: files.digest(),
            concerns: catalog.concerns().clone(),
            guards: digest_of(&guards(&catalog)),
        };
        if let Some(directory) = self.path.parent() {
            private_dir::enforce(directory)?;
        }
        let bytes = serde_json::to_vec(&kept)?;
        replace_file::replace_with_mode(&self.path, &bytes, Some(0o600)).map(drop)
    }
}

/// A tool call whose answer depends on nothing but the hooks that are about it.
pub(super) struct KnownCall<'s> {
    call: ToolCall,
    /// The hooks that guard the session.
    guards: &'s [Guard],
}

impl<'s> KnownCall<'s> {
    /// The call of an occurrence; `None` if hooks are needed in any case.
    pub(super) fn of(
        visitor: &Visitor,
        occurrence: &Occurrence,
        state: &'s State,
        configuration: &HookConfiguration,
    ) -> Option<Self> {
        let (Detail::BeforeTool(native) | Detail::AfterTool { call: native, .. }) =
            &occurrence.detail
        else {
            return None;
        };
        let is_free = state.opened && state.blocked.is_none() && !state.breached;
        // Whether all hooks are trusted, only the catalog knows.
        let needs_trust = configuration.bridge.untrusted == Reaction::Block;
        let call = tool_call::canonical(visitor.host, native);
        let is_known = is_free && !needs_trust && tool::subagent_of(&call).is_none();
        is_known.then_some(Self { call, guards: &state.guards })
    }

    fn is_ruled_out_by(&self, kept: &Kept) -> bool {
        kept.guards == digest_of(self.guards) && !kept.concerns.include(&EVENTS, &self.call)
    }
}

fn digest_of(guards: &[Guard]) -> String {
    digest(&[&serde_json::to_string(guards).unwrap_or_default()])
}
