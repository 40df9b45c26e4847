//! Finds the script of a manifest hook, and how to start it (R15).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tenter_base::untrusted_file;

/// The possible names of a script in order of precedence, each with the interpreter for one that is not executable. `run` has no
/// extension, so it must be executable.
pub const SCRIPTS: [(&str, Option<&str>); 3] =
    [("scripts/run", None), ("scripts/run.sh", Some("bash")), ("scripts/run.py", Some("python3"))];

/// A manifest hook's script (R15).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPoint {
    /// The script.
    pub path: PathBuf,
    /// The program that runs it; none if it is executable.
    pub interpreter: Option<&'static str>,
}

/// The script of a manifest hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Script {
    /// A script that can be started.
    Entry(EntryPoint),
    /// A file that is not executable and has no known interpreter.
    NotExecutable(PathBuf),
    /// There is no script: the hook is valid and does nothing.
    Missing,
}

/// Returns the script of the hook in `directory`: the first that exists.
pub fn script(directory: &Path) -> Script {
    let entry = SCRIPTS.iter().find_map(|(name, interpreter)| {
        let path = directory.join(name);
        let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let is_executable = metadata.permissions().mode() & 0o111 != 0;
        Some(match *interpreter {
            // Scripts in the specification have no `#!` line: shells run them, the kernel does not.
            Some(interpreter) if !is_executable || names_no_interpreter(&path) => {
                Script::Entry(EntryPoint { path, interpreter: Some(interpreter) })
            }
            None if !is_executable => Script::NotExecutable(path),
            _ => Script::Entry(EntryPoint { path, interpreter: None }),
        })
    });
    entry.unwrap_or(Script::Missing)
}

/// Returns whether the file is text without a `#!` line. An unreadable file may still be executable.
pub fn names_no_interpreter(path: &Path) -> bool {
    untrusted_file::read_prefix(path, 256)
        .is_ok_and(|bytes| !bytes.starts_with(b"#!") && !bytes.contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_script_that_exists_is_used() {
        let scratch = tempfile::tempdir().unwrap();
        let hook = scratch.path();
        fs::create_dir(hook.join("scripts")).unwrap();
        assert_eq!(script(hook), Script::Missing);
        for (name, interpreter) in SCRIPTS.iter().rev() {
            let path = hook.join(name);
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            let expected = match interpreter {
                Some(interpreter) => {
                    Script::Entry(EntryPoint { path: path.clone(), interpreter: Some(interpreter) })
                }
                None => Script::NotExecutable(path.clone()),
            };
            assert_eq!(script(hook), expected);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            fs::write(&path, "#!/bin/sh\n").unwrap();
            assert_eq!(script(hook), Script::Entry(EntryPoint { path, interpreter: None }));
        }
    }

    #[test]
    fn text_without_an_interpreter_runs_with_the_default_one() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("scripts/run.sh");
        fs::create_dir(scratch.path().join("scripts")).unwrap();
        for (content, interpreter) in
            [(&b"echo no >&2\n"[..], Some("bash")), (b"#!/bin/sh\n", None), (b"\x7fELF\0", None)]
        {
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            let path = path.clone();
            assert_eq!(script(scratch.path()), Script::Entry(EntryPoint { path, interpreter }));
        }
    }
}
