//! Computes the facts about a tool call: the commands that it runs, and the paths that it is about to touch (C1, C4).

mod destinations;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tenter_base::{AgentState, real_path};
use tenter_protocol::facts::{
    CallFacts as CallTextFacts, Facts, FlowRole, FlowSource, Path as PathFact, PathOp, PathPlace,
    PathUse,
};
use tenter_protocol::patch::{FileChange, Patch};
use tenter_protocol::tool_effects::{ToolEffects, TouchedPath, last_segment, tool_effects};
use tenter_protocol::tool_names::{ToolNames, canonical, is_other_shell, is_powershell};
use tenter_protocol::{Body, EventRef, ToolCall, tool_fields};
use tenter_shell::Surroundings;

use crate::call_index::{Bases, CallIndex};
use crate::directories::Directories;
use crate::environment::Environment;
use crate::trust::worktrees;
use destinations::{resolve, resolve_all};

/// The tool whose input is text for a shell, and the field with the text.
const SHELL: (&str, &str) = ("bash", "command");
/// Environment variables whose values are used in commands. They contain no secrets.
const VARIABLES: [&str; 9] = *tenter_base::words!(
    "HOME LOGNAME SHELL TMPDIR USER XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME"
);

/// The directories and variables that facts depend on, besides the call and its working directory.
#[derive(Debug, Clone, Default)]
pub struct CallSurroundings {
    project: String,
    added_directories: Vec<PathBuf>,
    /// Without directories.
    text_form: Surroundings,
    /// With directories, which are resolved when they are first needed.
    real_form: OnceLock<Surroundings>,
    tool_names: ToolNames,
    agent: Vec<AgentState>,
    /// A directory that no longer exists: what was in it is not known.
    missing_directory: Option<String>,
    /// The same for the projects around the project.
    outer: Vec<CallSurroundings>,
}

/// The facts about the call of one event, made when they are first needed: many calls have no hook that needs them.
#[derive(Debug)]
pub(crate) struct LazyFacts {
    surroundings: Arc<CallSurroundings>,
    facts: OnceLock<CallFacts>,
    /// The facts for the hooks of each outer project: where a path is depends on the project.
    outer: Vec<OnceLock<CallFacts>>,
}

impl LazyFacts {
    pub(crate) fn new(surroundings: &Arc<CallSurroundings>) -> Self {
        let outer = surroundings.outer.iter().map(|_| OnceLock::new()).collect();
        Self { surroundings: Arc::clone(surroundings), facts: OnceLock::new(), outer }
    }

    /// Returns the facts about the call of `event` for the hooks of an outer project, or of the engine's own.
    pub(crate) fn for_hook(&self, event: EventRef<'_>, outer: Option<&Path>) -> &CallFacts {
        let Some(index) = self.surroundings.outer_of(outer) else { return self.get(event) };
        self.outer[index].get_or_init(|| self.surroundings.outer[index].facts_at(event))
    }

    /// Returns the facts about the call of `event`, which is the same at every call of this function.
    pub(crate) fn get(&self, event: EventRef<'_>) -> &CallFacts {
        self.facts.get_or_init(|| self.surroundings.facts_at(event))
    }
}

/// The facts about a call, and what else rules depend on.
#[derive(Debug, Clone, Default)]
pub struct CallFacts {
    /// The facts as payloads contain them.
    pub facts: Facts,
    /// For each path, the absolute path before symlinks are resolved.
    pub(crate) path_texts: Vec<String>,
    pub(crate) project: String,
    pub(crate) home: Option<String>,
    /// The special states of the agent's process.
    pub(crate) agent: Vec<AgentState>,
    pub(crate) index: OnceLock<CallIndex>,
}

/// The facts about a call for the hooks of each project.
#[derive(Debug, Clone, Default)]
pub struct HookFacts {
    own: CallFacts,
    outer: Vec<CallFacts>,
}

impl HookFacts {
    /// Returns the facts for the hooks of the engine's project, and for the user's.
    pub fn own(&self) -> &CallFacts {
        &self.own
    }

    /// Returns the facts for the hooks of an outer project, or of the engine's own.
    pub fn for_hook(&self, outer: Option<&Path>) -> &CallFacts {
        let project = outer.map(text);
        let outer = self.outer.iter().find(|facts| Some(&facts.project) == project.as_ref());
        outer.unwrap_or(&self.own)
    }
}

impl CallSurroundings {
    /// Creates the surroundings of calls in `project`.
    pub fn new(project: &Path) -> Self {
        Self { project: text(project), ..Self::default() }
    }

    fn surroundings(&self) -> &Surroundings {
        let resolve = || {
            let directories = self.added_directories.iter().flat_map(|directory| roots(directory));
            let project = roots(Path::new(&self.project)).into_iter().chain(directories).collect();
            let temp =
                self.text_form.variables.get("TMPDIR").map(|path| real_path(Path::new(path)));
            let temp = temp.into_iter().flatten().map(|path| text(&path)).collect();
            Surroundings { project, temp, ..self.text_form.clone() }
        };
        self.real_form.get_or_init(resolve)
    }

    /// Adds the surroundings of calls for the hooks of the projects around the project.
    #[must_use]
    pub(crate) fn with_outer(self, outer: Vec<Self>) -> Self {
        Self { outer, ..self }
    }

    /// Returns the facts about a tool call in the working directory `cwd`, for the hooks of each project.
    pub fn hook_facts(&self, call: &ToolCall, cwd: &Path) -> HookFacts {
        let body = Body::BeforeTool(call.clone());
        let facts = |surroundings: &Self| surroundings.facts(&body, None, cwd);
        HookFacts { own: facts(self), outer: self.outer.iter().map(facts).collect() }
    }

    fn outer_of(&self, outer: Option<&Path>) -> Option<usize> {
        let project = text(outer?);
        self.outer.iter().position(|outer| outer.project == project)
    }

    fn facts_at(&self, event: EventRef<'_>) -> CallFacts {
        let native = event.scope.host.as_ref().and_then(|host| host.tool_name.as_deref());
        self.facts(event.body, native, &event.scope.cwd)
    }

    /// Adds directories that the user added to the project.
    #[must_use]
    pub(crate) fn with_added_directories(self, directories: &[PathBuf]) -> Self {
        Self { added_directories: directories.to_vec(), ..self }
    }

    /// Sets a directory that existed when the calls were made and is gone: the targets of the paths in it are not known.
    #[must_use]
    pub(crate) fn with_gone(self, directory: Option<&Path>) -> Self {
        Self { missing_directory: directory.map(text), ..self }
    }

    /// Adds what is special about the agent's process.
    #[must_use]
    pub(crate) fn with_agent_states(mut self, states: &[AgentState]) -> Self {
        self.text_form.unseen_input = states.contains(&AgentState::UnseenInput);
        Self { agent: states.to_vec(), ..self }
    }

    /// Adds the user's home directory.
    #[must_use]
    pub fn with_directories(mut self, directories: &Directories) -> Self {
        self.text_form.home = Some(text(&directories.home));
        self
    }

    /// Adds the values of variables that commands often use.
    #[must_use]
    pub(crate) fn with_variables(mut self, environment: &Environment) -> Self {
        let is_used = |name: &str| VARIABLES.contains(&name);
        let variables = environment.iter().filter_map(|(name, value)| {
            Some((
                name.to_str().filter(|name| is_used(name))?.to_owned(),
                value.to_str()?.to_owned(),
            ))
        });
        self.text_form.variables = variables.collect();
        self
    }

    /// Adds the names of the agent's tools.
    #[must_use]
    pub fn with_tool_names(self, tool_names: &ToolNames) -> Self {
        Self { tool_names: tool_names.clone(), ..self }
    }

    /// Returns the facts about the tool call of an event. Relative paths are resolved against `cwd`. `native` is the name of the
    /// tool in the agent, if that is another. The facts may become outdated: a symlink can change at any time.
    pub fn facts(&self, body: &Body, native: Option<&str>, cwd: &Path) -> CallFacts {
        let mut surroundings = self.surroundings().clone();
        surroundings.cwd = Some(text(cwd));
        surroundings.variables.insert("PWD".to_owned(), text(cwd));
        let mut call = self.facts_of(body.tool_call(), cwd, &surroundings, native);
        self.forget_gone(&mut call.facts.call.paths);
        resolve_all(&mut call.facts.call, &surroundings);
        self.include_worktrees(&mut call.facts.call.paths, surroundings);
        call
    }

    /// Marks the paths in the directory that is gone as uncertain: nothing can be looked up there.
    fn forget_gone(&self, paths: &mut [PathFact]) {
        let Some(directory) = &self.missing_directory else { return };
        for path in paths.iter_mut().filter(|path| Path::new(&path.path).starts_with(directory)) {
            path.certain = false;
            path.joined = None;
        }
    }

    /// Adds the other worktrees of the project's repository to the project. They are looked up when a path is outside.
    fn include_worktrees(&self, paths: &mut [PathFact], mut surroundings: Surroundings) {
        let is_outside = |path: &PathFact| {
            let is_elsewhere = matches!(path.place, PathPlace::Remote | PathPlace::Device);
            !path.inside_project && !is_elsewhere && path.path.starts_with('/')
        };
        if !paths.iter().any(is_outside) {
            return;
        }
        let worktrees = worktrees(Path::new(&self.project));
        if worktrees.is_empty() {
            return;
        }
        surroundings.project.extend(worktrees.iter().map(|worktree| text(worktree)));
        for path in paths.iter_mut().filter(|path| is_outside(path)) {
            (path.place, path.inside_project) = surroundings.place(&path.path);
        }
    }

    /// Returns the resolved paths in the input of a file tool; paths in shell commands are not among them.
    pub fn tool_paths(&self, call: &ToolCall, cwd: &Path) -> Vec<PathFact> {
        let standard = self.tool_names.standard(&call.name);
        let mut finder = destinations::finder();
        if standard == SHELL.0 {
            return Vec::new();
        }
        let surroundings = self.surroundings();
        let mut paths = paths(call, cwd, standard, surroundings);
        for path in &mut paths {
            resolve(path, surroundings, &mut finder);
        }
        paths
    }

    /// Returns the facts about a shell command on no machine in particular: no path is resolved.
    pub(crate) fn read_example(command: &str) -> CallFacts {
        let project = "/home/user/project".to_owned();
        let surroundings = Surroundings {
            cwd: Some(project.clone()),
            project: vec![project.clone()],
            home: Some("/home/user".to_owned()),
            variables: BTreeMap::from([("HOME".to_owned(), "/home/user".to_owned())]),
            ..Surroundings::default()
        };
        let call = ToolCall {
            id: String::new(),
            name: SHELL.0.to_owned(),
            input: [(SHELL.1.to_owned(), command.into())].into_iter().collect(),
        };
        let own = Self { project, ..Self::default() };
        own.facts_of(Some(&call), Path::new("/home/user/project"), &surroundings, None)
    }

    fn facts_of(
        &self,
        call: Option<&ToolCall>,
        cwd: &Path,
        surroundings: &Surroundings,
        native: Option<&str>,
    ) -> CallFacts {
        let mut facts = Facts { tool_names: self.tool_names.clone(), ..Facts::default() };
        if let Some(call) = call {
            let standard = self.tool_names.standard(&call.name);
            let shell = native.unwrap_or(&call.name);
            match call.input.get(SHELL.1).filter(|_| standard == SHELL.0 || is_powershell(shell)) {
                Some(Value::String(command)) if is_powershell(shell) => {
                    facts.call = tenter_shell::read_powershell(command, surroundings);
                }
                _ if is_other_shell(shell) => facts.call.unparsed = true,
                Some(Value::String(command)) => {
                    facts.call = tenter_shell::read(command, surroundings);
                }
                None | Some(Value::Null) => {}
                Some(_) => facts.call.unparsed = true,
            }
            if canonical(standard) != Some(standard) {
                facts.call.append(read_fields(call, native.unwrap_or(&call.name), surroundings));
            }
            let paths = paths(call, cwd, standard, surroundings);
            if standard == "grep" {
                facts.call.paths.extend(paths.iter().filter_map(content));
            }
            facts.call.paths.extend(paths);
        }
        let path_texts = facts.call.paths.iter().map(|path| path.path.clone()).collect();
        let (project, home) = (self.project.clone(), surroundings.home.clone());
        let agent = self.agent.clone();
        CallFacts { facts, path_texts, project, home, agent, index: OnceLock::new() }
    }
}

/// Returns a directory as written, and resolved if that is another path.
fn roots(directory: &Path) -> Vec<String> {
    let directory_text = text(directory);
    let real_text = real_path(Path::new(&directory_text)).map(|path| text(&path)).ok();
    let real_text = real_text.filter(|real_text| *real_text != directory_text);
    std::iter::once(directory_text).chain(real_text).collect()
}

/// Returns the commands in the fields of a tool that is not known: one of an MCP server, or one that an agent adds.
fn read_fields(call: &ToolCall, native: &str, surroundings: &Surroundings) -> CallTextFacts {
    let ToolEffects { scripts, cwd, meaning, is_limited, .. } =
        tool_effects(&call.name, &call.input);
    let mut surroundings = surroundings.clone();
    if let Some(cwd) = cwd {
        let here = surroundings.cwd.clone().unwrap_or_default();
        let there = text(&in_home(&cwd, Path::new(&here), &surroundings));
        surroundings.variables.insert("PWD".to_owned(), there.clone());
        surroundings.cwd = Some(Surroundings::without_dots(&there));
    }
    let mut facts = CallTextFacts { over_limit: is_limited, ..CallTextFacts::default() };
    let shell = last_segment(native);
    // The texts of a tool for PowerShell are the command itself, which is read already.
    if is_other_shell(shell) && (!is_powershell(shell) || shell == native) {
        facts.unparsed |= !scripts.is_empty();
        return facts;
    }
    let read =
        if is_powershell(shell) { tenter_shell::read_powershell } else { tenter_shell::read };
    for script in &scripts {
        facts.append(read(script, &surroundings));
    }
    if let Some(command) = &meaning {
        facts.append(tenter_shell::read(command, &surroundings));
    }
    facts
}

/// Returns the paths in the fields of a tool that is not known.
fn paths_of_fields(call: &ToolCall, cwd: &Path, surroundings: &Surroundings) -> Vec<PathFact> {
    let touched = tool_effects(&call.name, &call.input).paths.into_iter();
    let fact = |touched: TouchedPath| {
        let whole = in_home(&touched.path, cwd, surroundings);
        let is_directory = || whole.is_dir();
        let op = match touched.op {
            PathOp::Read if is_directory() => PathOp::List,
            op => op,
        };
        let fact = build_path_fact(text(&whole), &touched.path, op, surroundings);
        let recursive = matches!(op, PathOp::Delete | PathOp::Move | PathOp::Mode);
        let glob = op == PathOp::Read && touched.path.contains(['*', '?']);
        PathFact { recursive, glob, ..fact }
    };
    touched.map(fact).collect()
}

/// Returns a path as written in the call of a tool. Some agents expand `~`, so it counts as the home directory in all of them.
fn in_home(text: &str, cwd: &Path, surroundings: &Surroundings) -> PathBuf {
    match (text.strip_prefix('~'), &surroundings.home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            Path::new(home).join(rest.trim_start_matches('/'))
        }
        _ => cwd.join(text),
    }
}

/// Adds the texts of a field: one, or a list of them.
fn texts_of(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns the files that a search is limited to by a pattern: `include`, or `glob` as other agents call it.
fn included(call: &ToolCall, cwd: &Path, surroundings: &Surroundings) -> Vec<PathFact> {
    let fields = ["include", "glob"].into_iter().filter_map(|field| call.input.get(field));
    let patterns = fields.flat_map(texts_of).flat_map(tenter_shell::selecting);
    let directory = call.input.get("path").and_then(Value::as_str).unwrap_or(".");
    let directory = in_home(directory, cwd, surroundings);
    let fact = |pattern: String| {
        let whole = format!("{}/**/{pattern}", text(&directory).trim_end_matches('/'));
        let fact = build_path_fact(whole, &pattern, PathOp::Read, surroundings);
        PathFact { glob: true, recursive: true, ..fact }
    };
    patterns.map(fact).collect()
}

/// Returns the paths in the fields of file tools, and in patches.
fn paths(
    call: &ToolCall,
    cwd: &Path,
    standard_tool: &str,
    surroundings: &Surroundings,
) -> Vec<PathFact> {
    if canonical(standard_tool) != Some(standard_tool) {
        return paths_of_fields(call, cwd, surroundings);
    }
    let rows = tool_fields::PATHS.iter().filter(|(tool, ..)| *tool == standard_tool);
    let fields = rows.flat_map(|(_, field, operation)| {
        let aliases = tool_fields::aliases(standard_tool, field);
        let mut names = [*field].into_iter().chain(aliases);
        let value = names.find_map(|name| call.input.get(name));
        let fact = move |path: &str| {
            let whole = in_home(path, cwd, surroundings);
            let op = match operation {
                PathUse::Write => PathOp::Write,
                PathUse::Search if whole.is_dir() => PathOp::List,
                PathUse::Search | PathUse::Read => PathOp::Read,
            };
            build_path_fact(text(&whole), path, op, surroundings)
        };
        value.map(texts_of).unwrap_or_default().into_iter().map(fact)
    });
    let include = match standard_tool {
        "grep" => included(call, cwd, surroundings),
        _ => Vec::new(),
    };
    let patch = Patch::from_input(&call.input).filter(|_| standard_tool == "file_edit");
    let patched = patch.into_iter().flat_map(|patch| patch.files).map(|file| {
        let op = match file.change {
            FileChange::Add | FileChange::Update => PathOp::Write,
            FileChange::Delete => PathOp::Delete,
        };
        build_path_fact(text(&cwd.join(file.path)), file.path, op, surroundings)
    });
    fields.chain(include).chain(patched).collect()
}

/// Returns the search of a directory as what it also is: its files are read, and their lines shown.
fn content(path: &PathFact) -> Option<PathFact> {
    let is_directory = path.op == PathOp::List;
    is_directory.then(|| PathFact { op: PathOp::Read, recursive: true, ..path.clone() })
}

fn build_path_fact(whole: String, text: &str, op: PathOp, surroundings: &Surroundings) -> PathFact {
    let path = Surroundings::without_dots(&whole);
    let (place, inside_project) = surroundings.place(&path);
    PathFact {
        path,
        given: text.to_owned(),
        op,
        recursive: false,
        place,
        inside_project,
        command: None,
        certain: true,
        glob: false,
        joined: Some(whole),
        inner: None,
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl CallFacts {
    /// Returns the index of the facts, which is made when it is first needed. The facts do not change after that.
    pub(crate) fn index(&self) -> &CallIndex {
        let bases = || Bases { home: self.home.as_deref().unwrap_or("~"), project: &self.project };
        self.index.get_or_init(|| CallIndex::new(&self.facts.call, &self.path_texts, bases()))
    }

    /// Returns the commands whose data reaches a command, directly or through programs that pass it on, and in which role.
    pub(crate) fn sources_of(&self, command: usize) -> Vec<(FlowSource, FlowRole)> {
        let call = &self.facts.call;
        let flows = |into: usize| {
            let places = self.index().flows_into.get(into).map_or(&[][..], Vec::as_slice);
            places.iter().filter_map(|place| call.flows.get(*place))
        };
        call.sources_of(command, flows)
    }
}

#[cfg(test)]
mod tests;
