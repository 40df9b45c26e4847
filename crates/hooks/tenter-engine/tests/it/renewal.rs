//! Trusted hooks that change while an agent runs (R74, R75), and what runs them: shared directories, and their own state.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tenter_engine::inspect::{Catalog, HookEnvironment, Reload, Untrusted};
use tenter_engine::trust::TrustEntry;
use tenter_engine::{DecisionKind, EngineBuilder, FailMode};
use tenter_proc::{Cancel, Invocation, Limits};
use tenter_testkit::{needs, wait_until};

use crate::scene::{ObservedRuns, PROJECT, Scene, USER, call, reason, running};

const NOW: &str = "2024-01-15T10:30:00Z";

/// Loads as a command does, and trusts new hooks if `trusts` is set.
struct Loader {
    builder: EngineBuilder,
    project: PathBuf,
    trusts: bool,
    questions: AtomicUsize,
}

impl Loader {
    fn new(scene: &Scene, trusts: bool) -> Arc<Self> {
        Arc::new(Self {
            builder: scene.builder(),
            project: scene.layout.project.clone(),
            trusts,
            questions: AtomicUsize::new(0),
        })
    }
}

fn environment() -> HookEnvironment {
    HookEnvironment::new(&vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())], &[])
}

impl Reload for Loader {
    fn load(&self, cancel: &Cancel) -> Catalog {
        let builder = self.builder.clone().cancel(cancel.clone());
        builder.load_catalog(&builder.trust_store().0).0
    }

    fn ask(&self, hook: &Untrusted, _catalog: &Catalog, _cancel: &Cancel) -> bool {
        self.questions.fetch_add(1, Ordering::SeqCst);
        if self.trusts {
            let entry = TrustEntry::from(hook);
            let mut store = self.builder.trust_store().0;
            store.trust(&self.project, &[entry], NOW).unwrap();
        }
        self.trusts
    }
}

/// Returns a guard that denies everything in these words.
fn denies(words: &str) -> String {
    format!(
        "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call && exit\necho '{{\"blocked\": true, \"reason\": \"{words}\"}}'\n"
    )
}

/// A guard that says nothing, and shows that it ran.
const PASSES: &str = "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call && exit\ntouch \"$TENTER_PROJECT_DIR/ran\"\n";

#[test]
fn a_hook_changed_at_run_time_denies_with_any_fail_mode() {
    let scene = Scene::gated();
    scene.hook(PROJECT, "guard", &denies("as trusted"));
    let helper = scene.file(&format!("{PROJECT}/lib.sh"), "", 0o644);
    scene.trust_all();
    let (engine, observer) = scene.engine(scene.load().0);
    assert_eq!(reason(&call(&engine)), "as trusted");
    scene.hook(PROJECT, "guard", PASSES);
    let outcome = call(&engine);
    assert!(reason(&outcome).contains("run `tenter trust`"), "{outcome:?}");
    assert!(!reason(&outcome).contains("fail closed"), "{outcome:?}");
    assert!(outcome.denied_by_failure && !scene.at("project/ran").exists());
    assert_eq!(observer.runs.lock().unwrap().last().unwrap().decision, DecisionKind::Failed);
    scene.hook(PROJECT, "guard", &denies("as trusted"));
    assert_eq!(reason(&call(&engine)), "as trusted");
    fs::write(&helper, "exit 0").unwrap();
    assert!(reason(&call(&engine)).contains("run `tenter trust`"));
    fs::remove_file(&helper).unwrap();
    fs::remove_file(scene.at(&format!("{PROJECT}/guard"))).unwrap();
    assert!(reason(&call(&engine)).contains("run `tenter trust`"));
}

#[test]
fn a_retrusted_hook_is_reloaded_without_affecting_others() {
    let scene = Scene::gated();
    scene.hook(PROJECT, "guard", &denies("old"));
    scene.hook(PROJECT, "other", PASSES);
    scene.trust_all();
    let loader = Loader::new(&scene, false);
    let observed = Arc::new(ObservedRuns::default());
    let builder = scene.builder().reload(loader.clone()).observer(observed.clone());
    let engine = builder.build(scene.load().0);
    scene.hook(PROJECT, "guard", &denies("new"));
    assert!(reason(&call(&engine)).contains("run `tenter trust`"));
    // A change that also disables another hook does not disable it in the running session.
    let off = "[[hooks.disable]]\nname = \"other\"\n";
    scene.file("project/.agents/hooks/hooks.toml", off, 0o644);
    scene.trust_all();
    observed.runs.lock().unwrap().clear();
    assert_eq!(reason(&call(&engine)), "new");
    assert_eq!(running(&engine.catalog()), ["guard", "other"]);
    let decisions: Vec<_> = observed.runs.lock().unwrap().iter().map(|run| run.decision).collect();
    assert_eq!(decisions, [DecisionKind::Deny], "the run of the old one is not told");
    assert_eq!(loader.questions.load(Ordering::SeqCst), 1, "only before it was trusted");
}

#[test]
fn parallel_calls_ask_once_about_a_changed_hook() {
    let scene = Scene::gated();
    scene.hook(PROJECT, "guard", &denies("old"));
    scene.trust_all();
    let loader = Loader::new(&scene, true);
    let engine = scene.builder().reload(loader.clone()).build(scene.load().0);
    scene.hook(PROJECT, "guard", &denies("new"));
    thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| assert_eq!(reason(&call(&engine)), "new"));
        }
    });
    assert_eq!(loader.questions.load(Ordering::SeqCst), 1);
}

#[test]
fn a_reloaded_hook_with_another_event_denies_the_current_one() {
    let scene = Scene::gated();
    scene.hook(PROJECT, "guard", &denies("old"));
    scene.trust_all();
    let engine = scene.builder().reload(Loader::new(&scene, true)).build(scene.load().0);
    scene.hook(PROJECT, "guard", "#!/bin/sh\n[ \"$1\" = hook ] && echo agent_stop\n");
    assert!(reason(&call(&engine)).contains("run `tenter trust`"));
    assert_eq!(reason(&call(&engine)), "");
}

/// Makes a directory one that everyone can write.
fn share(path: &Path) {
    fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
}

#[test]
fn a_fail_closed_hook_writable_by_others_denies_unless_allowed() {
    for allow_shared in [false, true] {
        let mut scene = Scene::gated();
        scene.policies.default.fail = FailMode::Closed;
        scene.policies.allow_shared = allow_shared;
        scene.hook(PROJECT, "guard", PASSES);
        scene.trust_all();
        let engine = scene.engine(scene.load().0).0;
        assert_eq!(reason(&call(&engine)), "");
        fs::remove_file(scene.at("project/ran")).unwrap();
        share(&scene.at(PROJECT));
        let outcome = call(&engine);
        assert_eq!(reason(&outcome).contains("hooks.allow_shared"), !allow_shared, "{outcome:?}");
        assert_eq!(scene.at("project/ran").exists(), allow_shared);
    }
}

/// Someone who may write the directory swaps the guard for another file all the time, each with the same time stamp. Right after
/// the check it may be the other one, so a hook that fails closed must not run there at all.
#[test]
fn a_rename_right_after_the_check_runs_nothing_of_a_hook_that_fails_closed() {
    let mut scene = Scene::gated();
    scene.policies.default.fail = FailMode::Closed;
    let guard = scene.hook(PROJECT, "guard", &denies("as trusted"));
    scene.trust_all();
    let engine = scene.engine(scene.load().0).0;
    share(&scene.at(PROJECT));
    let evil = scene.file("evil", PASSES, 0o755);
    let time = fs::metadata(&guard).unwrap().modified().unwrap();
    fs::File::options().write(true).open(&evil).unwrap().set_modified(time).unwrap();
    let (backup, is_over) = (scene.at("kept"), AtomicBool::new(false));
    thread::scope(|threads| {
        threads.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                fs::rename(&guard, &backup).unwrap();
                fs::rename(&evil, &guard).unwrap();
                fs::rename(&guard, &evil).unwrap();
                fs::rename(&backup, &guard).unwrap();
            }
        });
        for _ in 0..30 {
            let outcome = call(&engine);
            assert!(outcome.denied_by_failure, "{outcome:?}");
        }
        is_over.store(true, Ordering::SeqCst);
    });
    assert!(!scene.at("project/ran").exists());
}

/// Swaps two files in a loop while `calls` are made, and restores them.
fn while_swapped(one: &Path, other: &Path, calls: impl FnOnce()) {
    let backup = one.with_extension("kept");
    let is_over = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                fs::rename(one, &backup).unwrap();
                fs::rename(other, one).unwrap();
                thread::yield_now();
                fs::rename(one, other).unwrap();
                fs::rename(&backup, one).unwrap();
                thread::yield_now();
            }
        });
        calls();
        is_over.store(true, Ordering::SeqCst);
    });
}

/// The other file may be the one that ran, so no reply counts while files are swapped.
#[test]
fn a_reply_of_a_program_that_was_swapped_in_never_counts() {
    for is_manifest in [false, true] {
        let scene = Scene::gated();
        let guard = if is_manifest {
            scene.manifest(PROJECT, "guard", "").join("scripts/run")
        } else {
            scene.hook(PROJECT, "guard", &denies("as trusted"))
        };
        scene.trust_all();
        let engine = scene.engine(scene.load().0).0;
        let evil = scene.file("evil", PASSES, 0o755);
        while_swapped(&guard, &evil, || {
            for _ in 0..40 {
                let outcome = call(&engine);
                assert!(outcome.denied().is_some(), "{outcome:?}");
            }
        });
        assert!(call(&engine).denied().is_some());
    }
}

/// Files that others can write run from a copy, so nothing that they swap in ever runs, not even for a hook that fails open.
#[test]
fn nothing_that_others_swap_in_runs() {
    for is_manifest in [false, true] {
        let scene = Scene::gated();
        let guard = if is_manifest {
            let helped = "#!/bin/sh\n. \"$(dirname \"$0\")/../lib.sh\"\n";
            scene.file(&format!("{PROJECT}/guard/lib.sh"), DENIES_WITH_DIR, 0o644);
            scene.manifest(PROJECT, "guard", "");
            scene.file(&format!("{PROJECT}/guard/scripts/run"), helped, 0o755)
        } else {
            scene.hook(PROJECT, "guard", &denies("as trusted"))
        };
        scene.trust_all();
        share(&scene.at(PROJECT));
        let engine = scene.engine(scene.load().0).0;
        assert!(reason(&call(&engine)).starts_with("as trusted"), "{:?}", call(&engine));
        let evil = scene.file("evil", PASSES, 0o755);
        while_swapped(&guard, &evil, || {
            for _ in 0..40 {
                let outcome = call(&engine);
                assert!(outcome.denied().is_some(), "{outcome:?}");
            }
        });
        assert!(!scene.at("project/ran").exists());
        assert!(reason(&call(&engine)).starts_with("as trusted"));
        if is_manifest {
            let directory = reason(&call(&engine)).trim_start_matches("as trusted ").to_owned();
            assert!(directory.contains("/state/hook-copies/"), "{directory}");
        }
    }
}

/// Says where it runs.
const DENIES_WITH_DIR: &str = "echo \"as trusted $TENTER_HOOK_DIR\" >&2\nexit 2\n";

/// Holds a writable mapping of the file, and changes it through that when the second file appears.
const MAPPER: &str = "
import mmap, os, sys, time
path, ready, go, done = sys.argv[1:]
with open(path, 'r+b') as file:
    mapped = mmap.mmap(file.fileno(), 0)
    mapped[0:1] = mapped[0:1]
    open(ready, 'w').close()
    while not os.path.exists(go):
        time.sleep(0.005)
    at = mapped.find(b'trusted')
    mapped[at:at + 7] = b'evil!!!'
    open(done, 'w').close()
    while os.path.exists(go):
        time.sleep(0.005)
";

fn until(path: &Path) {
    wait_until(&format!("{} is there", path.display()), || path.exists());
}

/// A mapped page that was written once is written again without a change of the file's time stamps.
#[test]
fn a_change_through_a_writable_mapping_is_detected() {
    tenter_testkit::skip_unless!(needs::has("python3"));
    let scene = Scene::gated();
    // A program that is open for writing is not started, but an interpreter reads it.
    let manifest = "---\nname: guard\ndescription: d\ntrigger: before_tool\n---\n";
    scene.file(&format!("{PROJECT}/guard/HOOK.md"), manifest, 0o644);
    let script = "echo as trusted >&2\nexit 2\n";
    let guard = scene.file(&format!("{PROJECT}/guard/scripts/run.sh"), script, 0o644);
    share(&scene.at(PROJECT));
    let [ready, go, done] = ["ready", "go", "done"].map(|name| scene.at(name));
    let args = ["-c".into(), MAPPER.into()]
        .into_iter()
        .chain([&guard, &ready, &go, &done].map(|path| path.clone().into_os_string()))
        .collect();
    let invocation = Invocation {
        program: "python3".into(),
        args,
        cwd: scene.at("project"),
        env: environment().base().clone(),
        limits: Limits { timeout: Duration::from_mins(2), ..Limits::default() },
        ..Invocation::default()
    };
    thread::scope(|threads| {
        let mapper = threads.spawn(|| tenter_proc::run(&invocation, &Cancel::new()));
        until(&ready);
        scene.trust_all();
        let catalog = scene.load().0;
        let hook = Arc::clone(&catalog.hooks()[0]);
        let engine = scene.engine(catalog).0;
        assert_eq!(reason(&call(&engine)), "as trusted");
        fs::write(&go, "").unwrap();
        until(&done);
        assert!(fs::read_to_string(&guard).unwrap().contains("as evil!!!"));
        assert!(hook.verify_unchanged(&Cancel::new()).is_err());
        assert!(reason(&call(&engine)).contains("was changed after it was loaded"));
        fs::remove_file(&go).unwrap();
        assert!(mapper.join().unwrap().end.is_success());
    });
}

#[test]
fn every_hook_has_a_private_directory_for_its_state() {
    let scene = Scene::new();
    let script = "#!/bin/sh
[ \"$1\" = hook ] && echo before_tool_call
echo \"$1\" >> \"$TENTER_HOOK_STATE/runs\"
echo \"$TENTER_HOOK_STATE\" > \"$TENTER_PROJECT_DIR/$TENTER_HOOK_NAME.txt\"
";
    let manifest = "---\nname: directory\ndescription: d\ntrigger: before_tool\n---\n";
    scene.hook(USER, "file", script);
    scene.file(&format!("{USER}/directory/HOOK.md"), manifest, 0o644);
    let body = script.replace("[ \"$1\" = hook ] && echo before_tool_call\n", "");
    scene.file(&format!("{USER}/directory/scripts/run"), &body, 0o755);
    let root = scene.at("state/hooks");
    let engine = scene.builder().build(scene.load().0);
    assert_eq!(reason(&call(&engine)), "");
    let of = |name: &str| {
        let path = fs::read_to_string(scene.at(&format!("project/{name}.txt"))).unwrap();
        let path = PathBuf::from(path.trim_end());
        assert_eq!(path.parent(), Some(root.as_path()));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        fs::read_to_string(path.join("runs")).unwrap()
    };
    assert_eq!((of("file").as_str(), of("directory").as_str()), ("hook\nrun\n", "\n"));
}

/// Compiled code beside a script is not covered by trust, and Python need not look at it.
#[test]
fn python_loads_no_compiled_code_next_to_a_hook() {
    let scene = Scene::new();
    let script = "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call && exit\n\
                  env | grep ^PYTHON | sort > \"$TENTER_PROJECT_DIR/python\"\n";
    scene.hook(USER, "guard", script);
    let root = scene.at("state/hooks");
    let variables = vec![
        ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
        ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
    ];
    let builder = scene.builder().environment(HookEnvironment::new(&variables, &[]));
    call(&builder.build(scene.load().0));
    let python = fs::read_to_string(scene.at("project/python")).unwrap();
    // Empty: Python keeps what it compiles in the private directory, or it would compile its library in every run.
    let expected =
        format!("PYTHONDONTWRITEBYTECODE=\nPYTHONPYCACHEPREFIX={}/guard-", root.display());
    assert!(python.starts_with(&expected), "{python}");
}
