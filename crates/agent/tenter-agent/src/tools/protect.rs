//! The user's consent to changes of protected files (R76).

use std::path::Path;

pub use tenter_engine::inspect::ProtectedPaths;

/// Asks whether a file tool may change something protected.
pub trait WriteConsent: Sync {
    /// Asks whether the user agrees to a change of `file`, which is `place` or inside it.
    fn agrees(&self, place: &Path, file: &Path) -> bool;
}

#[cfg(test)]
mod tests {
    use crate::tools::testing::Bench;
    use serde_json::json;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// Tries to write `path`.
    fn write(bench: &Bench, path: &str) -> Result<(), String> {
        let result = bench.run("file_write", json!({"file_path": path, "text": "x"}));
        result.error.map_or(Ok(()), Err)
    }

    #[test]
    fn no_spelling_circumvents_the_protection() {
        let bench = Bench::new();
        for path in [".git/config", ".kodelet/hooks/guard", "shared/inner/x", "sub/x"] {
            bench.write(path, "old");
        }
        symlink(".git", bench.path("store")).unwrap();
        symlink(".kodelet", bench.path("k")).unwrap();
        fs::create_dir(bench.path(".agents")).unwrap();
        symlink("../shared", bench.path(".agents/hooks")).unwrap();
        symlink("../planned", bench.path(".kodelet/plugins")).unwrap();
        for path in *tenter_base::words!(
            ".git/config .git/hooks/pre-commit ./.git//config sub/../.git/config sub/.git/config
             sub/.git store/config store/../.git/config .GIT/config .kodelet/hooks/guard
             .kodelet/hooks/new/HOOK.md .kodelet/hooks k/hooks/guard k/./hooks/../hooks/guard
             .Kodelet/Hooks/guard planned/a@b/hooks/x .agents/hooks/x shared/x shared/inner/x
             sub/.kodelet/plugins/a@b/hooks/x sub/.kodelet/notes.md sub/.agents/skills/x/SKILL.md
             tenter.toml sub/tenter.toml Tenter.toml"
        ) {
            let error = write(&bench, path).unwrap_err();
            assert!(error.contains("consent"), "{path}: {error}");
        }
        assert_eq!(bench.read(".git/config"), "old");
        let edit = json!({"file_path": "store/config", "old_text": "old", "new_text": "new"});
        assert!(bench.fail("file_edit", edit).contains("consent"));
        assert_eq!(bench.read(".git/config"), "old");
        assert!(
            bench.succeed("file_read", json!({"file_path": ".git/config"})).text().contains("old")
        );
    }

    #[test]
    fn a_git_directory_is_protected_whatever_its_name_is() {
        let files = ["HEAD", "config", "objects/x", "refs/x"];
        for last in files {
            let bench = Bench::new();
            for file in files.iter().filter(|file| **file != last) {
                bench.write(&format!("x/{file}"), "");
            }
            let outcome = write(&bench, &format!("x/{last}"));
            if last == "config" {
                assert!(write(&bench, "x/Config").unwrap_err().contains("consent"));
                assert!(
                    write(&bench, "x/hooks/post-index-change").unwrap_err().contains("consent")
                );
            }
            let error = outcome.unwrap_err();
            assert!(error.contains("file tools change x only with"), "{last}: {error}");
        }
        let bench = Bench::new();
        bench.write("x/commondir", "../y");
        assert!(write(&bench, "x/HEAD").unwrap_err().contains("consent"));
        // What only looks like a part of one.
        bench.write("y/refs/x", "");
        assert_eq!(write(&bench, "y/HEAD"), Ok(()));
        assert_eq!(write(&bench, "y/config"), Ok(()));
    }

    #[test]
    fn similar_names_are_not_protected() {
        let bench = Bench::new();
        for path in *tenter_base::words!(
            ".gitignore .github/workflows/x.yml x.git/config .kodelet/recipes/x.md
             .kodelet/hooks.md .agents/skills/x/SKILL.md hooks/x agents/hooks/x my-tenter.toml"
        ) {
            assert_eq!(write(&bench, path), Ok(()), "{path}");
        }
    }

    #[test]
    fn the_marker_directory_of_an_existing_nested_project_may_be_written() {
        let bench = Bench::new();
        fs::create_dir_all(bench.path("sub/.agents/skills")).unwrap();
        assert_eq!(write(&bench, "sub/.agents/skills/x/SKILL.md"), Ok(()));
    }

    #[test]
    fn with_consent_a_protected_file_is_written() {
        let mut bench = Bench::new();
        bench.consent = true;
        assert_eq!(write(&bench, ".agents/hooks/guard"), Ok(()));
        assert_eq!(bench.read(".agents/hooks/guard"), "x");
    }
}
