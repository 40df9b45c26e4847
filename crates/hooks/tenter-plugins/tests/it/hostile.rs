//! Repositories that mean harm. Each is refused with what is wrong with it, or is read as the data that it is.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use tenter_plugins::changes::changes;

use crate::scene::{HOOK, Scene, Source};

/// Returns a repository whose `hooks` holds exactly these entries.
fn crafted<'n>(
    scene: &Scene,
    entries: impl Fn(&Source) -> Vec<(&'static str, &'n [u8], String)>,
) -> Source {
    let source = scene.repository("evil");
    let entries = entries(&source);
    let borrowed: Vec<_> =
        entries.iter().map(|(mode, name, object)| (*mode, *name, object.as_str())).collect();
    let hooks = source.tree(&borrowed);
    let top = source.tree(&[("40000", b"hooks", &hooks)]);
    source.commit_tree(&top);
    source
}

fn ids(scene: &Scene, source: &Source) -> Vec<&'static str> {
    let ids = scene.refused(&source.url()).iter().map(|finding| finding.id).collect();
    // Nothing of it has been written anywhere.
    assert_eq!(scene.left(), [] as [&str; 0]);
    ids
}

#[test]
fn names_that_lead_outside_are_rejected() {
    for (name, id) in [
        (&b"../../x"[..], "plugin-path-leaves"),
        (b"..", "plugin-path-leaves"),
        (b"a\nb", "plugin-name-control"),
        (b"\x1b[2J", "plugin-name-control"),
        (b"caf\xe9", "plugin-name-not-utf8"),
    ] {
        let scene = Scene::new();
        let source = crafted(&scene, |source| vec![("100755", name, source.blob(HOOK.as_bytes()))]);
        assert_eq!(ids(&scene, &source), [id], "{name:?}");
    }
}

#[test]
fn a_name_in_a_diagnostic_cannot_forge_a_line() {
    let scene = Scene::new();
    let source = crafted(&scene, |source| vec![("100755", b"a\nerror: b", source.blob(b""))]);
    let findings = scene.refused(&source.url());
    let path = findings[0].path.as_ref().unwrap();
    assert_eq!(path.to_str(), Some("hooks/a\\nerror: b"));
}

#[test]
fn nested_repositories_are_rejected_in_any_spelling() {
    for name in [&b".git"[..], b".GIT", b".Git.", b"git~1"] {
        let scene = Scene::new();
        let source = crafted(&scene, |source| {
            let config = source.blob(b"[core]\n\tfsmonitor = touch /tmp/ran\n");
            let directory = source.tree(&[("100644", b"config", &config)]);
            vec![("40000", name, directory)]
        });
        assert_eq!(ids(&scene, &source), ["plugin-holds-git"], "{name:?}");
    }
}

#[test]
fn names_that_clash_on_other_systems_are_rejected() {
    let pairs: [[&[u8]; 2]; 3] = [
        [b"Guard", b"guard"],
        ["gru\u{308}n".as_bytes(), "gr\u{fc}n".as_bytes()],
        [b"guard", b"guard"],
    ];
    for [one, other] in pairs {
        let scene = Scene::new();
        let source = crafted(&scene, |source| {
            let blob = source.blob(HOOK.as_bytes());
            vec![("100755", one, blob.clone()), ("100755", other, blob)]
        });
        assert_eq!(ids(&scene, &source), ["plugin-name-clash"]);
    }
}

#[test]
fn a_symlink_and_a_directory_of_one_name_are_rejected() {
    let scene = Scene::new();
    let source = crafted(&scene, |source| {
        let directory = source.tree(&[("100755", b"x", &source.blob(HOOK.as_bytes()))]);
        vec![("120000", b"lib", source.blob(b"../../../../..")), ("40000", b"lib", directory)]
    });
    assert_eq!(ids(&scene, &source), ["plugin-name-clash"]);
}

#[test]
fn symlinks_that_leave_the_plugin_are_rejected_from_any_source() {
    for (target, id) in [
        ("/etc/passwd", "plugin-link-leaves"),
        ("../../../secret", "plugin-link-leaves"),
        ("../src/main.rs", "plugin-link-dangles"),
        ("loop", "plugin-link-loops"),
    ] {
        let scene = Scene::new();
        let source = scene.repository("evil");
        symlink(target, source.path.join("hooks/loop")).unwrap();
        source.commit("link");
        assert_eq!(ids(&scene, &source), [id], "{target}");
        fs::remove_dir_all(source.path.join(".git")).unwrap();
        let diagnostics: Vec<&str> =
            scene.refused(&source.text()).iter().map(|finding| finding.id).collect();
        assert_eq!(diagnostics, [id], "{target}");
    }
}

/// A project comes with its directory of plugins, and so with links of these names.
#[test]
fn symlinks_in_the_plugins_directory_are_not_written_through() {
    for name in [".plugin.lock.new", "plugin.lock", ".lock", ".staging-1-0/lock"] {
        let scene = Scene::new();
        let source = scene.repository("guards");
        let (existing, absent) = (scene.root().join("kept"), scene.root().join("made"));
        fs::write(&existing, "").unwrap();
        for target in [&existing, &absent] {
            let link = scene.plugins().dir().join(name);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            let _ = fs::remove_file(&link);
            symlink(target, &link).unwrap();
            let plugins = scene.plugins();
            let staged = plugins.stage().map(drop);
            let _ = staged.and_then(|()| scene.add(&source.url(), true).map(drop).or(Ok(())));
            assert_eq!(fs::read_to_string(&existing).unwrap(), "", "{name}");
            assert!(!absent.exists(), "{name}");
        }
    }
}

#[test]
fn endless_symlinks_to_directories_are_rejected() {
    let scene = Scene::new();
    let source = scene.repository("evil");
    for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        symlink(".", source.path.join("recipes").join(name)).unwrap();
    }
    source.commit("loops");
    assert_eq!(ids(&scene, &source), ["plugin-links-endless"]);
}

#[test]
fn a_symlinked_hooks_directory_is_rejected() {
    let scene = Scene::new();
    let source = scene.repository("evil");
    fs::rename(source.path.join("hooks"), source.path.join("src/hooks")).unwrap();
    symlink("src/hooks", source.path.join("hooks")).unwrap();
    source.commit("link");
    assert_eq!(ids(&scene, &source), ["plugin-no-folder"]);
}

#[test]
fn submodules_are_rejected_and_not_fetched() {
    let scene = Scene::new();
    let source = crafted(&scene, |source| {
        let commit = source.git(&["rev-parse", "HEAD"]);
        vec![("160000", b"sub", commit)]
    });
    assert_eq!(ids(&scene, &source), ["plugin-submodule"]);
}

#[test]
fn plugins_beyond_the_limits_are_rejected() {
    let scene = Scene::new();
    let source = scene.repository("evil");
    source.write("hooks/huge", vec![0; (10 << 20) + 1]);
    source.commit("huge");
    assert_eq!(ids(&scene, &source), ["plugin-file-large"]);

    let scene = Scene::new();
    let source = crafted(&scene, |source| {
        // One object under many names: small to send, large to write.
        let blob = source.blob(&vec![0; 9 << 20]);
        let names: [&'static [u8]; 6] = [b"a", b"b", b"c", b"d", b"e", b"f"];
        names.map(|name| ("100644", name, blob.clone())).into()
    });
    assert_eq!(ids(&scene, &source), ["plugin-large"]);

    let scene = Scene::new();
    let source = scene.repository("evil");
    let blob = source.blob(b"");
    let names: Vec<String> = (0..101).map(|number| format!("{number:03}")).collect();
    let files: Vec<_> =
        names.iter().map(|name| ("100644", name.as_bytes(), blob.as_str())).collect();
    let directory = source.tree(&files);
    let directories: Vec<_> =
        names.iter().map(|name| ("40000", name.as_bytes(), directory.as_str())).collect();
    let hooks = source.tree(&directories);
    source.commit_tree(&source.tree(&[("40000", b"hooks", &hooks)]));
    assert_eq!(ids(&scene, &source), ["plugin-many-files"]);
}

#[test]
fn a_plain_directory_must_satisfy_the_same_rules() {
    let scene = Scene::new();
    let source = scene.source("evil");
    source.usual();
    source.write("hooks/a\nb", "");
    source.write("hooks/lib/.git/config", "");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        source.path.join("hooks/pipe"),
        rustix::fs::FileType::Fifo,
        0o755.into(),
        0,
    )
    .unwrap();
    let mut ids: Vec<&str> =
        scene.refused(&source.text()).iter().map(|finding| finding.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["plugin-holds-git", "plugin-name-control", "plugin-no-file"]);
}

/// Filters, attributes, hooks and the configuration of a repository on this machine: all of them name a program, none runs.
#[test]
fn programs_named_by_a_repository_do_not_run() {
    let scene = Scene::new();
    let source = scene.repository("evil");
    let trace = scene.root().join("ran");
    source.write(".gitattributes", "* filter=evil diff=evil ident export-subst text eol=crlf\n");
    source.write("hooks/lib/words.sh", "$Id$ $Format:%H$\nline\n");
    source.commit("attributes");
    let run = format!("touch {}", trace.display());
    source.git(&["config", "core.fsmonitor", &run]);
    source.git(&["status"]);
    assert!(trace.exists(), "git itself runs the program when it works in this repository");
    fs::remove_file(&trace).unwrap();
    for key in *tenter_base::words!(
        "filter.evil.smudge filter.evil.process diff.evil.textconv core.sshCommand core.pager
         core.alternateRefsCommand uploadpack.packObjectsHook credential.helper"
    ) {
        source.git(&["config", key, &run]);
    }
    for hook in *tenter_base::words!(
        "post-checkout post-merge post-update pre-receive reference-transaction post-index-change"
    ) {
        let path = source.path.join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{run}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for text in [source.text(), source.url()] {
        let fetched = scene.fetch(&text).unwrap();
        assert_eq!(
            fetched.content.0["hooks/lib/words.sh"].text(),
            Some("$Id$ $Format:%H$\nline\n")
        );
    }
    assert!(!trace.exists());
}

/// Git templates and hooks directories that the user has configured do not apply to our repositories.
#[test]
fn the_users_git_hooks_do_not_run_in_our_repository() {
    let scene = Scene::new();
    let source = scene.repository("guards");
    let (trace, hooks) = (scene.root().join("ran"), scene.root().join("home/hooks"));
    fs::create_dir_all(&hooks).unwrap();
    let hook = hooks.join("reference-transaction");
    fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", trace.display())).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let config =
        format!("[core]\n\thooksPath = {0}\n[init]\n\ttemplateDir = {0}\n", hooks.display());
    fs::write(scene.root().join("home/.gitconfig"), config).unwrap();
    scene.fetch(&source.url()).unwrap();
    assert!(!trace.exists());
}

#[test]
fn installing_runs_none_of_the_plugins_hooks() {
    let scene = Scene::new();
    let source = scene.repository("guards");
    let plugin = scene.add(&source.url(), false).unwrap();
    assert_eq!(plugin.hooks, ["guard"]);
    assert!(!plugin.path.join("hooks/ran").exists());
    let fetched = scene.fetch(&source.url()).unwrap();
    let (content, findings) = tenter_plugins::Content::read_installed(&plugin.path);
    assert_eq!(findings, []);
    assert_eq!(changes(&content, &fetched.content), []);
}
