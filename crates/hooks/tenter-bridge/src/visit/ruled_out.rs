//! Events to which no hook applies: they need no catalog (B29).
//!
//! For each kind of event, and for each tool, a file has a summary of the hooks: their matchers, and the gates of their rules, with a digest
//! of the files that they come from. While the digest is the same, an event that nothing in the summary applies to needs no other file: no
//! hook would run, whichever hooks are trusted.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter_base::{private_dir, replace_file, untrusted_file, versioned};
use tenter_engine::configuration::{HookConfiguration, Reaction};
use tenter_engine::inspect::{Catalog, HookFiles, HookSummaries};
use tenter_engine::{Engine, EngineBuilder};
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{Body, Diagnostic, EventName, ToolCall};

use super::guards::guards;
use super::kept::KeptHooks;
use super::{Visitor, tool};
use crate::digest::digest;
use crate::host::Support;
use crate::occurrence::{Detail, NativeCall, Occurrence};
use crate::state::{Guard, GuardRecord};
use crate::tool_call;

/// The version of summaries: another version may have other events and names of tools.
const VERSION: &str = concat!("4/", env!("CARGO_PKG_VERSION"));
/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 16 << 20;
/// Maximum length of the texts of a call whose rules are checked without the hooks, in bytes. A longer one would be read twice.
const MAX_TEXT: usize = 2048;

/// The hooks for an occurrence.
pub(super) struct LoadedHooks {
    pub(super) engine: Engine,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// True if no hook applies to the occurrence; none was loaded then.
    pub(super) is_ruled_out: bool,
}

impl LoadedHooks {
    /// Loads none, because none applies.
    fn none(loader: EngineBuilder) -> Self {
        let engine = loader.build(Catalog::default());
        Self { engine, diagnostics: Vec::new(), is_ruled_out: true }
    }

    /// Loads all hooks.
    pub(super) fn load_all(loader: EngineBuilder) -> Self {
        let (engine, diagnostics) = loader.load();
        Self { engine, diagnostics, is_ruled_out: false }
    }
}

/// The summary of a project's hooks for one kind of event.
#[derive(Serialize, Deserialize)]
struct Summary<'a> {
    /// The digest of the files of the hooks.
    files: String,
    #[serde(borrow)]
    summaries: HookSummaries<'a>,
    /// The digest of the hooks that guard a session, which each session records.
    guards: String,
}

impl<'a> Summary<'a> {
    /// Reads the summary, if the files are unchanged.
    fn read(bytes: &'a [u8], files: &HookFiles) -> Option<Self> {
        let summary: Self = versioned::from_bytes(VERSION, bytes)?;
        (summary.files == files.digest()).then_some(summary)
    }
}

/// An event whose answer depends only on the hooks that apply to it.
pub(super) struct OrdinaryEvent<'v> {
    visitor: &'v Visitor,
    occurrence: &'v Occurrence,
    /// Tenter's events for it.
    events: Vec<EventName>,
    /// Its tool call, if it has one.
    call: Option<ToolCall>,
    /// The hooks that guard the session.
    guards: &'v [Guard],
    project: PathBuf,
    settings: Vec<PathBuf>,
    /// The file of the summary.
    file: PathBuf,
}

impl<'v> OrdinaryEvent<'v> {
    /// Returns the event of an occurrence in a project with these settings files; `None` if hooks are needed in any case.
    pub(super) fn new(
        visitor: &'v Visitor,
        occurrence: &'v Occurrence,
        (project, settings, configuration): (&Path, Vec<PathBuf>, &HookConfiguration),
        state: &'v GuardRecord,
    ) -> Option<Self> {
        let is_free = state.opened && state.blocked.is_none() && !state.breached;
        // Only the catalog shows untrusted hooks.
        let needs_trust = configuration.bridge.untrusted == Reaction::Block;
        if !is_free || needs_trust {
            return None;
        }
        let events = events(visitor, &occurrence.detail);
        let native = native_call(&occurrence.detail);
        let call = native.map(|native| tool_call::canonical(visitor.host, native));
        if events.is_empty() || call.as_ref().and_then(tool::subagent_of).is_some() {
            return None;
        }
        let kind: Vec<&str> = events.iter().map(|event| event.as_str()).collect();
        let tool = call.as_ref().map(HookSummaries::tool_key).unwrap_or_default();
        let name = digest(&[&project.to_string_lossy(), &kind.join(" "), &tool]);
        let directory = visitor.directories.state.join("bridge/concerns");
        Some(Self {
            visitor,
            occurrence,
            events,
            call,
            guards: &state.guards,
            project: project.to_owned(),
            settings,
            file: directory.join(format!("{name}.bin")),
        })
    }

    /// Loads the hooks, unless they are in memory, or none of them applies to the event.
    pub(super) fn load(&self, loader: EngineBuilder) -> LoadedHooks {
        let started_ns = (self.visitor.clock)().as_nanosecond();
        let Ok(files) = loader.hook_files(&self.settings) else {
            return LoadedHooks::load_all(loader);
        };
        if let Some(memory) = &self.visitor.memory {
            return self.load_kept(memory, (files, started_ns), loader);
        }
        // The user can write the summary, but not remove a managed hook.
        if self.visitor.directories.managed.exists() {
            return LoadedHooks::load_all(loader);
        }
        let bytes = untrusted_file::read(&self.file, MAX_BYTES).unwrap_or_default();
        match Summary::read(&bytes, &files) {
            Some(summary)
                if summary.guards == guards_digest(self.guards)
                    && self.is_ruled_out(&summary.summaries, &loader) =>
            {
                LoadedHooks::none(loader)
            }
            Some(_) => LoadedHooks::load_all(loader),
            None => {
                let hooks = LoadedHooks::load_all(loader);
                // Without a summary, the next process loads the hooks, too.
                let _ = self.write(&files, &hooks.engine.catalog());
                hooks
            }
        }
    }

    /// Returns the hooks in memory, or loads all of them and keeps them.
    fn load_kept(
        &self,
        memory: &KeptHooks,
        (files, started_ns): (HookFiles, i128),
        loader: EngineBuilder,
    ) -> LoadedHooks {
        if let Some(entry) = memory.get(&self.project, &files) {
            let catalog = &entry.catalog;
            if guards(catalog) == self.guards && self.is_ruled_out(catalog.summaries(), &loader) {
                return LoadedHooks::none(loader);
            }
            if entry.is_current() {
                let engine = loader.build(Catalog::clone(catalog));
                return LoadedHooks { engine, diagnostics: Vec::new(), is_ruled_out: false };
            }
        }
        let hooks = LoadedHooks::load_all(loader);
        if hooks.diagnostics.is_empty() && files.are_settled((self.visitor.clock)()) {
            memory.put(&self.project, (files, started_ns), &hooks.engine.catalog());
        }
        hooks
    }

    /// Returns whether no hook applies to the event.
    fn is_ruled_out(&self, summaries: &HookSummaries<'_>, loader: &EngineBuilder) -> bool {
        // Summaries have the rules of the user's hooks, for which the projects around this one make no difference.
        let facts = |call: &ToolCall| {
            let body = Body::BeforeTool(call.clone());
            let native = native_call(&self.occurrence.detail).map(|native| native.tool.as_str());
            loader.surroundings(&Catalog::default()).facts(&body, native, &self.occurrence.cwd)
        };
        let call = self.call.as_ref();
        let short_call = call.filter(|call| text_length(call) <= MAX_TEXT);
        let facts = short_call.map(|call| || facts(call));
        let facts = facts.as_ref().map(|facts| facts as &dyn Fn() -> _);
        !summaries.include(&self.events, call, facts)
    }

    /// Writes the summary of the hooks in `catalog`. `files` was read before them.
    fn write(&self, files: &HookFiles, catalog: &Catalog) -> io::Result<()> {
        if !files.are_settled((self.visitor.clock)()) {
            return Ok(());
        }
        let summary = Summary {
            files: files.digest(),
            summaries: catalog.summaries().narrow(&self.events, self.call.as_ref()),
            guards: guards_digest(&guards(catalog)),
        };
        if let Some(directory) = self.file.parent() {
            private_dir::enforce(directory)?;
        }
        let bytes = versioned::to_bytes(VERSION, &summary).map_err(io::Error::other)?;
        replace_file::replace(&self.file, &bytes)
    }
}

/// Returns Tenter's events whose hooks decide the answer to an occurrence; none if all hooks are needed.
fn events(visitor: &Visitor, detail: &Detail) -> Vec<EventName> {
    match detail {
        // It needs the hooks that guard the session.
        Detail::SessionStart { .. } => Vec::new(),
        // A call is also denied for a hook that has to see its result, where the host always shows the model the original (B19).
        Detail::BeforeTool(_) => {
            let support = visitor.host.support(EventName::AfterTool, Power::RewriteOutput);
            let needs_results = support == Support::Unsupported;
            let after = needs_results.then_some(EventName::AfterTool);
            [EventName::BeforeTool].into_iter().chain(after).collect()
        }
        _ => detail.events().to_vec(),
    }
}

fn native_call(detail: &Detail) -> Option<&NativeCall> {
    match detail {
        Detail::BeforeTool(call) | Detail::AfterTool { call, .. } => Some(call),
        _ => None,
    }
}

/// Returns the length of the texts in a call's input.
fn text_length(call: &ToolCall) -> usize {
    fn length(value: &Value) -> usize {
        match value {
            Value::String(text) => text.len(),
            Value::Array(values) => values.iter().map(length).sum(),
            Value::Object(fields) => fields.values().map(length).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
    }
    call.input.values().map(length).sum()
}

fn guards_digest(guards: &[Guard]) -> String {
    digest(&[&serde_json::to_string(guards).unwrap_or_default()])
}
