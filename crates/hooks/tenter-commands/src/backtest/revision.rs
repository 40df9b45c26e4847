//! The hooks of a git revision.

use std::path::Path;
use std::{fs, io};

use tenter_engine::layout::{DirectoryNames, HOOKS};
use tenter_proc::Cancel;
use tenter_terminal::Failure;

use crate::git::Git;
use crate::project::Project;

/// Maximum number of files that are read of a revision.
const MAX_FILES: usize = 2000;
/// The files that decide without a process.
const FILES: [&str; 2] = ["HOOK.md", "hooks.toml"];

/// The manifests of a revision: the path below the directory of hooks, and the text.
pub(super) struct RevisionHooks(Vec<(String, String)>);

impl RevisionHooks {
    /// Reads the hooks of `REVISION`, in the project's directories of hooks, or of `REVISION:DIR`.
    pub(super) fn read(project: &Project<'_>, text: &str) -> Result<Self, Failure> {
        let (revision, directory) = match text.split_once(':') {
            Some((revision, directory)) => (revision, Some(directory)),
            None => (text, None),
        };
        if revision.is_empty() || revision.starts_with('-') {
            return Err(no_hooks(text));
        }
        let (cancel, vars) = (Cancel::new(), project.program_environment());
        let git = Git { directory: project.root(), vars: &vars, cancel: &cancel };
        let usual = || {
            let names = DirectoryNames::default().resources.into_iter();
            names.map(|name| format!("{name}/{}", HOOKS.directory)).collect()
        };
        let one = directory.map(|directory| vec![directory.trim_end_matches('/').to_owned()]);
        let directories: Vec<String> = one.unwrap_or_else(usual);
        let mut files = Vec::new();
        if !git.holds(&["rev-parse", "--quiet", "--verify", &format!("{revision}^{{tree}}")]) {
            return Err(no_hooks(text));
        }
        for directory in &directories {
            files.extend(read_directory(&git, revision, directory)?);
        }
        if files.is_empty() { Err(no_hooks(text)) } else { Ok(Self(files)) }
    }

    /// Writes the files into a directory of hooks.
    pub(super) fn write(&self, hooks: &Path) -> io::Result<()> {
        fs::create_dir_all(hooks)?;
        for (path, text) in &self.0 {
            let file = hooks.join(path);
            file.parent().map_or(Ok(()), fs::create_dir_all)?;
            if !file.exists() {
                fs::write(file, text)?;
            }
        }
        Ok(())
    }
}

fn read_directory(
    git: &Git<'_>,
    revision: &str,
    directory: &str,
) -> Result<Vec<(String, String)>, Failure> {
    let listing = git.ask(&["ls-tree", "-r", "-z", "--name-only", revision, "--", directory])?;
    let names = listing.split('\0').filter(|name| {
        let file = name.rsplit('/').next().unwrap_or_default();
        FILES.contains(&file) && !name.split('/').any(|part| part == "..")
    });
    let read = |name: &str| {
        let path = name.strip_prefix(directory).unwrap_or(name).trim_start_matches('/');
        let text = git.ask(&["show", &format!("{revision}:./{name}")])?;
        Ok((path.to_owned(), format!("{text}\n")))
    };
    names.take(MAX_FILES).map(read).collect()
}

fn no_hooks(text: &str) -> Failure {
    let failure =
        Failure::usage(format!("{text:?} is neither a directory nor a revision with hooks"));
    failure.help(
        "name a directory, `installed`, or a git revision such as HEAD~1 or main:.agents/hooks",
    )
}
