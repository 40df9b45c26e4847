//! Reads the content of a plugin from its source and checks it. Nothing is installed here.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use tenter_engine::layout::DIRECTORIES;
use tenter_proc::Cancel;
use tenter_protocol::Diagnostic;

use crate::content::{Content, TreeEntry};
use crate::fetch_error::FetchError;
use crate::git::Repository;
use crate::links;
use crate::rules::{
    self, FileKind, FoundFile, LARGEST_FILE, LARGEST_PLUGIN, MOST_FILES, is_paper, refused,
};
use crate::spec::Source;

/// The result of a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The content.
    pub content: Content,
    /// The commit; `None` for a plain directory.
    pub commit: Option<String>,
}

/// Fetches plugins.
#[derive(Debug, Clone, Copy)]
pub struct Fetcher<'a> {
    /// The user's environment, in which git finds its credentials.
    pub env: &'a [(OsString, OsString)],
    /// Cancels the fetch.
    pub cancel: &'a Cancel,
    /// Maximum duration of one git command.
    pub timeout: Duration,
}

impl Fetcher<'_> {
    /// Fetches from `source`. git uses `scratch`, an existing directory.
    ///
    /// # Errors
    /// The source cannot be read, or contains files that a plugin must not contain.
    pub fn fetch(
        &self,
        source: &Source,
        reference: Option<&str>,
        scratch: &Path,
    ) -> Result<Fetched, FetchError> {
        let (content, commit) = match source {
            Source::Path(path) if !is_repository(path) => {
                if reference.is_some() {
                    let problem = refused(
                        "plugin-no-repository",
                        "this directory is not a repository, so it has no branches, tags or commits",
                    );
                    return Err(problem.at(path).into());
                }
                (Content::read_directory(path)?, None)
            }
            _ => self
                .fetch_commit(source, reference, scratch)
                .map(|(content, commit)| (content, Some(commit)))?,
        };
        let findings = links::check(&content);
        if findings.is_empty() {
            Ok(Fetched { content, commit })
        } else {
            Err(FetchError::Refused(findings))
        }
    }

    /// Reads one file of a repository.
    ///
    /// # Errors
    /// The repository cannot be read, or has no file of this path with at most `most` bytes.
    pub fn fetch_file(
        &self,
        (source, reference): (&Source, Option<&str>),
        path: &str,
        most: usize,
        scratch: &Path,
    ) -> Result<Vec<u8>, FetchError> {
        let repository =
            Repository::make(scratch.join("repository"), self.env, self.cancel, self.timeout)?;
        let commit = repository.fetch(&source.as_text(), reference)?;
        let output = repository.list(&commit, &[], &[path])?.unwrap_or_default();
        let missing = || {
            let message =
                format!("{} has no file {path} of at most {most} bytes", source.as_text());
            refused("plugin-no-file", message)
        };
        let blob = blobs(&output).into_iter().next().ok_or_else(missing)?;
        let is_file = matches!(blob.file.kind, FileKind::File { .. });
        if !is_file || blob.file.size > most as u64 || blob.file.path != path.as_bytes() {
            return Err(missing().into());
        }
        let objects = repository.objects(&[&blob.name], most.saturating_add(128))?;
        let content = objects.and_then(|objects| contents(&[blob], &objects));
        match content.and_then(|content| content.0.into_values().next()) {
            Some(TreeEntry::File { bytes, .. }) => Ok(bytes),
            _ => Err(missing().into()),
        }
    }

    fn fetch_commit(
        &self,
        source: &Source,
        reference: Option<&str>,
        scratch: &Path,
    ) -> Result<(Content, String), FetchError> {
        let repository =
            Repository::make(scratch.join("repository"), self.env, self.cancel, self.timeout)?;
        let commit = repository.fetch(&source.as_text(), reference)?;
        let output = repository.list(&commit, &["-r"], &DIRECTORIES)?.ok_or_else(too_many)?;
        let papers = repository.list(&commit, &[], &[])?.ok_or_else(too_many)?;
        let mut blobs = blobs(&output);
        blobs.extend(blobs_of_papers(&papers));
        let files: Vec<FoundFile> = blobs.iter().map(|blob| blob.file.clone()).collect();
        let findings = rules::check(&files);
        if !findings.is_empty() {
            return Err(FetchError::Refused(findings));
        }
        let names: Vec<&str> = blobs.iter().map(|blob| blob.name.as_str()).collect();
        let heads = blobs.len() * 128;
        let most = usize::try_from(LARGEST_PLUGIN).unwrap_or(usize::MAX).saturating_add(heads);
        let objects = repository.objects(&names, most)?;
        let content = objects.and_then(|objects| contents(&blobs, &objects));
        let content = content.ok_or_else(|| {
            refused("plugin-git-failed", "git returned other files than it had listed")
        })?;
        Ok((content, commit))
    }
}

fn too_many() -> FetchError {
    refused("plugin-many-files", format!("the plugin contains more than {MOST_FILES} files")).into()
}

/// Returns true if a directory is a repository, bare or not.
fn is_repository(path: &Path) -> bool {
    let is_bare = ["HEAD", "objects", "refs"].iter().all(|part| path.join(part).exists());
    path.join(".git").exists() || is_bare
}

/// A file that a commit lists.
struct Blob {
    file: FoundFile,
    /// The object id.
    name: String,
}

/// Parses `mode type name size\tpath\0…`.
fn blobs(output: &[u8]) -> Vec<Blob> {
    output.split(|byte| *byte == 0).filter_map(blob).collect()
}

fn blob(line: &[u8]) -> Option<Blob> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let head = std::str::from_utf8(&line[..tab]).ok()?;
    let mut words = head.split_whitespace();
    let (mode, _, name, size) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let kind = match mode {
        "120000" => FileKind::Link,
        "160000" => FileKind::Submodule,
        "040000" => FileKind::Other,
        // Old tools wrote other bits for group and others; only the owner's count.
        mode => FileKind::File { executable: mode.ends_with("755") },
    };
    let file = FoundFile { path: line[tab + 1..].to_vec(), kind, size: size.parse().unwrap_or(0) };
    Some(Blob { file, name: name.to_owned() })
}

fn blobs_of_papers(output: &[u8]) -> impl Iterator<Item = Blob> {
    let is_paper =
        |blob: &Blob| matches!(blob.file.kind, FileKind::File { .. }) && is_paper(&blob.file.path);
    blobs(output).into_iter().filter(is_paper)
}

/// Parses `name type size\nbytes\n…`; `None` if that does not match `blobs`.
fn contents(blobs: &[Blob], mut objects: &[u8]) -> Option<Content> {
    let mut entries = BTreeMap::new();
    for Blob { file, name } in blobs {
        let size = usize::try_from(file.size).ok()?;
        let head = format!("{name} blob {size}\n");
        let rest = objects.strip_prefix(head.as_bytes())?;
        let (bytes, rest) = rest.split_at_checked(size)?;
        objects = rest.strip_prefix(b"\n")?;
        let path = String::from_utf8(file.path.clone()).ok()?;
        entries.insert(path, entry(file.kind, bytes.to_vec())?);
    }
    Some(Content(entries))
}

fn entry(kind: FileKind, bytes: Vec<u8>) -> Option<TreeEntry> {
    match kind {
        FileKind::File { executable } => Some(TreeEntry::File { bytes, executable }),
        // A target that is not UTF-8 leads to no file of the plugin.
        FileKind::Link => {
            Some(TreeEntry::Link { target: String::from_utf8_lossy(&bytes).into_owned() })
        }
        FileKind::Submodule | FileKind::Other => None,
    }
}

impl Content {
    /// Reads the content of a plain directory.
    fn read_directory(directory: &Path) -> Result<Self, FetchError> {
        let unreadable = |error: io::Error| {
            refused("plugin-unreadable", format!("this cannot be read: {error}")).at(directory)
        };
        let mut files = Vec::new();
        let output = list_top(directory, &mut files);
        output.map_err(unreadable)?;
        let findings = rules::check(&files);
        if !findings.is_empty() {
            return Err(FetchError::Refused(findings));
        }
        let (content, findings) = read(directory, &files);
        if findings.is_empty() { Ok(content) } else { Err(FetchError::Refused(findings)) }
    }

    /// Reads everything in the directory of an installed plugin; the diagnostics name what could not be read.
    pub fn read_installed(directory: &Path) -> (Self, Vec<Diagnostic>) {
        let mut files = Vec::new();
        let output = list(directory, &mut Vec::new(), &mut files);
        let (content, mut findings) = read(directory, &files);
        findings.extend(output.err().map(|error| {
            refused("plugin-unreadable", format!("this cannot be read: {error}")).at(directory)
        }));
        (content, findings)
    }
}

fn list_top(directory: &Path, files: &mut Vec<FoundFile>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let is_directory = DIRECTORIES.iter().any(|directory| name == *directory);
        if is_directory || is_paper(name.as_bytes()) {
            list_entry(directory, &mut name.as_bytes().to_vec(), files)?;
        }
    }
    Ok(())
}

/// Lists the directory at `path` in `base` without following symlinks.
fn list(base: &Path, path: &mut Vec<u8>, files: &mut Vec<FoundFile>) -> io::Result<()> {
    let here = base.join(std::ffi::OsStr::from_bytes(path));
    for entry in fs::read_dir(here)? {
        let name = entry?.file_name();
        let length = path.len();
        if length > 0 {
            path.push(b'/');
        }
        path.extend(name.as_bytes());
        list_entry(base, path, files)?;
        path.truncate(length);
    }
    Ok(())
}

fn list_entry(base: &Path, path: &mut Vec<u8>, files: &mut Vec<FoundFile>) -> io::Result<()> {
    let metadata = fs::symlink_metadata(base.join(std::ffi::OsStr::from_bytes(path)))?;
    // One more than the limit, so that `rules::check` reports it.
    if files.len() > MOST_FILES {
        return Ok(());
    }
    let kind = if metadata.is_dir() {
        return list(base, path, files);
    } else if metadata.is_symlink() {
        FileKind::Link
    } else if metadata.is_file() {
        FileKind::File { executable: metadata.permissions().mode() & 0o111 != 0 }
    } else {
        FileKind::Other
    };
    files.push(FoundFile { path: path.clone(), kind, size: metadata.len() });
    Ok(())
}

/// Reads the listed files.
fn read(base: &Path, files: &[FoundFile]) -> (Content, Vec<Diagnostic>) {
    let mut content = Content::default();
    let mut findings = Vec::new();
    for one in files {
        match read_one(base, one) {
            Ok((path, entry)) => {
                content.0.insert(path, entry);
            }
            Err(error) => {
                let problem = refused("plugin-unreadable", format!("this cannot be read: {error}"));
                findings.push(problem.at(base.join(rules::shown(&one.path))));
            }
        }
    }
    (content, findings)
}

fn read_one(base: &Path, file: &FoundFile) -> io::Result<(String, TreeEntry)> {
    let path = base.join(std::ffi::OsStr::from_bytes(&file.path));
    let bytes = match file.kind {
        FileKind::Link => fs::read_link(&path)?.as_os_str().as_bytes().to_vec(),
        FileKind::File { .. } if file.size > LARGEST_FILE => {
            return Err(io::Error::other("it is too large for a plugin"));
        }
        FileKind::File { .. } => fs::read(&path)?,
        FileKind::Submodule | FileKind::Other => Vec::new(),
    };
    let entry = entry(file.kind, bytes)
        .ok_or_else(|| io::Error::other("it is neither a file nor a symlink"))?;
    let name = String::from_utf8(file.path.clone())
        .map_err(|_| io::Error::other("its name is not UTF-8"))?;
    Ok((name, entry))
}
