//! A manifest hook's script: which of the possible files it is, and how it is started (R15).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tenter_base::untrusted_file;

use crate::hook::EntryPoint;

/// Every name that a script may have, in the order in which they are looked for, and what runs one that may not be executed
/// itself. `run` has no telling ending, so it must be executable.
pub const SCRIPTS: [(&str, Option<&str>); 3] =
    [("scripts/run", None), ("scripts/run.sh", Some("bash")), ("scripts/run.py", Some("python3"))];

/// What a manifest hook has to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Script {
    /// Something that can be started.
    Entry(EntryPoint),
    /// A file that may not be executed, and nothing tells what could run it.
    NotExecutable(PathBuf),
    /// Nothing: the hook is valid and fires nothing.
    Missing,
}

/// The script of the hook in `folder`: the first that exists.
pub fn script(folder: &Path) -> Script {
    let found = SCRIPTS.iter().find_map(|(name, interpreter)| {
        let path = folder.join(name);
        let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let is_executable = metadata.permissions().mode() & 0o111 != 0;
        Some(match *interpreter {
            // The specification's own scripts have no `#!` line, which no kernel runs and every shell does.
            Some(interpreter) if !is_executable || names_no_interpreter(&path) => {
                Script::Entry(EntryPoint { path, interpreter: Some(interpreter) })
            }
            None if !is_executable => Script::NotExecutable(path),
            _ => Script::Entry(EntryPoint { path, interpreter: None }),
        })
    });
    found.unwrap_or(Script::Missing)
}

/// Whether the file is text that does not begin with `#!`. One that cannot be read may be run all the same.
fn names_no_interpreter(path: &Path) -> bool {
    untrusted_file::read_prefix(path, 256)
        .is_ok_and(|bytes| !bytes.starts_with(b"#!") && !bytes.contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_script_that_exists_is_the_one() {
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
    fn text_that_names_no_interpreter_is_given_to_its_own() {
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
