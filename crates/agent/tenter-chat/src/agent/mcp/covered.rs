//! The fingerprint of a project's server: its settings, and the files of the project that its command can run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tenter_base::tree::{Tree, TreeRules};
use tenter_base::{FileStamp, hex, real_path, untrusted_file};
use tenter_commands::project::Project;
use tenter_engine::Fingerprint;
use tenter_engine::inspect::Environment;
use tenter_engine::trust::{Hasher, fingerprint_of_files};
use tenter_proc::{Cancel, Invocation, Limits, Streams};
use tenter_settings::ConfiguredServer;

use super::expansion::expand;
use super::place::{directory, inherited};
use super::reach::{Reach, ServerCommand};

/// Maximum size of a file that a command names, in bytes.
const MAX_FILE: u64 = 10 << 20;
/// Maximum number of all files.
const MAX_FILES: usize = 20_000;
/// Maximum size of all files, in bytes.
const MAX_BYTES: u64 = 256 << 20;
/// Maximum number of files that a question names.
const SHOWN: usize = 6;
/// Maximum length of git's list of files, in bytes.
const MAX_LIST: usize = 16 << 20;

/// All files of a directory except installed packages, caches, logs and version control.
const DIRECTORY: TreeRules = TreeRules {
    files: MAX_FILES,
    skip_broken: true,
    counts: |_, within, metadata| (metadata.is_file() || metadata.is_dir()) && counts(within),
};
/// The files that Python can import from a directory itself.
const MODULES: TreeRules = TreeRules {
    files: MAX_FILES,
    skip_broken: true,
    counts: |_, within, metadata| {
        let is_package = within.file_stem().is_some_and(|stem| stem == "__init__");
        match within.components().count() {
            1 => counts(within) && (metadata.is_dir() || (metadata.is_file() && is_module(within))),
            _ => metadata.is_file() && is_package && is_module(within),
        }
    },
};

fn counts(within: &Path) -> bool {
    let name = within.file_name().unwrap_or_default();
    let is_log = within.extension().is_some_and(|extension| extension == "log");
    !is_log && !["__pycache__", ".git", ".venv", "node_modules"].iter().any(|one| name == *one)
}

fn is_module(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| ["py", "pyc", "so"].iter().any(|one| extension == *one))
}

/// The settings and files that trust in a server covers.
#[derive(Clone)]
pub(super) struct ServerCoverage {
    settings: String,
    root: PathBuf,
    reach: Reach,
    /// The variables of git.
    variables: Environment,
}

/// Files by their paths in the project.
type Files = BTreeMap<PathBuf, FileStamp>;

impl ServerCoverage {
    /// Returns what trust in `server` covers, by its settings as they are.
    pub(super) fn new(project: &Project, server: &ConfiguredServer) -> Self {
        let settings = serde_json::to_string(&server.table).unwrap_or_default();
        Self {
            settings: format!("{}\n{settings}", server.name),
            root: project.root().to_owned(),
            reach: reach(project, server),
            variables: project.program_environment(),
        }
    }

    /// Returns the fingerprint of the present state.
    ///
    /// # Errors
    /// A file cannot be read, or there are too many.
    pub(super) fn fingerprint(&self) -> Result<Fingerprint, String> {
        let files: Vec<_> = self.files()?.into_iter().collect();
        let cancel = Cancel::new();
        let hasher = Hasher::new(MAX_BYTES, &cancel);
        let content = fingerprint_of_files(&self.root, &files, &hasher)
            .map_err(|error| format!("a file that it can run cannot be read: {error}"))?;
        let mut digest = Sha256::new();
        digest.update(Sha256::digest(&self.settings));
        digest.update(content.0.as_bytes());
        Ok(Fingerprint(hex(&digest.finalize())))
    }

    /// Describes what is covered, for the user.
    ///
    /// # Errors
    /// A file cannot be read, or there are too many.
    pub(super) fn description(&self) -> Result<String, String> {
        let files = self.files()?;
        if let Some(unknown) = &self.reach.unknown {
            let count = files.len();
            return Ok(format!(
                "all {count} files of the project, since {unknown:?} can run any of them: every change asks again"
            ));
        }
        let names: Vec<String> = files.keys().map(|name| name.display().to_string()).collect();
        let list = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
        Ok(match names.len() {
            0 => "only its settings: it names no file of the project".to_owned(),
            1..=SHOWN => list,
            count => format!("{count} files: {list}, …"),
        })
    }

    fn files(&self) -> Result<Files, String> {
        let mut files = Files::new();
        for path in &self.reach.mentions {
            self.add_file(path, &mut files)?;
        }
        for path in &self.reach.run {
            self.add_run(path, &mut files)?;
        }
        for directory in &self.reach.modules {
            self.add_directory(directory, &MODULES, &mut files)?;
        }
        if self.reach.unknown.is_some() {
            self.add_project(&mut files)?;
        }
        check_total(&files)?;
        Ok(files)
    }

    fn add_file(&self, path: &Path, files: &mut Files) -> Result<(), String> {
        let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
        if !metadata.is_file() {
            return Ok(());
        }
        if metadata.len() > MAX_FILE {
            let limit = MAX_FILE >> 20;
            return Err(format!("its file {} is larger than {limit} MiB", path.display()));
        }
        files.insert(self.within(path), FileStamp::new(&metadata));
        Ok(())
    }

    /// Adds what is run: a directory with everything in it, or a file with everything beside it (R72).
    fn add_run(&self, path: &Path, files: &mut Files) -> Result<(), String> {
        if path.is_dir() {
            return self.add_directory(path, &DIRECTORY, files);
        }
        self.add_file(path, files)?;
        let Some(real) = real_path(path).ok().filter(|real| is_script(real)) else {
            return Ok(());
        };
        let is_below = |parent: &&Path| parent.starts_with(&self.root) && *parent != self.root;
        for parent in [path, &real].into_iter().filter_map(Path::parent).filter(is_below) {
            self.add_directory(parent, &DIRECTORY, files)?;
        }
        Ok(())
    }

    fn add_directory(
        &self,
        directory: &Path,
        rules: &TreeRules,
        files: &mut Files,
    ) -> Result<(), String> {
        if !directory.is_dir() {
            return Ok(());
        }
        let tree = Tree::read(directory, rules)
            .map_err(|error| format!("{} cannot be covered: {error}", directory.display()))?;
        let within = self.within(directory);
        files.extend(tree.files.into_iter().map(|(name, stamp)| (within.join(name), stamp)));
        Ok(())
    }

    /// Adds the files of the project, without those that git ignores.
    fn add_project(&self, files: &mut Files) -> Result<(), String> {
        let Some(names) = self.files_of_git() else {
            return self.add_directory(&self.root, &DIRECTORY, files);
        };
        for name in names.iter().filter(|name| counts(name)) {
            let path = self.root.join(name);
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_file() => {
                    files.insert(name.clone(), FileStamp::new(&metadata));
                }
                // A repository within this one.
                Ok(metadata) if metadata.is_dir() => {
                    self.add_directory(&path, &DIRECTORY, files)?;
                }
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the files that git tracks or does not ignore; `None` without a repository.
    fn files_of_git(&self) -> Option<Vec<PathBuf>> {
        // Nothing that the repository configures is run.
        let args = [
            "-c",
            "core.fsmonitor=false",
            "-c",
            "safe.bareRepository=explicit",
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ];
        let invocation = Invocation {
            program: "git".into(),
            args: args.iter().map(Into::into).collect(),
            cwd: self.root.clone(),
            env: self.variables.clone(),
            stdin: Vec::new(),
            streams: Streams::Separate,
            limits: Limits {
                timeout: Duration::from_secs(30),
                keep: MAX_LIST,
                ..Limits::default()
            },
        };
        let output = tenter_proc::run(&invocation, &Cancel::new());
        if !output.end.is_success() {
            return None;
        }
        let names = output.stdout.text();
        let names: Vec<PathBuf> =
            names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect();
        (!names.is_empty()).then_some(names)
    }

    fn within(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_owned()
    }
}

/// Checks whether a file may load others of its directory: it exists, and is not a program of the system's own format.
fn is_script(path: &Path) -> bool {
    untrusted_file::read_prefix(path, 4).is_ok_and(|start| start != b"\x7fELF")
}

fn check_total(files: &Files) -> Result<(), String> {
    let bytes = files.values().map(|stamp| stamp.size()).fold(0, u64::saturating_add);
    if files.len() > MAX_FILES || bytes > MAX_BYTES {
        let limit = MAX_BYTES >> 20;
        return Err(format!(
            "it can run more than {MAX_FILES} files or {limit} MiB of the project"
        ));
    }
    Ok(())
}

/// Returns the files that the command of a server can run; none for a server behind HTTP.
fn reach(project: &Project, server: &ConfiguredServer) -> Reach {
    let table = &server.table;
    let mut variables = inherited(project, server);
    let expansion = |text: &String, variables: &Environment| {
        expand(text, variables).unwrap_or_else(|_| text.clone())
    };
    let words = table.command.iter().chain(&table.args);
    let words: Vec<String> = words.map(|word| expansion(word, &variables)).collect();
    if table.command.is_none() {
        return Reach::default();
    }
    let own_variables =
        table.env.iter().map(|(name, value)| (name.clone(), expansion(value, &variables)));
    let own_variables: Vec<(String, String)> = own_variables.collect();
    let cwd = directory(project, server, &variables);
    variables.retain(|(name, _)| own_variables.iter().all(|(one, _)| name != one.as_str()));
    variables.extend(own_variables.iter().map(|(name, value)| (name.into(), value.into())));
    Reach::new(&ServerCommand {
        words,
        own_variables,
        variables: &variables,
        cwd: cwd.unwrap_or_else(|_| project.root().to_owned()),
        project: project.root(),
        home: &project.env.home,
    })
}

#[cfg(test)]
mod tests;
