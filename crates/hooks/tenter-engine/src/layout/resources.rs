//! Finds resources that are files with a name: skills and recipes.
//!
//! Nothing outside of a resource directory is read: names and symlinks that lead elsewhere are rejected.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use tenter_base::untrusted_file;
use tenter_protocol::{Diagnostic, Severity};

use super::{ResourceForm, ResourceKind, ResourceLayout, ResourceName, Root};
use crate::layer::Layer;

/// Maximum depth of subdirectories.
const MAX_DEPTH: usize = 16;

/// The directories of one kind, in order of precedence.
#[derive(Debug, Clone)]
pub struct Resources {
    kind: &'static ResourceKind,
    directories: Vec<ResourceDir>,
    diagnostics: Vec<Diagnostic>,
}

/// A directory that exists, with its real path.
#[derive(Debug, Clone)]
pub struct ResourceDir {
    /// The directory that it was found in.
    pub root: Root,
    real: PathBuf,
}

/// The file of a resource.
#[derive(Debug, Clone)]
pub struct ResourceFile<'r> {
    /// The name of the resource; `org/repo/name` for a plugin's.
    pub name: String,
    /// The path of the file.
    pub path: PathBuf,
    kind: &'static ResourceKind,
    directory: &'r ResourceDir,
}

impl ResourceLayout {
    /// Finds the directories of `kind`. `extra` directories have precedence over plugins.
    pub fn resources(&self, kind: &'static ResourceKind, extra: Vec<Root>) -> Resources {
        let (roots, diagnostics) = self.roots_with(kind, extra);
        let mut resources = Resources { kind, directories: Vec::new(), diagnostics };
        for root in roots {
            resources.open(root);
        }
        resources
    }
}

impl Resources {
    /// Creates a layout of only the directory `path`, as a project's plugin has it that is not installed.
    pub fn from_dir(kind: &'static ResourceKind, path: &Path) -> Self {
        let mut resources = Self { kind, directories: Vec::new(), diagnostics: Vec::new() };
        let root = Root::new(Layer::ProjectPlugin, path);
        resources.open(Root { within: path.parent().map(Path::to_owned), ..root });
        resources
    }

    /// Returns the diagnostics of the directories.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Adds the directory of `root`, if it exists and is in its project or plugin.
    fn open(&mut self, root: Root) {
        match root.real() {
            Ok(real) => self.directories.push(ResourceDir { root, real }),
            Err(Some(real)) => self.diagnostics.push(outside(self.kind, &root.dir, &real)),
            Err(None) => {}
        }
    }

    /// Returns the files that `text` can mean, in order of precedence; none if no resource can have the name.
    pub fn named(&self, text: &str) -> Vec<ResourceFile<'_>> {
        let name = ResourceName::new(text);
        let files = self.directories.iter().filter_map(|directory| {
            let spellings = [text, name.as_str()];
            spellings.iter().find_map(|name| self.file(directory, name))
        });
        files.collect()
    }

    fn file<'r>(&self, directory: &'r ResourceDir, name: &str) -> Option<ResourceFile<'r>> {
        let rest = name.strip_prefix(directory.root.prefix.as_str())?;
        ResourceName::check(rest).ok()?;
        let path = self.kind.form.path(&directory.root.dir, rest)?;
        let name = ResourceName::new(name).as_str().to_owned();
        Some(ResourceFile { name, path, kind: self.kind, directory })
    }

    /// Returns every file, in order of precedence and by name; shadowed ones too.
    pub fn files(&self, diagnostics: &mut Vec<Diagnostic>) -> Vec<ResourceFile<'_>> {
        let mut files = Vec::new();
        for directory in &self.directories {
            let Walk { entries, budget, .. } = Walk::through(self.kind, directory, diagnostics);
            if budget == 0 {
                diagnostics.push(too_many(self.kind, &directory.root.dir));
            }
            files.extend(entries.into_iter().map(|(name, path)| ResourceFile {
                name: format!("{}{name}", directory.root.prefix),
                path,
                kind: self.kind,
                directory,
            }));
        }
        files
    }
}

impl ResourceFile<'_> {
    /// Returns the directory that the file was found in.
    pub fn root(&self) -> &Root {
        &self.directory.root
    }

    /// Reads the file; returns at most `max_bytes + 1` bytes, so that the caller can tell that it is larger.
    ///
    /// # Errors
    /// The file cannot be read, or a symlink leads out of its directory.
    pub fn read(&self, max_bytes: usize) -> Result<Vec<u8>, Diagnostic> {
        let diagnostic = |error| unreadable(self.kind, &self.path, &error);
        let real = fs::canonicalize(&self.path).map_err(diagnostic)?;
        if !real.starts_with(&self.directory.real) {
            return Err(outside(self.kind, &self.path, &real));
        }
        untrusted_file::read_prefix(&real, max_bytes as u64 + 1).map_err(diagnostic)
    }
}

impl ResourceForm {
    /// Returns the file of the resource `name` in `directory`, if it exists.
    fn path(self, directory: &Path, name: &str) -> Option<PathBuf> {
        let exists = |path: &PathBuf| fs::symlink_metadata(path).is_ok();
        match self {
            Self::Hook => None,
            Self::Markdown => Some(directory.join(format!("{name}.md"))).filter(exists),
            Self::Directory(_) if name.contains('/') => None,
            Self::Directory(files) => {
                files.iter().map(|file| directory.join(name).join(file)).find(exists)
            }
        }
    }
}

/// Decides which of several resources with one name counts: the first that is not broken, or the first.
#[derive(Debug, Default)]
pub struct Shadows {
    first: BTreeMap<String, PathBuf>,
}

impl Shadows {
    /// Returns the file that shadows `path`; `counts` says whether the resource at `path` shadows later ones of its name.
    pub fn shadowed_by(&mut self, name: &str, path: &Path, counts: bool) -> Option<PathBuf> {
        let earlier = self.first.get(name).cloned();
        if counts && earlier.is_none() {
            self.first.insert(name.to_owned(), path.to_owned());
        }
        earlier
    }
}

/// A search through one directory.
struct Walk<'w> {
    kind: &'static ResourceKind,
    real: &'w Path,
    diagnostics: &'w mut Vec<Diagnostic>,
    entries: Vec<(String, PathBuf)>,
    /// The real paths of the directories that are being searched: a symlink to one of them would not end.
    above: Vec<PathBuf>,
    /// Number of entries that may still be read.
    budget: usize,
}

impl<'w> Walk<'w> {
    fn through(
        kind: &'static ResourceKind,
        directory: &'w ResourceDir,
        diagnostics: &'w mut Vec<Diagnostic>,
    ) -> Self {
        let (entries, above, budget) = (Vec::new(), Vec::new(), kind.max_entries);
        let mut walk = Self { kind, real: &directory.real, diagnostics, entries, above, budget };
        walk.directory(&directory.root.dir, "");
        walk
    }

    fn directory(&mut self, path: &Path, prefix: &str) {
        let result =
            fs::canonicalize(path).and_then(|real| Ok((real, read_sorted(path, self.budget)?)));
        let (real, entries) = match result {
            Ok(result) => result,
            Err(error) => return self.diagnostics.push(unreadable(self.kind, path, &error)),
        };
        if !real.starts_with(self.real) {
            return self.diagnostics.push(outside(self.kind, path, &real));
        }
        if self.above.contains(&real) || self.above.len() >= MAX_DEPTH {
            return;
        }
        self.above.push(real);
        for entry in entries {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            self.entry(path, &entry, prefix);
        }
        self.above.pop();
    }

    fn entry(&mut self, directory: &Path, entry: &DirEntry, prefix: &str) {
        let file_name = entry.file_name();
        let Some(name) = file_name.to_str().filter(|name| ResourceName::check(name).is_ok()) else {
            return;
        };
        match self.kind.form {
            ResourceForm::Markdown if entry.path().is_dir() => {
                self.directory(&entry.path(), &format!("{prefix}{name}/"));
            }
            ResourceForm::Markdown => {
                let stem = name.strip_suffix(".md").filter(|stem| !stem.is_empty());
                self.entries.extend(stem.map(|stem| (format!("{prefix}{stem}"), entry.path())));
            }
            form => {
                let path = form.path(directory, name);
                self.entries.extend(path.map(|path| (name.to_owned(), path)));
            }
        }
    }
}

/// Returns the entries by name; of a huge directory any `limit` of them.
fn read_sorted(path: &Path, limit: usize) -> io::Result<Vec<DirEntry>> {
    let entries = fs::read_dir(path)?.take(limit.saturating_add(1));
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

fn outside(kind: &ResourceKind, path: &Path, real: &Path) -> Diagnostic {
    let message =
        format!("this leads to {}, outside of its directory: it is not read", real.display());
    Diagnostic::new(kind.ids.outside, Severity::Error, message)
        .at(path)
        .help(format!("copy it to where the other {} are", kind.directory))
}

fn unreadable(kind: &ResourceKind, path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::new(kind.ids.unreadable, Severity::Error, format!("this cannot be read: {error}"))
        .at(path)
        .help("replace it with a file that you can read")
}

fn too_many(kind: &ResourceKind, path: &Path) -> Diagnostic {
    let ResourceKind { directory, max_entries, ids, .. } = kind;
    let message = format!("only {max_entries} entries of this directory are read");
    Diagnostic::new(ids.too_many, Severity::Warning, message)
        .at(path)
        .help(format!("remove {directory} that are not needed, and symlinks between directories"))
}
