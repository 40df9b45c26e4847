//! The scratch home and project of a scenario. A client sees nothing else of the user but `PATH`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use serde_json::Value;
use tenter_base::untrusted_file;
use tenter_bridge::Host;
use tenter_bridge::host::HostVersion;
use tenter_bridge::import::MANIFEST;
use tenter_bridge::registration::{self, Options, PROGRAM, RegistrationScope, Registry};
use tenter_engine::ManagedDirectory;
use tenter_engine::journal::{self, Record};
use tenter_protocol::{Diagnostic, Severity};

use crate::client::Client;
use crate::hook_file::{HookFile, quote, write_program};
use crate::other_program::{self, EntryPosition};
use crate::{machine, mcp_server};

/// The files of a git repository without commits. Git itself need not be installed.
const REPOSITORY: [(&str, &str); 2] =
    [("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n\trepositoryformatversion = 0\n")];

/// Environment variables that every client gets, besides its directories and `PATH`.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("LANG", "C.UTF-8"),
    ("LOGNAME", "tenter"),
    ("NO_COLOR", "1"),
    ("SHELL", "/bin/sh"),
    ("TERM", "dumb"),
    ("USER", "tenter"),
];

/// The user's hooks directory.
const HOOKS: &str = ".config/agents/hooks";

/// The timeout of an impatient registration: longer than the fastest hooks need on a slow machine.
const TIMEOUT: Duration = Duration::from_secs(6);

/// Maximum number of payloads that are read.
const MAX_PAYLOADS: usize = 5000;

/// The registration of hooks in a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Registered {
    /// For the user.
    ForUser,
    /// For the user and for the project.
    Twice,
    /// For the user, after and before an entry of another program.
    AmongOthers,
    /// For the user, with a short timeout, so that it need not be waited for.
    Impatiently,
    /// For all users of the machine.
    Managed,
    /// For the user, with the program that runs confined commands.
    Confining,
    /// For the user, but the program is missing.
    WithoutProgram {
        /// Set if the agent is to block then.
        fail_closed: bool,
    },
}

/// The program that is registered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program<'p> {
    /// The path of `tenter-hook`.
    pub(crate) path: &'p Path,
    /// The version of the agent; `None` if it is unknown.
    pub(crate) version: Option<HostVersion>,
    /// The time, in RFC 3339.
    pub(crate) now: &'p str,
}

/// A scratch home and project.
#[derive(Debug)]
pub(crate) struct Sandbox {
    root: PathBuf,
}

impl Sandbox {
    /// Creates a sandbox in the directory `root`, which must not exist.
    pub(crate) fn create(root: &Path) -> io::Result<Self> {
        fs::create_dir(root)?;
        let sandbox = Self { root: root.canonicalize()? };
        for directory in ["home", "project/.git/objects", "project/.git/refs", "seen", "tmp"] {
            fs::create_dir_all(sandbox.root.join(directory))?;
        }
        for (name, text) in REPOSITORY {
            fs::write(sandbox.project().join(".git").join(name), text)?;
        }
        fs::write(sandbox.project().join("README.md"), "A scratch project.\n")?;
        Ok(sandbox)
    }

    /// Returns the directory around home and project.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Returns the directory into which the observer writes payloads.
    pub(crate) fn payload_directory(&self) -> PathBuf {
        self.root.join("seen")
    }

    /// Returns the file with the output of the client's process of this number.
    pub(crate) fn log(&self, process: usize) -> PathBuf {
        self.root.join(format!("output-{process}.txt"))
    }

    /// Writes the requests to the model, one line each, for a user who keeps the files.
    pub(crate) fn write_requests<'b>(
        &self,
        bodies: impl Iterator<Item = &'b Value>,
    ) -> io::Result<()> {
        let lines: Vec<String> = bodies.map(|body| format!("{body}\n")).collect();
        fs::write(self.root.join("requests.jsonl"), lines.concat())
    }

    /// Returns a file by whose existence a hook can remember something.
    pub(crate) fn flag(&self, name: &str) -> PathBuf {
        self.root.join(format!("flag-{name}"))
    }

    /// Writes hooks to the user's hooks directory: no project's trust is needed.
    pub(crate) fn write_hooks(&self, hooks: &[HookFile]) -> io::Result<()> {
        let directory = self.home().join(HOOKS);
        hooks.iter().try_for_each(|hook| hook.write(&directory))
    }

    /// Copies the manifests of hooks to the user's hooks directory, and nothing else of the hooks.
    pub(crate) fn copy_manifests(&self, hooks: &BTreeMap<&str, &Path>) -> io::Result<()> {
        hooks.iter().try_for_each(|(name, from)| {
            let directory = self.home().join(HOOKS).join(name);
            fs::create_dir_all(&directory)?;
            fs::copy(from.join(MANIFEST), directory.join(MANIFEST)).map(drop)
        })
    }

    /// Returns the whole environment of a client: nothing is inherited but `path`.
    pub(crate) fn environment(
        &self,
        path: &OsStr,
        client: Vec<(&'static str, String)>,
    ) -> Vec<(OsString, OsString)> {
        let directories = [("HOME", self.home()), ("TMPDIR", self.root.join("tmp"))];
        let directories =
            directories.into_iter().map(|(name, path)| (name.into(), path.into_os_string()));
        let texts = ENVIRONMENT.map(|(name, value)| (name, value.to_owned())).into_iter();
        let texts = texts.chain(client).map(|(name, value)| (name.into(), value.into()));
        directories.chain([("PATH".into(), path.to_owned())]).chain(texts).collect()
    }

    /// Registers the hooks with an agent as `tenter bridge install` does.
    pub(crate) fn register(
        &self,
        (host, client): (&'static Host, &Client),
        registered: Registered,
        program: Program,
        environment: &[(OsString, OsString)],
    ) -> Result<(), Diagnostic> {
        let registry = Registry::in_home(self.home()).with_variables(environment);
        let timeout = (registered == Registered::Impatiently).then_some(TIMEOUT);
        let install = |scope, fail_closed, path: &Path| -> Result<(), Diagnostic> {
            let target = registry.target(host, scope, &self.project());
            let Some(target) = target else { return Ok(()) };
            let confine = registered == Registered::Confining;
            let options = Options { fail_closed, confine, version: program.version, timeout };
            let plan = registry.plan_install(&target, options)?;
            registry.install(&plan, path, program.now)
        };
        match registered {
            Registered::ForUser | Registered::Impatiently | Registered::Confining => {
                install(RegistrationScope::User, false, program.path)
            }
            Registered::AmongOthers => {
                let Some(target) = registry.target(host, RegistrationScope::User, &self.project())
                else {
                    return Ok(());
                };
                let other = |place| {
                    let paths = (self.programs(), self.project());
                    let paths = (paths.0.as_path(), paths.1.as_path());
                    let result =
                        other_program::register((host, client), &target.file, place, paths);
                    result.map_err(|error| failed(&error))
                };
                other(EntryPosition::Before)?;
                install(RegistrationScope::User, false, program.path)?;
                other(EntryPosition::After)
            }
            Registered::WithoutProgram { fail_closed } => {
                install(RegistrationScope::User, fail_closed, program.path)?;
                let copy = registration::program_path(&self.home());
                fs::remove_file(&copy).map_err(|error| failed(&error).at(copy))
            }
            Registered::Managed => self.register_managed(host, program.path),
            Registered::Twice => {
                install(RegistrationScope::User, false, program.path)?;
                if host.registration.personal_file.is_some() {
                    return install(RegistrationScope::Personal, false, program.path);
                }
                let wrapper = self.wrapper(program.path).map_err(|error| failed(&error))?;
                install(RegistrationScope::Shared, false, &wrapper)
            }
        }
    }

    /// Registers the hooks for all users, in a copy of the machine's settings.
    fn register_managed(&self, host: &'static Host, program: &Path) -> Result<(), Diagnostic> {
        let Some(file) = registration::managed_file(host, &ManagedDirectory::default()) else {
            return Ok(());
        };
        let wrapper = self.wrapper(program).map_err(|error| failed(&error))?;
        machine::hide_settings_around(&file).map_err(|error| failed(&error))?;
        registration::write_managed(host, &file, &wrapper)
    }

    /// Writes a program like `program` for a registration that would use the home directory of the account.
    fn wrapper(&self, program: &Path) -> io::Result<PathBuf> {
        let wrapper = self.programs().join(PROGRAM);
        let (program, home) = (quote(program), quote(&self.home()));
        write_program(&wrapper, &format!("exec {program} \"$@\" --home {home}\n"))?;
        Ok(wrapper)
    }

    /// Writes the program of an MCP server.
    pub(crate) fn mcp_server(&self) -> io::Result<PathBuf> {
        let program = self.programs().join("mcp-server");
        write_program(&program, &mcp_server::script(&self.project()))?;
        Ok(program)
    }

    fn programs(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// Returns the payloads that the observer wrote, in the order of their events.
    pub(crate) fn payloads(&self) -> Vec<Value> {
        let entries = fs::read_dir(self.payload_directory()).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries
            .take(MAX_PAYLOADS)
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort();
        let texts = files.iter().filter_map(|(_, path)| untrusted_file::read_to_string(path).ok());
        texts.filter_map(|text| serde_json::from_str(&text).ok()).collect()
    }

    /// Returns the runs of hooks in Tenter's journal.
    pub(crate) fn journal(&self) -> Vec<Record> {
        let directory = self.home().join(".local/state/tenter/journal");
        let conversations = journal::conversations(&directory).unwrap_or_default();
        let read = |conversation: &String| journal::read(&directory, conversation).ok();
        let lines = conversations.iter().filter_map(read).flat_map(|journal| journal.lines);
        lines.map(|line| line.record).collect()
    }
}

fn failed(error: &io::Error) -> Diagnostic {
    Diagnostic::new("sandbox", Severity::Error, error.to_string())
}

/// Writes the settings of a client.
pub(crate) fn write_files(files: &[(PathBuf, String)]) -> io::Result<()> {
    files.iter().try_for_each(|(path, text)| {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)
    })
}

/// Returns the names of the files in a directory.
pub(crate) fn names_in(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}
