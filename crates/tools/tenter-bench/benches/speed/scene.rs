//! A project and a home in a temporary directory, with hooks and engines.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jiff::Timestamp;
use tempfile::TempDir;
use tenter_engine::inspect::{Catalog, Environment, HookEnvironment};
use tenter_engine::layout::ResourceLayout;
use tenter_engine::trust::{TrustEntry, TrustStore};
use tenter_engine::{Directories, Engine, EngineBuilder};
use tenter_protocol::{Body, Event, Scope, ToolCall};

use crate::Measured;

/// A hook in C: it subscribes to the event that it was compiled for, reads its payload and replies nothing.
const HOOK: &str = r#"
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
    static const char event[] = EVENT "\n";
    static char payload[65536];
    if (argc > 1 && strcmp(argv[1], "hook") == 0)
        return write(1, event, sizeof event - 1) < 0;
    while (read(0, payload, sizeof payload) > 0)
        ;
    return 0;
}
"#;

/// A temporary directory with a project and a home.
pub(crate) struct Scene {
    base: PathBuf,
    /// The layout of the project and the home.
    pub(crate) layout: ResourceLayout,
    /// Removed with the scene that created it.
    #[expect(dead_code, reason = "dropping it removes the directory")]
    scratch: Option<TempDir>,
}

impl Scene {
    /// Creates an empty project and an empty home in a temporary directory.
    pub(crate) fn new() -> Measured<Self> {
        let scratch = TempDir::with_prefix("tenter-bench-")?;
        let base = scratch.path().canonicalize()?;
        let scene = Self { scratch: Some(scratch), ..Self::there(&base) };
        directory(&scene.layout.project.join(".git"))?;
        directory(&scene.layout.project.join(".kodelet/hooks"))?;
        directory(&scene.layout.home)?;
        Ok(scene)
    }

    /// Returns a scene that another process created.
    pub(crate) fn there(base: &Path) -> Self {
        let layout =
            ResourceLayout::new(base.join("project"), base.join("home"), base.join("home/.config"));
        Self { base: base.to_owned(), layout, scratch: None }
    }

    /// Returns a path in the temporary directory.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.base.join(path)
    }

    /// Returns the path of the project's hook with this name.
    pub(crate) fn hook(&self, name: &str) -> PathBuf {
        self.layout.project.join(".kodelet/hooks").join(name)
    }

    /// Writes an executable hook.
    pub(crate) fn script(&self, name: &str, text: &str) -> Measured<PathBuf> {
        executable(&self.hook(name), text)
    }

    /// Compiles a hook for `event`, statically linked if possible.
    pub(crate) fn compile(&self, event: &str, at: &Path) -> Measured<()> {
        self.compile_source(HOOK, event, at)
    }

    /// Compiles a hook in C, in which `EVENT` is `event`.
    #[expect(clippy::disallowed_methods, reason = "a compiler needs no supervision")]
    pub(crate) fn compile_source(&self, text: &str, event: &str, at: &Path) -> Measured<()> {
        let source = self.at("hook.c");
        fs::write(&source, text)?;
        for option in [Some("-static"), None] {
            let mut cc = Command::new("cc");
            cc.args(option).args(["-O2", "-s", &format!("-DEVENT=\"{event}\""), "-o"]);
            if cc.arg(at).arg(&source).stderr(Stdio::null()).status()?.success() {
                return Ok(());
            }
        }
        Err("the C compiler `cc` cannot compile a hook".into())
    }

    /// Writes a manifest hook that matches file writes.
    pub(crate) fn manifest(&self, name: &str) -> Measured<()> {
        let directory = self.hook(name);
        let text = format!("---\n{}---\n# {name}\n", front_matter(name, 0));
        executable(&directory.join("scripts/run.sh"), "#!/bin/sh\ncat > /dev/null\n")?;
        Ok(fs::write(directory.join("HOOK.md"), text)?)
    }

    /// Adds `count` trusted hooks to the project: alternately an executable, which is a link to the same program, and a manifest
    /// hook.
    pub(crate) fn fill(&self, count: usize) -> Measured<()> {
        let program = self.at("program");
        self.compile("before_tool_call", &program)?;
        for index in 0..count {
            let name = format!("hook-{index:05}");
            if index % 2 == 0 {
                fs::hard_link(&program, self.hook(&name))?;
            } else {
                self.manifest(&name)?;
            }
        }
        self.trust_all()
    }

    /// Trusts every hook of the project.
    pub(crate) fn trust_all(&self) -> Measured<()> {
        let catalog = self.load(None)?;
        let entries: Vec<TrustEntry> = catalog.untrusted().iter().map(TrustEntry::from).collect();
        self.store().trust(&self.layout.project, &entries, "2024-01-15T10:30:00Z")?;
        Ok(())
    }

    fn store(&self) -> TrustStore {
        let file = self.layout.home.join(".local/state/tenter/trust.json");
        TrustStore::open(file).0
    }

    /// Returns the cache directory.
    pub(crate) fn cache(&self) -> PathBuf {
        self.layout.home.join(".cache/tenter")
    }

    /// Loads the catalog, which must have no diagnostics.
    pub(crate) fn load(&self, cache: Option<&Path>) -> Measured<Catalog> {
        let (catalog, findings) = self.builder(cache).load_catalog(&self.store());
        match findings.first() {
            Some(finding) => Err(finding.message.clone().into()),
            None => Ok(catalog),
        }
    }

    /// Returns an engine with these hooks and a journal, as an agent has it.
    pub(crate) fn engine(&self, catalog: Catalog) -> Engine {
        self.builder(None).journal(self.at("journal")).build(catalog)
    }

    fn builder(&self, cache: Option<&Path>) -> EngineBuilder {
        let mut directories = Directories::in_home(&self.layout.home);
        directories.cache = cache.map(Path::to_path_buf);
        Engine::builder(&self.layout.project)
            .environment(HookEnvironment::new(&environment(), &[]))
            .directories(directories)
            .clock(clock)
    }

    /// Returns a `before_tool` event for `bash`.
    pub(crate) fn tool_call(&self) -> Event {
        let input = [("command".to_owned(), "cargo test --workspace -- --nocapture".into())];
        let call = ToolCall {
            id: "call-1".to_owned(),
            name: "bash".to_owned(),
            input: input.into_iter().collect(),
        };
        let scope = Scope {
            conversation_id: "01a20060-e872-73af-9a25-ba7a128ce65f".to_owned(),
            cwd: self.layout.project.clone(),
            time: "2024-01-15T10:30:00Z".to_owned(),
            ..Scope::default()
        };
        Event { scope, body: Body::BeforeTool(call) }
    }
}

/// Returns the front matter of a manifest hook, with `notes` additional lines.
pub(crate) fn front_matter(name: &str, notes: usize) -> String {
    let mut text = format!(
        "name: {name}\ndescription: Keeps files that are generated from being written by hand.\ntrigger: before_tool\nmatcher:\n  tool: \"^(WriteFile|file_edit)$\"\n  pattern: \"generated/.*[.]rs\"\ntimeout: 5000\npriority: 200\n"
    );
    if notes > 0 {
        text.push_str("metadata:\n");
    }
    for note in 0..notes {
        let _ = writeln!(text, "  note-{note:04}: \"a note of the author, line {note}\"");
    }
    text
}

/// Returns the system clock.
#[expect(clippy::disallowed_methods, reason = "benches use the real clock")]
pub(crate) fn clock() -> Timestamp {
    Timestamp::now()
}

/// Returns the environment of hooks, with the `PATH` of this machine.
#[expect(clippy::disallowed_methods, reason = "benches use the machine's PATH")]
pub(crate) fn environment() -> Environment {
    let path = std::env::var_os("PATH").unwrap_or_default();
    vec![("PATH".into(), path), ("LANG".into(), OsString::from("C.UTF-8"))]
}

/// Creates a directory that only its owner can change.
pub(crate) fn directory(path: &Path) -> Measured<()> {
    Ok(DirBuilder::new().recursive(true).mode(0o755).create(path)?)
}

fn executable(path: &Path, text: &str) -> Measured<PathBuf> {
    directory(path.parent().ok_or("a hook is in a directory")?)?;
    fs::write(path, text)?;
    fs::set_permissions(path, Permissions::from_mode(0o755))?;
    Ok(path.to_owned())
}
