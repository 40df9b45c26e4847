//! The files of the project, for the completion of `@FILE`: as ignore files leave them, within limits.

use std::path::Path;
use std::time::{Duration, Instant};

use tenter_base::visible;
use tenter_proc::Cancel;
use tenter_walk::{SkipRules, walk};

/// Maximum number of files and directories looked at.
const LOOKED_AT: usize = 50_000;
/// Maximum time for looking.
const TIME: Duration = Duration::from_millis(300);
/// Maximum number of candidates.
const CANDIDATES: usize = 50;

/// Paths relative to a directory; paths of directories end with a slash.
pub(super) struct FileNames(Vec<String>);

impl FileNames {
    /// Lists what is below `directory`, with the ignore files of the project with this root. A large project is not listed
    /// completely.
    pub(super) fn list(directory: &Path, root: &Path) -> Self {
        let top = if directory.starts_with(root) { root } else { directory };
        let (cancel, began) = (Cancel::new(), Instant::now());
        let entries = walk(directory, SkipRules::IgnoreFiles(top), &cancel);
        let names = entries.take(LOOKED_AT).take_while(|_| began.elapsed() < TIME).flatten();
        let names = names.filter_map(|entry| {
            let path = entry.path.strip_prefix(directory).ok()?.to_str()?;
            let end = if entry.kind.is_dir() { "/" } else { "" };
            let is_shown = !path.is_empty() && visible(path) == path;
            is_shown.then(|| format!("{path}{end}"))
        });
        Self(names.collect())
    }

    /// Returns the paths that `text` can mean: those that begin with it, up to the next slash; else those whose last part begins
    /// with it; else those that contain it; else those that contain its characters in order.
    pub(super) fn matching(&self, text: &str) -> Vec<String> {
        let shows_hidden = text.rsplit('/').next().is_some_and(|last| last.starts_with('.'));
        let is_shown = |path: &&String| {
            let rest = path.strip_prefix(text).unwrap_or(path);
            shows_hidden || !(rest.starts_with('.') || rest.contains("/."))
        };
        let mut names: Vec<String> = self
            .0
            .iter()
            .filter(is_shown)
            .filter_map(|path| {
                let rest = path.strip_prefix(text)?;
                let end = rest.find('/').map_or(path.len(), |at| text.len() + at + 1);
                (!rest.is_empty()).then(|| path[..end].to_owned())
            })
            .collect();
        names.dedup();
        let lower = text.to_lowercase();
        let matches: [&dyn Fn(&str) -> bool; 3] = [
            &|path| last_part(path).to_lowercase().starts_with(&lower),
            &|path| path.to_lowercase().contains(&lower),
            &|path| has_in_order(&path.to_lowercase(), &lower),
        ];
        for is_meant in matches {
            if names.is_empty() && !text.is_empty() {
                let files = self.0.iter().filter(is_shown).filter(|path| is_meant(path));
                names = files.take(CANDIDATES).cloned().collect();
                names.sort_by_key(String::len);
            }
        }
        names.truncate(CANDIDATES);
        names
    }
}

fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

fn has_in_order(path: &str, text: &str) -> bool {
    let mut characters = path.chars();
    text.chars().all(|letter| characters.any(|c| c == letter))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn paths_are_completed_part_by_part_or_found_by_name() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        for file in [
            "src/main.rs",
            "src/chat/mod.rs",
            "src/chat/input.rs",
            "README.md",
            "target/x.o",
            ".env",
            "my notes.md",
        ] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
        fs::write(root.join(".gitignore"), "target\n").unwrap();
        fs::create_dir(root.join(".git")).unwrap();
        let names = FileNames::list(root, root);
        assert_eq!(names.matching(""), ["README.md", "my notes.md", "src/"]);
        assert_eq!(names.matching("s"), ["src/"]);
        assert_eq!(names.matching("src/"), ["src/chat/", "src/main.rs"]);
        assert_eq!(names.matching("inp"), ["src/chat/input.rs"]);
        assert_eq!(names.matching("chat/m"), ["src/chat/mod.rs"]);
        assert_eq!(names.matching("scmod"), ["src/chat/mod.rs"]);
        assert_eq!(names.matching(".e"), [".env"]);
        assert!(names.matching("target").is_empty() && names.matching("zzz").is_empty());
        let inside = FileNames::list(&root.join("src"), root);
        assert_eq!(inside.matching("m"), ["main.rs"]);
    }
}
