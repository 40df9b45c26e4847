//! The version of an installed program, read from its package: the program is not run.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use tenter_base::untrusted_file;

/// Maximum number of directories above a program in which its package is looked for.
const MAX_DEPTH: usize = 6;
/// Maximum number of Python packages that are looked at.
const MAX_PACKAGES: usize = 2000;

/// Returns the version of `program` as its package states it; `None` if its package is unknown.
///
/// Packages of npm, of Python's installers and of Homebrew are known, and directories of versions, such as
/// `~/.local/share/claude/versions/2.1.330`.
pub fn packaged_version(program: &Path) -> Option<String> {
    let real = program.canonicalize().ok()?;
    npm(&real).or_else(|| python(&real)).or_else(|| named_by_directory(&real))
}

/// The fields of a `package.json` that are read.
#[derive(Deserialize)]
struct PackageJson {
    version: String,
    /// A path, or paths by the name of the command.
    #[serde(default)]
    bin: Value,
}

/// Returns the version of the npm package whose command is this file.
fn npm(real: &Path) -> Option<String> {
    real.ancestors().skip(1).take(MAX_DEPTH).find_map(|directory| {
        let text = untrusted_file::read_to_string(&directory.join("package.json")).ok()?;
        let package: PackageJson = serde_json::from_str(&text).ok()?;
        let is_command =
            |path: &str| directory.join(path).canonicalize().is_ok_and(|it| it == real);
        let has_command = match &package.bin {
            Value::String(path) => is_command(path),
            Value::Object(paths) => paths.values().filter_map(Value::as_str).any(is_command),
            _ => false,
        };
        has_command.then_some(package.version)
    })
}

/// Returns the version of the Python package that has a command of this name: `bin/NAME` belongs to `lib/python*/site-packages`.
fn python(real: &Path) -> Option<String> {
    let command = real.file_name()?.to_str()?;
    let libraries = real.parent()?.parent()?.join("lib");
    let mut packages = entries(&libraries)
        .filter(|path| file_name(path).starts_with("python"))
        .flat_map(|python| entries(&python.join("site-packages")))
        .take(MAX_PACKAGES);
    packages.find_map(|package| {
        let (_, version) = file_name(&package).strip_suffix(".dist-info")?.split_once('-')?;
        let commands = untrusted_file::read_to_string(&package.join("entry_points.txt")).ok()?;
        let names = commands.lines().filter_map(|line| Some(line.split_once('=')?.0.trim()));
        names.into_iter().any(|name| name == command).then(|| version.to_owned())
    })
}

/// Returns the version that a directory, or the file itself, has as its name.
fn named_by_directory(real: &Path) -> Option<String> {
    let mut pairs = real.ancestors().zip(real.ancestors().skip(1));
    pairs.find_map(|(path, directory)| {
        let is_version = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_digit()) && name.contains('.') && name.len() <= 40
        };
        let is_store = match file_name(directory) {
            "versions" => true,
            _ => directory.parent().is_some_and(|above| file_name(above) == "Cellar"),
        };
        Some(file_name(path)).filter(|name| is_store && is_version(name)).map(str::to_owned)
    })
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new(files: &[(&str, &str)]) -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            for (path, text) in files {
                let path = tree.path(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            tree
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        fn version(&self, path: &str) -> Option<String> {
            packaged_version(&self.path(path))
        }
    }

    #[test]
    fn an_npm_package_names_its_command() {
        let tree = Tree::new(&[
            (
                "lib/node_modules/cli/package.json",
                r#"{"version": "1.2.3", "bin": {"x": "./bin/x"}}"#,
            ),
            ("lib/node_modules/cli/bin/x", ""),
            ("lib/node_modules/cli/bin/other", ""),
            ("lib/node_modules/one/package.json", r#"{"version": "4.5.6-beta.1", "bin": "run"}"#),
            ("lib/node_modules/one/run", ""),
            ("lib/node_modules/bad/package.json", "{"),
            ("lib/node_modules/bad/run", ""),
        ]);
        fs::create_dir(tree.path("bin")).unwrap();
        symlink("../lib/node_modules/cli/bin/x", tree.path("bin/x")).unwrap();
        assert_eq!(tree.version("bin/x").as_deref(), Some("1.2.3"));
        assert_eq!(tree.version("lib/node_modules/one/run").as_deref(), Some("4.5.6-beta.1"));
        assert_eq!(tree.version("lib/node_modules/cli/bin/other"), None, "not its command");
        assert_eq!(tree.version("lib/node_modules/bad/run"), None);
    }

    #[test]
    fn a_python_package_names_its_command() {
        let site = "env/lib/python3.12/site-packages";
        let vibe = "[console_scripts]\nvibe = vibe.cli:main\n";
        let tree = Tree::new(&[
            ("env/bin/vibe", ""),
            ("env/bin/other", ""),
            (&format!("{site}/mistral_vibe-3.0.2.dist-info/entry_points.txt"), vibe),
            (&format!("{site}/rich-14.0.0.dist-info/METADATA"), ""),
        ]);
        assert_eq!(tree.version("env/bin/vibe").as_deref(), Some("3.0.2"));
        assert_eq!(tree.version("env/bin/other"), None);
    }

    #[test]
    fn a_directory_of_versions_names_them() {
        let tree = Tree::new(&[
            ("share/claude/versions/2.1.330", ""),
            ("Cellar/goose/1.9.0/bin/goose", ""),
            ("opt/2.0.0/bin/tool", ""),
        ]);
        assert_eq!(tree.version("share/claude/versions/2.1.330").as_deref(), Some("2.1.330"));
        assert_eq!(tree.version("Cellar/goose/1.9.0/bin/goose").as_deref(), Some("1.9.0"));
        assert_eq!(tree.version("opt/2.0.0/bin/tool"), None, "a version of something else");
        assert_eq!(tree.version("missing"), None);
    }
}
