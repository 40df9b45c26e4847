//! Tool calls to which no hook applies: they need no catalog (B29).
//!
//! For each tool, a file has a summary of the hooks' matchers, with a digest of the files that they come from. While the digest is the same,
//! a call that no matcher in the summary accepts needs no other file: no hook would run, whichever hooks are trusted.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenter_base::{private_dir, replace_file, untrusted_file};
use tenter_engine::configuration::{HookConfiguration, Reaction};
use tenter_engine::inspect::{Catalog, Concerns, HookFiles};
use tenter_engine::{Engine, EngineBuilder};
use tenter_protocol::{Diagnostic, EventName, ToolCall};

use super::guards::guards;
use super::{Visitor, tool};
use crate::digest::digest;
use crate::occurrence::{Detail, Occurrence};
use crate::state::{Guard, GuardRecord};
use crate::tool_call;

/// The version of summaries: another version may have other events and names of tools.
const VERSION: &str = concat!("1/", env!("CARGO_PKG_VERSION"));
/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// The events of a call: hooks of its result may deny it, and hooks of its failure see a denial.
const EVENTS: [EventName; 3] =
    [EventName::BeforeTool, EventName::AfterTool, EventName::AfterToolFailure];

/// The hooks for an occurrence.
pub(super) struct LoadedHooks {
    pub(super) engine: Engine,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// True if no hook applies to the occurrence; none was loaded then.
    pub(super) is_ruled_out: bool,
}

impl LoadedHooks {
    /// Loads all hooks.
    pub(super) fn load_all(loader: EngineBuilder) -> Self {
        let (engine, diagnostics) = loader.load();
        Self { engine, diagnostics, is_ruled_out: false }
    }
}

/// The summary of a project's hooks for calls of one tool.
#[derive(Serialize, Deserialize)]
struct ToolSummary {
    version: String,
    /// The digest of the files of the hooks.
    files: String,
    concerns: Concerns,
    /// The digest of the hooks that guard a session, which each session records.
    guards: String,
}

/// A tool call whose answer depends only on the hooks that apply to it.
pub(super) struct OrdinaryCall<'v> {
    visitor: &'v Visitor,
    call: ToolCall,
    /// The hooks that guard the session.
    guards: &'v [Guard],
    settings: Vec<PathBuf>,
    /// The file of the summary.
    file: PathBuf,
}

impl<'v> OrdinaryCall<'v> {
    /// Returns the call of an occurrence in a project with these settings files; `None` if hooks are needed in any case.
    pub(super) fn new(
        visitor: &'v Visitor,
        occurrence: &Occurrence,
        (project, settings, configuration): (&Path, Vec<PathBuf>, &HookConfiguration),
        state: &'v GuardRecord,
    ) -> Option<Self> {
        let (Detail::BeforeTool(native) | Detail::AfterTool { call: native, .. }) =
            &occurrence.detail
        else {
            return None;
        };
        let is_free = state.opened && state.blocked.is_none() && !state.breached;
        // Only the catalog shows untrusted hooks.
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

    /// Loads the hooks, unless none of them applies to the call.
    pub(super) fn load(&self, loader: EngineBuilder) -> LoadedHooks {
        let Ok(files) = loader.hook_files(&self.settings) else {
            return LoadedHooks::load_all(loader);
        };
        match self.read(&files) {
            Some(summary) if self.is_ruled_out(&summary) => {
                let engine = loader.build(Catalog::default());
                LoadedHooks { engine, diagnostics: Vec::new(), is_ruled_out: true }
            }
            Some(_) => LoadedHooks::load_all(loader),
            None => {
                let loaded = LoadedHooks::load_all(loader);
                // Without a summary, the next process loads the hooks, too.
                let _ = self.write(&files, &loaded.engine.catalog());
                loaded
            }
        }
    }

    fn is_ruled_out(&self, summary: &ToolSummary) -> bool {
        summary.guards == guards_digest(self.guards)
            && !summary.concerns.include(&EVENTS, &self.call)
    }

    /// Reads the summary, if the files are unchanged.
    fn read(&self, files: &HookFiles) -> Option<ToolSummary> {
        let bytes = untrusted_file::read(&self.file, MAX_BYTES).ok()?;
        let summary: ToolSummary = serde_json::from_slice(&bytes).ok()?;
        (summary.version == VERSION && summary.files == files.digest()).then_some(summary)
    }

    /// Writes the summary of the hooks in `catalog`. `files` was read before them.
    fn write(&self, files: &HookFiles, catalog: &Catalog) -> io::Result<()> {
        if !files.are_settled((self.visitor.clock)()) {
            return Ok(());
        }
        let summary = ToolSummary {
            version: VERSION.to_owned(),
            files: files.digest(),
            concerns: catalog.concerns().with_tool_of(&EVENTS, &self.call),
            guards: guards_digest(&guards(catalog)),
        };
        if let Some(directory) = self.file.parent() {
            private_dir::enforce(directory)?;
        }
        let bytes = serde_json::to_vec(&summary)?;
        replace_file::replace_with_mode(&self.file, &bytes, Some(0o600)).map(drop)
    }
}

fn guards_digest(guards: &[Guard]) -> String {
    digest(&[&serde_json::to_string(guards).unwrap_or_default()])
}
