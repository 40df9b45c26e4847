//! The scratch directory: a project with its hooks, and a home of its own, so that the demo neither reads nor writes the user's
//! files.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tempfile::TempDir;
use tenter_engine::inspect::{Environment, is_model_key};
use tenter_terminal::{Env, Failure};

use super::hooks::{self, DemoHook, write_executable};

/// The project's scripts.
const SCRIPTS: [(&str, &str); 3] = [
    ("check.sh", include_str!("files/project/check.sh")),
    ("deploy.sh", include_str!("files/project/deploy.sh")),
    ("price.sh", include_str!("files/project/price.sh")),
];
/// The project's other files.
const FILES: [(&str, &str); 3] = [
    ("README.md", include_str!("files/project/README.md")),
    ("settings.env", include_str!("files/project/settings.env")),
    ("build/shop.tar", "yesterday's build\n"),
];
/// The model's script.
const SCRIPT: &str = include_str!("files/script.yaml");

/// The scratch directory.
pub(super) struct Scratch {
    directory: TempDir,
    root: PathBuf,
    /// The environment of the demo: the process's environment, with the home in the scratch directory.
    pub(super) env: Env,
    /// The hooks, in the order in which they run.
    pub(super) hooks: Vec<(&'static DemoHook, PathBuf)>,
}

impl Scratch {
    /// Creates the directory among temporary files, and fills it.
    pub(super) fn create(env: &Env) -> Result<Self, Failure> {
        let above = env.var("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        Self::create_in(env, &above).map_err(|error| {
            Failure::new(format!("cannot create a scratch project in {}: {error}", above.display()))
                .help("make room there, or set TMPDIR to another directory")
        })
    }

    fn create_in(env: &Env, above: &Path) -> io::Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("tenter-demo-")
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(above)?;
        let root = directory.path().canonicalize()?;
        let env = environment(env, &root);
        fs::create_dir_all(root.join("project/build"))?;
        fs::create_dir_all(&env.home)?;
        for (name, text) in FILES {
            fs::write(env.cwd.join(name), text)?;
        }
        for (name, text) in SCRIPTS {
            write_executable(&env.cwd.join(name), text)?;
        }
        fs::write(root.join("script.yaml"), SCRIPT)?;
        write_executable(&root.join("tenter"), &launcher(&env))?;
        let hooks = hooks::install(&env.cwd.join(".agents/hooks"))?;
        Ok(Self { directory, root, env, hooks })
    }

    /// Returns the directory.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the project.
    pub(super) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Returns the model's script.
    pub(super) fn script(&self) -> PathBuf {
        self.root.join("script.yaml")
    }

    /// Returns the file that the hook `40-audit` writes.
    pub(super) fn audit_log(&self) -> PathBuf {
        self.project().join("audit.jsonl")
    }

    /// Removes the directory unless it is kept.
    pub(super) fn close(self, keep: bool) -> Result<(), Failure> {
        if keep {
            let _the_root = self.directory.keep();
            return Ok(());
        }
        self.directory.close().map_err(|error| {
            Failure::new(format!("cannot remove {}: {error}", self.root.display()))
        })
    }
}

/// Returns the user's environment with another home: without configuration, state, hooks, Tenter's variables, and model keys.
fn environment(env: &Env, root: &Path) -> Env {
    let home = root.join("home");
    let mut vars: Environment =
        env.vars.iter().filter(|(name, _)| is_for_demo(name)).cloned().collect();
    vars.push(("HOME".into(), home.clone().into()));
    Env { vars, cwd: root.join("project"), home }
}

fn is_for_demo(name: &std::ffi::OsStr) -> bool {
    let name = name.to_string_lossy();
    let is_about_tenter =
        name == "HOME" || name.starts_with("TENTER_") || XDG.contains(&name.as_ref());
    !is_about_tenter && !is_model_key(&name)
}

/// Variables that would name directories outside of the home.
const XDG: [&str; 3] = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];

/// Returns a script that starts `tenter` as the demo does, for users who keep the directory.
fn launcher(env: &Env) -> String {
    format!(
        "#!/bin/sh\n# tenter in the demo's project with the demo's home: nothing outside this directory is changed.\n\
         unset {} TENTER_MODEL TENTER_TRUST TENTER_MAX_TURNS\n\
         export HOME={}\nexec {} --project {} \"$@\"\n",
        XDG.join(" "),
        quote(&env.home),
        quote(&Env::program()),
        quote(&env.cwd),
    )
}

/// Returns a path, quoted for a shell.
pub(super) fn quote(path: &Path) -> String {
    let path = path.to_string_lossy();
    if path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c)) {
        path.into_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}
