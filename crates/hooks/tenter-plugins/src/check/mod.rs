//! Checks a plugin before it is published, for problems that its users would report, and for leaked secrets.
//!
//! This checks files: names, symlinks, sizes, modes, and secrets. The readers of manifests, recipes and skills check their content.
//! Nothing is run or changed.

mod hooks;
mod secrets;

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tenter_engine::layout::DIRECTORIES;
use tenter_protocol::{Diagnostic, Severity};

use crate::content::{Content, TreeEntry};
use crate::links;
use crate::rules::{self, FileKind, FoundFile, LARGEST_FILE, is_paper};

/// Maximum size of a file without a warning, in bytes.
const USUAL_FILE: u64 = 1 << 20;
/// Prefixes of the names of licence files.
const LICENCES: [&str; 4] = ["LICENSE", "LICENCE", "COPYING", "UNLICENSE"];

/// Reports everything that is wrong with the plugin in `directory`; `paths` are the files and symlinks that git publishes.
pub fn check(directory: &Path, paths: &[PathBuf]) -> Vec<Diagnostic> {
    let (files, mut findings) = list(directory, paths);
    let files_to_install: Vec<FoundFile> =
        files.iter().filter(|file| file.is_installed()).map(File::found).collect();
    let violations =
        rules::check(&files_to_install).into_iter().chain(links::check(&outline(&files)));
    findings.extend(violations.map(|finding| absolute(directory, finding)));
    findings.extend(missing(directory, &files));
    if directory.join(".gitmodules").exists() {
        let message = "this repository has submodules, which plugins cannot contain";
        let finding = Diagnostic::new("plugin-submodule", Severity::Error, message);
        findings.push(finding.at(directory.join(".gitmodules")).help("add the files themselves"));
    }
    findings.extend(files.iter().filter_map(File::is_large));
    findings.extend(hooks::check(directory, paths));
    findings.extend(
        files
            .iter()
            .filter(|file| file.metadata.is_file())
            .flat_map(|file| secrets::check(&file.path)),
    );
    findings
}

/// A file or a symlink of the repository.
struct File {
    path: PathBuf,
    /// The path in the plugin, with `/`.
    name: Vec<u8>,
    metadata: Metadata,
}

impl File {
    /// Returns true if the file is installed.
    fn is_installed(&self) -> bool {
        let top = self.name.split(|byte| *byte == b'/').next().unwrap_or_default();
        DIRECTORIES.iter().any(|directory| directory.as_bytes() == top) || is_paper(&self.name)
    }

    fn found(&self) -> FoundFile {
        let kind = if self.metadata.is_symlink() {
            FileKind::Link
        } else if self.metadata.is_file() {
            FileKind::File { executable: self.metadata.permissions().mode() & 0o111 != 0 }
        } else {
            FileKind::Other
        };
        FoundFile { path: self.name.clone(), kind, size: self.metadata.len() }
    }

    fn is_large(&self) -> Option<Diagnostic> {
        let size = self.metadata.len();
        let is_unusual = size > USUAL_FILE && size <= LARGEST_FILE;
        (self.metadata.is_file() && self.is_installed() && is_unusual).then(|| {
            let message =
                format!("this file has {size} bytes, and every user of the plugin downloads it");
            Diagnostic::new("plugin-file-unusual", Severity::Warning, message)
                .at(&self.path)
                .help("remove it, or download it when it is needed")
        })
    }
}

fn list(directory: &Path, paths: &[PathBuf]) -> (Vec<File>, Vec<Diagnostic>) {
    let mut files = Vec::new();
    let mut findings = Vec::new();
    for path in paths {
        let name = path.strip_prefix(directory).unwrap_or(path).as_os_str().as_bytes().to_vec();
        match fs::symlink_metadata(path) {
            Ok(metadata) => files.push(File { path: path.clone(), name, metadata }),
            Err(error) => findings.push(unreadable(path, &error)),
        }
    }
    (files, findings)
}

/// Returns the plugin's files without their content: enough to follow symlinks.
fn outline(files: &[File]) -> Content {
    let mut entries = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_installed()) {
        let Ok(name) = String::from_utf8(file.name.clone()) else { continue };
        let entry = match fs::read_link(&file.path) {
            Ok(target) => TreeEntry::Link { target: target.to_string_lossy().into_owned() },
            Err(_) => TreeEntry::File { bytes: Vec::new(), executable: false },
        };
        entries.insert(name, entry);
    }
    Content(entries)
}

/// Reports a missing licence, and a plugin with nothing to install.
fn missing(directory: &Path, files: &[File]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let offers = |file: &&File| file.is_installed() && file.name.contains(&b'/');
    if !files.iter().any(|file| offers(&file)) {
        let message = "there is nothing to install: no hooks, skills or recipes";
        let finding = Diagnostic::new("plugin-empty", Severity::Error, message).at(directory);
        findings.push(finding.help(
            "put them into the directories hooks, skills and recipes; `tenter plugin new` creates them",
        ));
    }
    let is_licence = |file: &File| {
        let name = file.name.to_ascii_uppercase();
        LICENCES.iter().any(|licence| name.starts_with(licence.as_bytes()))
    };
    if !files.iter().any(is_licence) {
        let message = "there is no license, so others are not allowed to use the plugin";
        let finding = Diagnostic::new("plugin-no-licence", Severity::Error, message).at(directory);
        findings.push(finding.help("add a file LICENSE"));
    }
    findings
}

fn absolute(directory: &Path, finding: Diagnostic) -> Diagnostic {
    let path = finding.path.as_ref().map(|path| directory.join(path));
    Diagnostic { path, ..finding }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::new("plugin-unreadable", Severity::Error, format!("this cannot be read: {error}"))
        .at(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    /// A valid plugin with one hook and a licence.
    struct Plugin(TempDir);

    impl Plugin {
        fn new() -> Self {
            let plugin = Self(TempDir::new().unwrap());
            plugin.write("LICENSE", "MIT");
            plugin.executable("hooks/guard", "#!/bin/sh\n");
            plugin
        }

        fn write(&self, name: &str, text: &str) -> PathBuf {
            let path = self.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        }

        fn executable(&self, name: &str, text: &str) -> PathBuf {
            let path = self.write(name, text);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        }

        fn findings(&self) -> Vec<Diagnostic> {
            let mut paths = Vec::new();
            let mut open = vec![self.0.path().to_owned()];
            while let Some(directory) = open.pop() {
                for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
                    let is_directory = entry.file_type().unwrap().is_dir();
                    if is_directory { &mut open } else { &mut paths }.push(entry.path());
                }
            }
            paths.sort();
            check(self.0.path(), &paths)
        }

        fn ids(&self) -> Vec<&'static str> {
            self.findings().iter().map(|finding| finding.id).collect()
        }
    }

    #[test]
    fn a_valid_plugin_with_helper_files_has_no_diagnostics() {
        let plugin = Plugin::new();
        plugin.write("hooks/lib/words.txt", "one two");
        plugin.write("hooks/README", "about the hooks");
        plugin.write("assets/logo.svg", "<svg/>");
        symlink("guard", plugin.0.path().join("hooks/again")).unwrap();
        assert_eq!(plugin.ids(), [] as [&str; 0]);
    }

    #[test]
    fn reports_what_cannot_be_installed() {
        let plugin = Plugin::new();
        symlink("/etc/passwd", plugin.0.path().join("hooks/lib")).unwrap();
        plugin.write("skills/a/A.txt", "");
        plugin.write("skills/a/a.txt", "");
        plugin.write(".gitmodules", "");
        let ids = plugin.ids();
        for id in ["plugin-link-leaves", "plugin-name-clash", "plugin-submodule"] {
            assert!(ids.contains(&id), "{id}: {ids:?}");
        }
        let findings = plugin.findings();
        let clash = findings.iter().find(|finding| finding.id == "plugin-name-clash").unwrap();
        assert!(clash.path.as_ref().unwrap().starts_with(plugin.0.path()));
    }

    #[test]
    fn reports_an_empty_plugin_and_a_missing_licence() {
        let empty = Plugin(TempDir::new().unwrap());
        empty.write("README.md", "soon");
        assert_eq!(empty.ids(), ["plugin-empty", "plugin-no-licence"]);
        let plugin = Plugin::new();
        fs::remove_file(plugin.0.path().join("LICENSE")).unwrap();
        plugin.write("licence.txt", "MIT");
        assert_eq!(plugin.ids(), [] as [&str; 0]);
    }

    #[test]
    fn warns_about_a_large_file_that_is_installed() {
        let plugin = Plugin::new();
        let text = "x".repeat(usize::try_from(USUAL_FILE).unwrap() + 1);
        plugin.write("docs/film", &text);
        plugin.write("skills/a/film", &text);
        assert_eq!(plugin.ids(), ["plugin-file-unusual"]);
    }

    #[test]
    fn reports_secrets_without_showing_them() {
        let plugin = Plugin::new();
        let path = plugin.write("docs/setup.md", "one\nuse AKIAABCDEFGHIJKLMNOP now\n");
        let findings = plugin.findings();
        let place = findings[0].span.as_ref().unwrap();
        assert_eq!((findings[0].id, findings[0].path.as_ref()), ("plugin-secret", Some(&path)));
        assert_eq!((place.line, place.column, place.length), (2, 5, 17));
        assert_eq!(place.source, "use AKIA[16 redacted] now");
    }

    #[test]
    fn reports_a_hook_that_git_ignores() {
        let plugin = Plugin::new();
        let program = plugin.executable("hooks/tool/scripts/run", "#!/bin/sh\n");
        let manifest = plugin.write("hooks/tool/HOOK.md", "");
        let licence = plugin.0.path().join("LICENSE");
        let ids: Vec<_> = check(plugin.0.path(), &[licence, manifest])
            .into_iter()
            .map(|finding| (finding.id, finding.path))
            .collect();
        let guard = plugin.0.path().join("hooks/guard");
        assert_eq!(ids, [("hook-left-out", Some(guard)), ("hook-left-out", Some(program))]);
    }

    #[test]
    fn reports_programs_that_cannot_start() {
        let plugin = Plugin::new();
        plugin.write("hooks/forgotten", "#!/bin/sh\n");
        plugin.executable("hooks/bare", "echo hi\n");
        plugin.executable("hooks/windows", "#!/bin/sh\r\necho hi\r\n");
        plugin.executable("hooks/program", "\u{7f}ELF");
        plugin.executable("hooks/builtin:mine", "#!/bin/sh\n");
        plugin.executable("hooks/off.disable", "#!/bin/sh\n");
        let mut ids = plugin.ids();
        ids.sort_unstable();
        assert_eq!(
            ids,
            *tenter_base::words!(
                "hook-disabled hook-line-ends hook-name hook-no-interpreter hook-not-executable"
            )
        );
    }
}
