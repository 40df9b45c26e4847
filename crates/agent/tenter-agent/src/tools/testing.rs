//! Test fixture for the tools: a temporary project with the standard tools.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;
use tenter_engine::layout::DirectoryNames;
use tenter_proc::Cancel;
use tenter_protocol::{ToolResult, tool_fields};

use super::{
    OutputTail, ProtectedPaths, Registry, Tool, ToolContext, Workspace, WorkspaceSettings,
    WriteConsent,
};

/// A user who always gives the same answer.
impl WriteConsent for bool {
    fn agrees(&self, _: &Path, _: &Path) -> bool {
        *self
    }
}

pub(crate) struct Bench {
    pub(crate) directory: TempDir,
    pub(crate) workspace: Workspace,
    pub(crate) cancel: Cancel,
    /// The user consents to changes of protected files.
    pub(crate) consent: bool,
    registry: Registry,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(TempDir::new().unwrap(), search_path())
    }

    /// Returns a fixture whose commands find only the programs that `fill` puts into a directory.
    pub(crate) fn with_path(fill: impl FnOnce(&Path)) -> Self {
        let directory = TempDir::new().unwrap();
        let programs = directory.path().join("programs");
        fs::create_dir(&programs).unwrap();
        fill(&programs);
        Self::with(directory, programs.into())
    }

    fn with(directory: TempDir, path: OsString) -> Self {
        let project = directory.path().join("project");
        fs::create_dir(&project).unwrap();
        let settings = WorkspaceSettings {
            cwd: project.clone(),
            protected_paths: ProtectedPaths::new(&project, &DirectoryNames::default()),
            project,
            add_dirs: Vec::new(),
            read_dirs: Vec::new(),
            env: vec![("PATH".into(), path), ("GREETING".into(), "hello".into())],
            state_dir: directory.path().join("state"),
            launcher: None,
            clock: || Timestamp::UNIX_EPOCH,
        };
        let workspace = Workspace::new(settings).unwrap();
        let registry = Registry::standard();
        Self { directory, workspace, cancel: Cancel::new(), consent: false, registry }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.workspace.project().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn make_pipe(&self, name: &str) {
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, self.path(name), kind, mode, 0).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        names_in(self.workspace.project())
    }

    pub(crate) fn tool(&self, name: &str) -> &dyn Tool {
        self.registry.get(name).unwrap()
    }

    pub(crate) fn run(&self, tool: &str, input: Value) -> ToolResult {
        self.run_tool(self.tool(tool), input)
    }

    /// Runs a tool that may not be in the registry.
    #[expect(clippy::needless_pass_by_value, reason = "so that a call reads as one line")]
    pub(crate) fn run_tool(&self, tool: &dyn Tool, input: Value) -> ToolResult {
        let context = ToolContext {
            call_id: "call_1",
            workspace: &self.workspace,
            output: &OutputTail::default(),
            confinements: &[],
            cancel: &self.cancel,
            consent: &self.consent,
            subagents: None,
        };
        let input = tool_fields::renamed(tool.name(), input.as_object().unwrap()).unwrap();
        tool.run(&input, &context)
    }

    pub(crate) fn succeed(&self, tool: &str, input: Value) -> ToolResult {
        let result = self.run(tool, input);
        assert!(!result.is_failure(), "{result:?}");
        assert_eq!(
            (result.tool_name.as_str(), result.timestamp.as_str()),
            (tool, "1970-01-01T00:00:00.000Z")
        );
        result
    }

    pub(crate) fn fail(&self, tool: &str, input: Value) -> String {
        let result = self.run(tool, input);
        assert!(result.is_failure(), "{result:?}");
        result.error.unwrap()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests run the shell of the machine that they are on"
)]
pub(crate) fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap()
}

pub(crate) fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Waits for a file that another process creates.
pub(crate) fn wait_for(path: &Path) {
    tenter_testkit::wait_until(&format!("{} is there", path.display()), || path.exists());
}
