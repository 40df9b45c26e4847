//! Tool calls that no hook is about: they need no catalog (B29).
//!
//! For each tool, a file keeps what hooks are about, together with the state of the files that say so. As long as that is the same,
//! nothing else has to be read for a call that no hook is about: whichever hooks are trusted, whatever their scripts do, none of them
//! would run.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenter_base::{private_dir, replace_file, untrusted_file};
use tenter_engine::catalog::{Catalog, Concerns, HookFiles};
use tenter_engine::configuration::{HookConfiguration, Reaction};
use tenter_engine::{Engine, EngineBuilder};
use tenter_protocol::{Diagnostic, EventName, ToolCall};

use super::guards::guards;
use super::{Visitor, tool};
use crate::digest::digest;
use crate::occurrence::{Detail, Occurrence};
use crate::state::{Guard, State};
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

impl Loaded {
    /// All hooks.
    pub(super) fn all(loader: EngineBuilder) -> Self {
        let (engine, diagnostics) = loader.load();
        Self { engine, diagnostics, is_ruled_out: false }
    }
}

/// What the hooks of a project are about, as far as calls of one tool are concerned.
#[derive(Serialize, Deserialize)]
struct Kept {
    version: String,
    /// The digest of the state of the files that say so.
    files: String,
    concerns: Concerns,
    /// The digest of the hooks that guard a session: each session has to remember them.
    guards: String,
}

/// A tool call whose answer depends on nothing but the hooks that are about it.
pub(super) struct OrdinaryCall<'v> {
    visitor: &'v Visitor,
    call: ToolCall,
    /// The hooks that guard the session.
    guards: &'v [Guard],
    settings: Vec<PathBuf>,
    /// Keeps what hooks are about.
    file: PathBuf,
}

impl<'v> OrdinaryCall<'v> {
    /// The call of an occurrence in the project with these files of settings; `None` if hooks are needed in any case.
    pub(super) fn of(
        visitor: &'v Visitor,
        occurrence: &Occurrence,
        (project, settings, configuration): (&Path, Vec<PathBuf>, &HookConfiguration),
        state: &'v State,
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
        if !is_free || needs_trust || tool::subagent_of(&call).is_some() {
            return None;
        }
        let name = digest(&[&project.to_string_lossy(), &Concerns::tool_key(&call)]);
        let directory = visitor.directories.state.join("bridge/concerns");
        Some(Self {
            visitor,
            call,
            guards: &state.guards,
            settings,
            file: directory.join(format!("{name}.json")),
        })
    }

    /// Loads the hooks, unless none of them is about the call.
    pub(super) fn load(&self, loader: EngineBuilder) -> Loaded {
        let Ok(files) = loader.hook_files(&self.settings) else { return Loaded::all(loader) };
        match self.read(&files) {
            Some(kept) if self.is_ruled_out(&kept) => {
                let engine = loader.build(Catalog::default());
                Loaded { engine, diagnostics: Vec::new(), is_ruled_out: true }
            }
            Some(_) => Loaded::all(loader),
            None => {
                let loaded = Loaded::all(loader);
                // Without it, the next process loads the hooks, too.
                let _ = self.keep(&files, &loaded.engine.catalog());
                loaded
            }
        }
    }

    fn is_ruled_out(&self, kept: &Kept) -> bool {
        kept.guards == digest_of(self.guards) && !kept.concerns.include(&EVENTS, &self.call)
    }

    /// What is kept, if the files are unchanged.
    fn read(&self, files: &HookFiles) -> Option<Kept> {
        let bytes = untrusted_file::read(&self.file, MAX_BYTES).ok()?;
        let kept: Kept = serde_json::from_slice(&bytes).ok()?;
        (kept.version == VERSION && kept.files == files.digest()).then_some(kept)
    }

    /// Keeps what the hooks in `catalog` are about. `files` was read before them.
    fn keep(&self, files: &HookFiles, catalog: &Catalog) -> io::Result<()> {
        if !files.are_settled((self.visitor.clock)()) {
            return Ok(());
        }
        let kept = Kept {
            version: VERSION.to_owned(),
            files: files.digest(),
            concerns: catalog.concerns().with_tool_of(&EVENTS, &self.call),
            guards: digest_of(&guards(catalog)),
        };
        if let Some(directory) = self.file.parent() {
            private_dir::enforce(directory)?;
        }
        let bytes = serde_json::to_vec(&kept)?;
        replace_file::replace_with_mode(&self.file, &bytes, Some(0o600)).map(drop)
    }
}

fn digest_of(guards: &[Guard]) -> String {
    digest(&[&serde_json::to_string(guards).unwrap_or_default()])
}
