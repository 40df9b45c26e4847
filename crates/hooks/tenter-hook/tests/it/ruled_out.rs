//! Tool calls that no hook is about need no catalog, until anything changes that says what hooks are about.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tenter_engine::trust::TrustEntry;
use tenter_engine::{Directories, Engine};

use crate::host_session::HostSession;

/// Longer than a file must be unchanged before what it says is kept.
const SETTLED: Duration = Duration::from_millis(2100);
/// A call that the hook `write` is not about.
const OTHER: &str = "PreToolUse.Bash";
const WRITE: &str = "matcher:\n  tool: \"^file_write$\"";

/// A session in which what hooks are about is known: no hook is about [`OTHER`].
struct KnownSession(HostSession);

impl KnownSession {
    /// `prepare` adds hooks to that for file writes.
    fn new(prepare: impl FnOnce(&HostSession)) -> Self {
        let session = HostSession::new("claude-code");
        session.hook("write", "before_tool", WRITE, DENY);
        prepare(&session);
        session.pass("SessionStart");
        thread::sleep(SETTLED);
        let known = Self(session);
        known.pass_other();
        assert!(known.is_kept(), "what the hooks are about is kept");
        assert!(!known.loads_hooks(), "no hook is about the call");
        known
    }

    fn is_kept(&self) -> bool {
        fs::read_dir(self.0.sandbox.state().join("bridge/concerns")).is_ok()
    }

    /// Whether the hooks are loaded for [`OTHER`], which writes their cache if it is not there.
    fn loads_hooks(&self) -> bool {
        let cache = self.0.sandbox.home().join(".cache/tenter/hooks.json");
        let _ = fs::remove_file(&cache);
        self.pass_other();
        cache.exists()
    }

    fn pass_other(&self) {
        assert_eq!(self.denial(), None);
    }

    /// The reason for which [`OTHER`] is denied; `None` if it is not.
    fn denial(&self) -> Option<String> {
        denial(&HostSession::answer(self.0.fire(OTHER)))
    }

    fn hooks(&self) -> PathBuf {
        self.0.sandbox.home().join(".config/agents/hooks")
    }

    fn manifest(&self) -> PathBuf {
        self.hooks().join("write/HOOK.md")
    }

    /// The manifest of `write`, about the shell: of the same length.
    fn manifest_about_the_shell(&self) -> String {
        let text = fs::read_to_string(self.manifest()).unwrap();
        text.replace("^file_write$", "^bash|power$")
    }
}

fn denial(answer: &Value) -> Option<String> {
    let specific = &answer["hookSpecificOutput"];
    let reason = specific["permissionDecisionReason"].as_str()?;
    (specific["permissionDecision"] == "deny").then(|| reason.to_owned())
}

const DENY: &str = "echo no >&2; exit 2";

/// An executable hook for one event, which denies it.
fn executable(event: &str) -> String {
    format!(
        "#!/bin/sh\nif [ \"$1\" = hook ]; then echo {event}; exit 0; fi\necho '{{\"blocked\": true, \"reason\": \"no\"}}'\n"
    )
}

fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir_all(to.join("scripts")).unwrap();
    for file in ["HOOK.md", "scripts/run.sh"] {
        fs::copy(from.join(file), to.join(file)).unwrap();
    }
}

type Change = fn(&KnownSession);

/// What changes what the hook `write` is about, or adds a hook.
const CHANGES: [(&str, Change); 11] = [
    ("a manifest, in place and of the same size and time", |known| {
        let time = fs::metadata(known.manifest()).unwrap().modified().unwrap();
        let (old, new) = (fs::read(known.manifest()).unwrap(), known.manifest_about_the_shell());
        assert_eq!(old.len(), new.len());
        fs::write(known.manifest(), new).unwrap();
        File::options().write(true).open(known.manifest()).unwrap().set_modified(time).unwrap();
    }),
    ("a manifest, replaced", |known| {
        let new = known.manifest().with_extension("new");
        fs::write(&new, known.manifest_about_the_shell()).unwrap();
        fs::rename(new, known.manifest()).unwrap();
    }),
    ("a directory, replaced by another", |known| {
        let (old, new) = (known.hooks().join("write"), known.hooks().join(".new"));
        copy_directory(&old, &new);
        fs::write(new.join("HOOK.md"), known.manifest_about_the_shell()).unwrap();
        fs::rename(&old, known.hooks().join(".old")).unwrap();
        fs::rename(new, old).unwrap();
    }),
    ("a directory, replaced by a symlink to another", |known| {
        let (old, new) = (known.hooks().join("write"), known.0.sandbox.home().join("new"));
        copy_directory(&old, &new);
        fs::write(new.join("HOOK.md"), known.manifest_about_the_shell()).unwrap();
        fs::rename(&old, known.hooks().join(".old")).unwrap();
        symlink(new, old).unwrap();
    }),
    ("the hooks directory, replaced by a symlink to another", |known| {
        let (old, new) = (known.hooks(), known.0.sandbox.home().join("new"));
        copy_directory(&old.join("write"), &new.join("write"));
        fs::write(new.join("write/HOOK.md"), known.manifest_about_the_shell()).unwrap();
        fs::rename(&old, old.with_file_name("old")).unwrap();
        symlink(new, old).unwrap();
    }),
    ("a manifest hook, added", |known| {
        known.0.hook("more", "before_tool", "", DENY);
    }),
    ("an executable, added", |known| {
        known.0.sandbox.user_hook("more", &executable("before_tool_call"));
    }),
    ("a manifest, added to a directory that had none", |known| {
        let manifest = known.manifest_about_the_shell();
        copy_directory(&known.hooks().join("write"), &known.hooks().join("files"));
        fs::write(known.hooks().join("files/HOOK.md"), manifest).unwrap();
    }),
    ("a file, made an executable hook", |known| {
        let file = known.hooks().join("tool");
        fs::write(&file, executable("before_tool_call")).unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }),
    ("an executable, edited so that it subscribes to the call", |known| {
        let file = known.0.sandbox.home().join(".kodelet/hooks/turn");
        fs::write(file, executable("before_tool_call")).unwrap();
    }),
    ("a plugin, added", |known| {
        let hooks = known.0.sandbox.home().join(".kodelet/plugins/acme@guard/hooks");
        copy_directory(&known.hooks().join("write"), &hooks.join("more"));
        fs::write(hooks.join("more/HOOK.md"), known.manifest_about_the_shell()).unwrap();
    }),
];

#[test]
fn every_change_of_what_hooks_are_about_is_noticed_at_the_next_call() {
    thread::scope(|scope| {
        for (what, change) in CHANGES {
            scope.spawn(move || {
                let known = KnownSession::new(|session| {
                    let hooks = session.hook("files", "after_turn", "", "");
                    fs::remove_file(hooks.join("HOOK.md")).unwrap();
                    fs::write(hooks.with_file_name("tool"), "").unwrap();
                    session.sandbox.user_hook("turn", &executable("after_turn"));
                });
                change(&known);
                let denial = known.denial().unwrap_or_else(|| panic!("{what}"));
                assert!(denial.ends_with(": no"), "{what}: {denial}");
            });
        }
    });
}

#[test]
fn a_hook_that_changed_a_moment_ago_is_read_again() {
    let session = HostSession::new("claude-code");
    session.hook("write", "before_tool", WRITE, DENY);
    session.pass("SessionStart");
    let known = KnownSession(session);
    assert!(known.loads_hooks());
    assert!(!known.is_kept(), "its times could stay the same after a change");
}

/// Trusts the hooks of the project as they are.
fn trust(session: &HostSession) {
    let home = session.sandbox.home();
    let builder =
        Engine::builder(session.sandbox.project()).directories(Directories::in_home(home));
    let (mut store, _) = builder.trust_store();
    let (catalog, _) = builder.load_catalog(&store);
    let entries: Vec<TrustEntry> = catalog.untrusted().iter().map(TrustEntry::from).collect();
    store.trust(&session.sandbox.project(), &entries, "2026-01-02T03:04:05Z").unwrap();
}

/// A manifest hook of the project, with the user's hook `write` as its model.
fn of_project(session: &HostSession) -> PathBuf {
    let model = session.hook("model", "before_tool", WRITE, DENY);
    let hook = session.sandbox.project().join(".agents/hooks/model");
    copy_directory(&model, &hook);
    fs::remove_dir_all(model).unwrap();
    hook
}

#[test]
fn a_script_counts_when_its_hook_is_about_the_call() {
    let known = KnownSession::new(|session| {
        of_project(session);
        trust(session);
    });
    let hook = known.0.sandbox.project().join(".agents/hooks/model");
    fs::write(hook.join("scripts/run.sh"), "#!/bin/sh\ntouch \"$HOME/ran\"\n").unwrap();
    assert!(!known.loads_hooks(), "its script does not change what a hook is about");
    let denied = denial(&HostSession::answer(known.0.fire("PreToolUse.Write"))).unwrap();
    assert!(
        denied.starts_with("hook model: it guards this session, and it was changed"),
        "{denied}"
    );
    assert!(!known.0.sandbox.home().join("ran").exists());
}

#[test]
fn a_guard_that_is_gone_denies_what_it_guarded_for_the_whole_session() {
    let known = KnownSession::new(|session| {
        of_project(session);
        trust(session);
    });
    fs::remove_dir_all(known.0.sandbox.project().join(".agents/hooks/model")).unwrap();
    for _ in 0..2 {
        known.pass_other();
        let denied = denial(&HostSession::answer(known.0.fire("PreToolUse.Write"))).unwrap();
        assert!(denied.starts_with("hook model: it guards this session"), "{denied}");
        thread::sleep(SETTLED);
    }
}

#[test]
fn a_session_remembers_a_guard_that_was_trusted_meanwhile() {
    let known = KnownSession::new(|session| {
        of_project(session);
    });
    trust(&known.0);
    known.pass_other();
    fs::remove_dir_all(known.0.sandbox.project().join(".agents/hooks/model")).unwrap();
    let denied = denial(&HostSession::answer(known.0.fire("PreToolUse.Write"))).unwrap();
    assert!(denied.starts_with("hook model: it guards this session"), "{denied}");
}

#[test]
fn settings_that_depend_on_trust_count_for_every_call() {
    let known = KnownSession::new(|session| {
        of_project(session);
    });
    known.0.configure("[bridge]\nuntrusted = \"block\"\n");
    thread::sleep(SETTLED);
    for _ in 0..2 {
        let denied = known.denial().unwrap();
        assert!(denied.contains("hooks of this project are not trusted"), "{denied}");
    }
}
