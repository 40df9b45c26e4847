//! The sources of plugins: repositories at any reference, and plain directories.

use std::fs;

use tenter_plugins::{Fetched, TreeEntry};

use crate::scene::{HOOK, Scene};

const USUAL: [&str; 5] = *tenter_base::words!(
    "README.md hooks/guard hooks/lib/words.sh recipes/review/deep.md skills/pdf/SKILL.md"
);

fn paths(fetched: &Fetched) -> Vec<&str> {
    fetched.content.0.keys().map(String::as_str).collect()
}

fn guard(fetched: &Fetched) -> &str {
    fetched.content.0["hooks/guard"].text().unwrap()
}

#[test]
fn a_repositorys_plugin_directories_are_copied_with_helpers_and_modes() {
    let scene = Scene::new();
    let source = scene.repository("guards");
    let commit = source.git(&["rev-parse", "HEAD"]);
    for text in [source.url(), source.text()] {
        let fetched = scene.fetch(&text).unwrap();
        assert_eq!(paths(&fetched), USUAL);
        assert_eq!(fetched.commit.as_deref(), Some(commit.as_str()));
        let executable = TreeEntry::File { bytes: HOOK.into(), executable: true };
        assert_eq!(fetched.content.0["hooks/guard"], executable);
        let helper = &fetched.content.0["hooks/lib/words.sh"];
        assert_eq!(*helper, TreeEntry::File { bytes: "words=1\n".into(), executable: false });
    }
}

#[test]
fn a_plugin_can_be_fetched_by_branch_tag_and_commit() {
    let scene = Scene::new();
    let source = scene.repository("guards");
    let versions = ["first", "second", "third"].map(|version| {
        source.hook("guard", version);
        source.commit(version)
    });
    source.git(&["branch", "feature/x", &versions[0]]);
    source.git(&["tag", "v1", &versions[1]]);
    source.git(&["tag", "--annotate", "v1-annotated", "--message", "x", &versions[1]]);
    let table = [
        ("feature/x".to_owned(), 0),
        ("v1".to_owned(), 1),
        ("v1-annotated".to_owned(), 1),
        ("main".to_owned(), 2),
        (versions[0].clone(), 0),
        (versions[1][..8].to_owned(), 1),
        (versions[1][..8].to_uppercase(), 1),
    ];
    for (reference, version) in table {
        let fetched = scene.fetch(&format!("{}@{reference}", source.url())).unwrap();
        assert_eq!(guard(&fetched), ["first", "second", "third"][version], "{reference}");
        assert_eq!(fetched.commit.as_deref(), Some(versions[version].as_str()));
    }
}

#[test]
fn a_bare_repository_is_a_repository() {
    let scene = Scene::new();
    let source = scene.repository("guards");
    source.git(&["clone", "--quiet", "--bare", ".", "../bare.git"]);
    let fetched = scene.fetch(&scene.root().join("srv/ada/bare.git").to_string_lossy()).unwrap();
    assert_eq!(paths(&fetched), USUAL);
    assert!(fetched.commit.is_some());
}

#[test]
fn only_committed_files_of_a_repository_are_copied() {
    let scene = Scene::new();
    let source = scene.repository("guards");
    source.hook("guard", "not committed");
    assert_eq!(guard(&scene.fetch(&source.text()).unwrap()), HOOK);
}

#[test]
fn all_files_of_a_plain_directory_are_copied() {
    let scene = Scene::new();
    let source = scene.source("guards");
    source.usual();
    let fetched = scene.fetch(&source.text()).unwrap();
    assert_eq!((paths(&fetched), fetched.commit.as_deref()), (USUAL.to_vec(), None));
    let findings = scene.refused(&format!("{}@v1", source.text()));
    assert_eq!(findings[0].id, "plugin-no-repository");
}

#[test]
fn a_missing_source_is_an_error_with_help() {
    let scene = Scene::new();
    let source = scene.repository("guards");
    for reference in ["nothing", "abcdef12"] {
        let findings = scene.refused(&format!("{}@{reference}", source.url()));
        assert_eq!(findings[0].id, "plugin-ref-unknown", "{findings:?}");
        assert!(findings[0].help.is_some());
    }
    let findings = scene.refused("file:///no/such/repository");
    assert_eq!(findings[0].id, "plugin-git-failed");
}

#[test]
fn symlinks_within_a_plugin_are_copied_as_symlinks() {
    let scene = Scene::new();
    let source = scene.repository("guards");
    std::os::unix::fs::symlink("guard", source.path.join("hooks/guard2")).unwrap();
    source.commit("link");
    for text in [source.url(), source.text()] {
        let fetched = scene.fetch(&text).unwrap();
        assert_eq!(fetched.content.0["hooks/guard2"], TreeEntry::Link { target: "guard".into() });
    }
    scene.add(&source.url(), false).unwrap();
    let link = scene.plugins().dir().join("ada@guards/hooks/guard2");
    assert_eq!(fs::read_to_string(link).unwrap(), HOOK);
}
