//! What a hook is made of: SHA-256 over the content of its file, links followed.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use crate::hook::Fingerprint;
use crate::stamp::FileStamp;

/// The fingerprint of the file at `path`, and what the file looked like before and after it was read.
///
/// # Errors
/// The file cannot be read, is not a regular file, or was changed or replaced while it was read.
pub fn fingerprint(path: &Path) -> io::Result<(Fingerprint, FileStamp)> {
    // Opening a named pipe would otherwise wait for somebody to write to it.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let before = file.metadata()?;
    if !before.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let fingerprint = hash(&mut file)?;
    let stamp = FileStamp::new(&before);
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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

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
            assert_eq!(stamp, FileStamp::new(&fs::metadata(&path).unwrap()));
        }
    }

    #[test]
    fn what_is_not_a_file_is_refused_without_waiting_for_it() {
        let scratch = tempfile::tempdir().unwrap();
        let pipe = scratch.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o755.into(), 0)
            .unwrap();
        assert!(fingerprint(&pipe).is_err());
        assert!(fingerprint(scratch.path()).is_err());
    }
}
