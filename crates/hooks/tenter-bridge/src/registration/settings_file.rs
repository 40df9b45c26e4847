//! A host's settings file: read within limits, and replaced only if no other program changed it meanwhile.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tenter_base::{real_path, replace_file, untrusted_file};
use tenter_protocol::{Diagnostic, Severity};

const OWNER_WRITES: u32 = 0o200;

/// A settings file as it was read.
#[derive(Debug, Clone)]
pub(super) struct SettingsFile {
    /// The path, perhaps of a symlink.
    path: PathBuf,
    /// The path without symlinks.
    real: PathBuf,
    /// The content; `None` if the file does not exist.
    text: Option<String>,
    /// The mode of the file if it is created; `None` for the mode of other new files.
    mode: Option<u32>,
}

impl SettingsFile {
    /// Reads the file at `path`, which need not exist.
    ///
    /// # Errors
    /// The file cannot be read, is not a regular file, is larger than 1 MiB, or is not UTF-8.
    pub(super) fn read(path: &Path) -> Result<Self, Diagnostic> {
        let unreadable = |error| problem(path, "cannot read the file", &error);
        let real = real_path(path).map_err(unreadable)?;
        let text = read(&real).map_err(unreadable)?;
        Ok(Self { path: path.to_owned(), real, text, mode: None })
    }

    /// Sets the mode of the file if it is created.
    pub(super) fn with_mode(self, mode: u32) -> Self {
        Self { mode: Some(mode), ..self }
    }

    /// Returns the path, perhaps of a symlink.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the content; `None` if the file does not exist.
    pub(super) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Replaces the content, or removes the file, through symlinks. Mode, owner and group stay.
    ///
    /// # Errors
    /// The file cannot be written, or it changed since it was read. The old content is kept.
    pub(super) fn replace(&self, after: Option<&str>) -> Result<(), Diagnostic> {
        let unwritable = |error| problem(&self.path, "cannot write the file", &error);
        if read(&self.real).map_err(unwritable)? != self.text {
            let message = "the file was changed by another program meanwhile";
            return Err(Diagnostic::new("registration-file", Severity::Error, message)
                .at(&self.path)
                .help("run the command again"));
        }
        match (fs::metadata(&self.real), after) {
            (Ok(metadata), _) if metadata.mode() & OWNER_WRITES == 0 => {
                let message = "the file is read-only";
                Err(Diagnostic::new("registration-file", Severity::Error, message)
                    .at(&self.path)
                    .help(format!(
                        "run `chmod u+w {}`, and run the command again",
                        self.path.display()
                    )))
            }
            (Ok(metadata), Some(text)) => self.write(text, Some(&metadata)).map_err(unwritable),
            (Err(_), Some(text)) => self.write(text, None).map_err(unwritable),
            (Ok(_), None) => fs::remove_file(&self.real).map_err(unwritable),
            (Err(_), None) => Ok(()),
        }
    }

    fn write(&self, text: &str, metadata: Option<&Metadata>) -> io::Result<()> {
        if let Some(metadata) = metadata {
            return replace_file::replace_keeping(&self.real, text.as_bytes(), metadata);
        }
        self.real.parent().map_or(Ok(()), fs::create_dir_all)?;
        replace_file::replace_with_mode(&self.real, text.as_bytes(), self.mode).map(drop)
    }
}

fn read(path: &Path) -> io::Result<Option<String>> {
    match untrusted_file::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

fn problem(path: &Path, what: &str, error: &io::Error) -> Diagnostic {
    let message = format!("{what}: {error}");
    Diagnostic::new("registration-file", Severity::Error, message).at(path)
}
