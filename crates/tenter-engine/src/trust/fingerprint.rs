//! What a hook is made of: SHA-256 over the content of its file, or over everything in its folder, links followed. And what
//! a recipe is made of.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::hex::hex;
use crate::hook::Fingerprint;
use crate::regular_file;
use crate::stamp::{FileStamp, HookStamp};

/// Bytes of all files in a hook's folder at most.
const LARGEST_FOLDER: u64 = 100 << 20;
/// Bytes of a file at most: to read more would hold up every start, and a file of a few blocks can claim any size.
const LARGEST_FILE: u64 = 1 << 30;

/// The fingerprint of the hook at `path`, a file or a folder, and its stamp.
///
/// # Errors
/// It cannot be read, or was changed while it was read; a folder also where it holds more than a hook should.
pub fn fingerprint(path: &Path) -> io::Result<(Fingerprint, HookStamp)> {
    match HookStamp::of(path)? {
        HookStamp::File(_) => of_file(path).map(|(taken, stamp)| (taken, HookStamp::File(stamp))),
        HookStamp::Folder(files) => of_folder(path, files),
    }
}

/// The fingerprint of a recipe's bytes. It is no hook's, so that whoever trusts a text has not trusted it as a program.
pub fn fingerprint_of_recipe(bytes: &[u8]) -> Fingerprint {
    Fingerprint(hex(&Sha256::new().chain_update(b"recipe\0").chain_update(bytes).finalize()))
}

/// Covers each file's path, whether it may be executed, and its content: everything that decides what would run (R45).
fn of_folder(
    path: &Path,
    files: Vec<(PathBuf, FileStamp)>,
) -> io::Result<(Fingerprint, HookStamp)> {
    if files.iter().map(|(_, stamp)| stamp.size()).sum::<u64>() > LARGEST_FOLDER {
        return Err(io::Error::other("it is no folder for a hook: more than 100 MiB"));
    }
    let mut hasher = Sha256::new();
    for (name, stamp) in &files {
        let (content, _) = of_file(&path.join(name))?;
        let name = name.as_os_str().as_encoded_bytes();
        hasher.update((name.len() as u64).to_le_bytes());
        hasher.update(name);
        hasher.update([u8::from(stamp.is_executable())]);
        hasher.update(content.0.as_bytes());
    }
    let stamp = HookStamp::Folder(files);
    if HookStamp::of(path)? != stamp {
        return Err(io::Error::other("it was changed while it was read"));
    }
    Ok((Fingerprint(hex(&hasher.finalize())), stamp))
}

/// The fingerprint of the file at `path`, and what the file looked like before and after it was read.
///
/// # Errors
/// The file cannot be read, is not a regular file, or was changed or replaced while it was read.
fn of_file(path: &Path) -> io::Result<(Fingerprint, FileStamp)> {
    let mut file = regular_file::open(path)?;
    let stamp = FileStamp::new(&file.metadata()?);
    if stamp.size() > LARGEST_FILE {
        return Err(io::Error::other("it is no hook: more than 1 GiB"));
    }
    let fingerprint = hash(&mut file)?;
    if FileStamp::new(&fs::metadata(path)?) != stamp {
        return Err(io::Error::other("it was changed while it was read"));
    }
    Ok((fingerprint, stamp))
}

fn hash(file: &mut File) -> io::Result<Fingerprint> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(Fingerprint(hex(&hasher.finalize()))),
            Ok(count) => hasher.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn it_is_the_sha_256_of_the_content_whatever_the_name() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("hook");
        fs::write(&path, "abc").unwrap();
        symlink("hook", scratch.path().join("link")).unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        for name in ["hook", "link"] {
            let (fingerprint, stamp) = fingerprint(&scratch.path().join(name)).unwrap();
            assert_eq!(fingerprint.0, expected);
            assert_eq!(stamp, HookStamp::File(FileStamp::new(&fs::metadata(&path).unwrap())));
        }
    }

    #[test]
    fn a_recipe_that_is_trusted_is_not_trusted_as_a_hook() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("both");
        let text = "#!/bin/sh\n# {{bash \"git\" \"diff\"}}\n";
        fs::write(&path, text).unwrap();
        let of_recipe = fingerprint_of_recipe(text.as_bytes());
        assert_ne!(of_recipe, fingerprint(&path).unwrap().0);
        assert_ne!(of_recipe, fingerprint_of_recipe(b"another"));
    }

    #[test]
    fn what_is_not_a_file_is_refused_without_waiting_for_it() {
        let scratch = tempfile::tempdir().unwrap();
        let pipe = scratch.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o755.into(), 0)
            .unwrap();
        assert!(fingerprint(&pipe).is_err());
        assert!(fingerprint(scratch.path()).is_err(), "a folder that holds a pipe");
    }

    #[test]
    fn a_file_that_is_too_large_for_a_hook_is_not_read() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("hook");
        // It has no blocks, and would be read as zeros for days.
        File::create(&path).unwrap().set_len(1 << 43).unwrap();
        let why = fingerprint(&path).unwrap_err().to_string();
        assert!(why.contains("more than 1 GiB"), "{why}");
    }

    #[test]
    fn every_file_of_a_folder_counts_with_its_name_its_mode_and_its_content() {
        let scratch = tempfile::tempdir().unwrap();
        let hook = scratch.path();
        let taken = || fingerprint(hook).unwrap().0;
        let mut seen = vec![taken()];
        let mut changed = |what: &str| {
            let now = taken();
            assert!(!seen.contains(&now), "{what} goes unnoticed");
            seen.push(now);
        };
        fs::write(hook.join("HOOK.md"), "a").unwrap();
        changed("a new file");
        fs::write(hook.join("HOOK.md"), "b").unwrap();
        changed("another content");
        fs::rename(hook.join("HOOK.md"), hook.join("hook.md")).unwrap();
        changed("another name");
        fs::set_permissions(hook.join("hook.md"), fs::Permissions::from_mode(0o755)).unwrap();
        changed("another mode");
        fs::create_dir(hook.join("lib")).unwrap();
        fs::write(hook.join("lib/helper.py"), "").unwrap();
        changed("a helper in a folder");
    }
}
