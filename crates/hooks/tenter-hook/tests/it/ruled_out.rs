//! Events to which no hook applies need no catalog, until a file changes that may make a hook apply.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tenter_engine::trust::TrustEntry;
use tenter_engine::{Directories, Engine};

use crate::host_session::HostSession;

/// A call to which the hook `write` does not apply.
const OTHER: &str = "PreToolUse.Bash";
const WRITE: &str = "matcher:\n  tool: \"^file_write$\"";

/// A session with a summary of the hooks, none of which applies to [`OTHER`].
struct SummarizedSession(HostSession);

impl SummarizedSession {
    /// Starts a session with a hook for file writes. `prepare` adds other hooks.
    fn new(prepare: impl FnOnce(&HostSession)) -> Self {
        let session = HostSession::new("claude-code");
        session.hook("write", "before_tool", WRITE, DENY);
        prepare(&session);
        session.pass("SessionStart");
        let session = Self(session);
        session.pass_other();
        assert!(session.has_summary(), "the summary is written");
        assert!(!session.loads_hooks(), "no hook applies to the call");
        session
    }

    fn has_summary(&self) -> bool {
        fs::read_dir(self.0.sandbox.state().join("bridge/concerns")).is_ok()
    }

    /// Returns whether the hooks are loaded for [`OTHER`].
    fn loads_hooks(&self) -> bool {
        loads_hooks(&self.0, || self.pass_other())
    }

    fn pass_other(&self) {
        assert_eq!(self.denial(), None);
    }

    /// Returns the reason for which [`OTHER`] is denied; `None` if it passes.
    fn denial(&self) -> Option<String> {
        denial(&self.0.visit(OTHER, |_| {}))
    }

    fn hooks(&self) -> PathBuf {
        self.0.sandbox.home().join(".config/agents/hooks")
    }

    fn manifest(&self) -> PathBuf {
        self.hooks().join("write/HOOK.md")
    }

    /// Returns the manifest of `write`, changed so that it applies to the shell, with the same length.
    fn shell_manifest(&self) -> String {
        let text = fs::read_to_string(self.manifest()).unwrap();
        text.replace("^file_write$", "^bash|power$")
    }
}

/// Returns whether hooks are loaded for an event: loading writes their cache if it is missing.
fn loads_hooks(session: &HostSession, fire: impl FnOnce()) -> bool {
    let cache = session.sandbox.home().join(".cache/tenter/hooks.bin");
    let _ = fs::remove_file(&cache);
    fire();
    cache.exists()
}

fn denial(answer: &Value) -> Option<String> {
    let specific = &answer["hookSpecificOutput"];
    let reason = specific["permissionDecisionReason"].as_str()?;
    (specific["permissionDecision"] == "deny").then(|| reason.to_owned())
}

const DENY: &str = "echo no >&2; exit 2";

/// Returns an executable hook for one event, which denies it.
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

/// A change of a session, by name.
type SceneChange = (&'static str, fn(&SummarizedSession));

/// Changes that make the hook `write` apply to [`OTHER`], or add a hook.
const CHANGES: [SceneChange; 11] = [
    ("a manifest, in place and of the same size and time", |session| {
        let time = fs::metadata(session.manifest()).unwrap().modified().unwrap();
        let (old, new) = (fs::read(session.manifest()).unwrap(), session.shell_manifest());
        assert_eq!(old.len(), new.len());
        fs::write(session.manifest(), new).unwrap();
        File::options().write(true).open(session.manifest()).unwrap().set_modified(time).unwrap();
    }),
    ("a manifest, replaced", |session| {
        let new = session.manifest().with_extension("new");
        fs::write(&new, session.shell_manifest()).unwrap();
        fs::rename(new, session.manifest()).unwrap();
    }),
    ("a directory, replaced by another", |session| {
        let (old, new) = (session.hooks().join("write"), session.hooks().join(".new"));
        copy_directory(&old, &new);
        fs::write(new.join("HOOK.md"), session.shell_manifest()).unwrap();
        fs::rename(&old, session.hooks().join(".old")).unwrap();
        fs::rename(new, old).unwrap();
    }),
    ("a directory, replaced by a symlink to another", |session| {
        let (old, new) = (session.hooks().join("write"), session.0.sandbox.home().join("new"));
        copy_directory(&old, &new);
        fs::write(new.join("HOOK.md"), session.shell_manifest()).unwrap();
        fs::rename(&old, session.hooks().join(".old")).unwrap();
        symlink(new, old).unwrap();
    }),
    ("the hooks directory, replaced by a symlink to another", |session| {
        let (old, new) = (session.hooks(), session.0.sandbox.home().join("new"));
        copy_directory(&old.join("write"), &new.join("write"));
        fs::write(new.join("write/HOOK.md"), session.shell_manifest()).unwrap();
        fs::rename(&old, old.with_file_name("old")).unwrap();
        symlink(new, old).unwrap();
    }),
    ("a manifest hook, added", |session| {
        session.0.hook("more", "before_tool", "", DENY);
    }),
    ("an executable, added", |session| {
        session.0.sandbox.user_hook("more", &executable("before_tool_call"));
    }),
    ("a manifest, added to a directory that had none", |session| {
        let manifest = session.shell_manifest();
        copy_directory(&session.hooks().join("write"), &session.hooks().join("files"));
        fs::write(session.hooks().join("files/HOOK.md"), manifest).unwrap();
    }),
    ("a file, made an executable hook", |session| {
        let file = session.hooks().join("tool");
        fs::write(&file, executable("before_tool_call")).unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }),
    ("an executable, edited so that it subscribes to the call", |session| {
        let file = session.0.sandbox.home().join(".kodelet/hooks/turn");
        fs::write(file, executable("before_tool_call")).unwrap();
    }),
    ("a plugin, added", |session| {
        let hooks = session.0.sandbox.home().join(".kodelet/plugins/acme@guard/hooks");
        copy_directory(&session.hooks().join("write"), &hooks.join("more"));
        fs::write(hooks.join("more/HOOK.md"), session.shell_manifest()).unwrap();
    }),
];

#[test]
fn every_change_that_makes_a_hook_apply_is_noticed_at_the_next_call() {
    for (what, change) in CHANGES {
        let session = SummarizedSession::new(|session| {
            let hooks = session.hook("files", "after_turn", "", "");
            fs::remove_file(hooks.join("HOOK.md")).unwrap();
            fs::write(hooks.with_file_name("tool"), "").unwrap();
            session.sandbox.user_hook("turn", &executable("after_turn"));
        });
        change(&session);
        let denial = session.denial().unwrap_or_else(|| panic!("{what}"));
        assert!(denial.ends_with(": no"), "{what}: {denial}");
    }
}

#[test]
fn a_hook_that_changed_a_moment_ago_is_read_again() {
    let session = HostSession::new("claude-code");
    session.hook("write", "before_tool", WRITE, DENY);
    session.pass("SessionStart");
    assert!(loads_hooks(&session, || session.pass(OTHER)));
    assert!(
        !SummarizedSession(session).has_summary(),
        "its times could stay the same after a change"
    );
}

/// Trusts the present hooks of the project.
fn trust(session: &HostSession) {
    let home = session.sandbox.home();
    let builder =
        Engine::builder(session.sandbox.project()).directories(Directories::in_home(home));
    let (mut store, _) = builder.trust_store();
    let (catalog, _) = builder.load_catalog(&store);
    let entries: Vec<TrustEntry> = catalog.untrusted().iter().map(TrustEntry::from).collect();
    store.trust(&session.sandbox.project(), &entries, "2026-01-02T03:04:05Z").unwrap();
}

/// Creates a manifest hook of the project, like the user's hook `write`.
fn project_hook(session: &HostSession) -> PathBuf {
    let model = session.hook("model", "before_tool", WRITE, DENY);
    let hook = session.sandbox.project().join(".agents/hooks/model");
    copy_directory(&model, &hook);
    fs::remove_dir_all(model).unwrap();
    hook
}

#[test]
fn a_script_counts_when_its_hook_applies_to_the_call() {
    let session = SummarizedSession::new(|session| {
        project_hook(session);
        trust(session);
    });
    let hook = session.0.sandbox.project().join(".agents/hooks/model");
    fs::write(hook.join("scripts/run.sh"), "#!/bin/sh\ntouch \"$HOME/ran\"\n").unwrap();
    assert!(!session.loads_hooks(), "a script does not change the calls to which its hook applies");
    let reason = denial(&session.0.visit("PreToolUse.Write", |_| {})).unwrap();
    assert!(
        reason.starts_with("hook model: it guards this session, and it was changed"),
        "{reason}"
    );
    assert!(!session.0.sandbox.home().join("ran").exists());
}

#[test]
fn the_calls_of_a_removed_guard_are_denied_for_the_whole_session() {
    let session = SummarizedSession::new(|session| {
        project_hook(session);
        trust(session);
    });
    fs::remove_dir_all(session.0.sandbox.project().join(".agents/hooks/model")).unwrap();
    for _ in 0..2 {
        session.pass_other();
        let reason = denial(&session.0.visit("PreToolUse.Write", |_| {})).unwrap();
        assert!(reason.starts_with("hook model: it guards this session"), "{reason}");
    }
}

#[test]
fn a_session_remembers_a_guard_that_was_trusted_meanwhile() {
    let session = SummarizedSession::new(|session| {
        project_hook(session);
    });
    trust(&session.0);
    session.pass_other();
    fs::remove_dir_all(session.0.sandbox.project().join(".agents/hooks/model")).unwrap();
    let reason = denial(&session.0.visit("PreToolUse.Write", |_| {})).unwrap();
    assert!(reason.starts_with("hook model: it guards this session"), "{reason}");
}

#[test]
fn settings_that_depend_on_trust_count_for_every_call() {
    let session = SummarizedSession::new(|session| {
        project_hook(session);
    });
    session.0.configure("[bridge]\nuntrusted = \"block\"\n");
    for _ in 0..2 {
        let reason = session.denial().unwrap();
        assert!(reason.contains("hooks of this project are not trusted"), "{reason}");
    }
}

/// Rules that deny pushing and reading secrets.
const RULES: &str = "metadata:\n  match:\n    - {program: git, subcommand: push, decision: deny, reason: \"no\"}\n    \
                     - {path: {op: [read], glob: [\"**/.env\"]}, decision: deny, reason: \"no\", uncertain: deny}";

#[test]
fn hooks_are_loaded_only_for_calls_that_may_fit_a_rule() {
    let session = HostSession::new("claude-code");
    let hook = session.hook("guard", "before_tool", RULES, "");
    fs::remove_dir_all(hook.join("scripts")).unwrap();
    session.pass("SessionStart");
    let others = ["UserPromptSubmit", "PostToolUse.Bash", "PreToolUse.Write", "Stop"];
    for fixture in others.into_iter().chain([OTHER]) {
        let fire = || drop(session.visit(fixture, |_| {}));
        assert!(loads_hooks(&session, fire), "{fixture}: without a summary");
        assert!(!loads_hooks(&session, fire), "{fixture}");
    }
    for (command, is_denied, is_loaded) in [
        ("ls -la", false, false),
        ("git status && cargo test", false, false),
        ("cat src/main.rs", false, false),
        ("git push", true, true),
        ("g''it push", true, true),
        ("bash -c 'git push'", true, true),
        ("cat .env", true, true),
        ("cat sub/.e*", true, true),
        ("$X push", false, true),
    ] {
        let edit = |payload: &mut Value| payload["tool_input"]["command"] = command.into();
        let mut answer = Value::Null;
        let fire = || answer = session.visit(OTHER, edit);
        assert_eq!(loads_hooks(&session, fire), is_loaded, "{command}");
        let denial = denial(&answer);
        assert_eq!(denial.is_some(), is_denied, "{command}: {denial:?}");
    }
    let edit = |payload: &mut Value| {
        payload["tool_input"]["command"] = format!("ls {}", "x ".repeat(2000)).into();
    };
    assert!(
        loads_hooks(&session, || drop(session.visit(OTHER, edit))),
        "a long command is read once"
    );
}

#[test]
fn hooks_of_failures_see_a_denied_call_for_which_no_hook_was_loaded() {
    let session = HostSession::new("codex");
    session.hook("failure", "after_tool_failure", "", "touch \"$HOME/seen\"");
    session.pass("SessionStart");
    let patch = "PreToolUse.apply_patch";
    session.visit(patch, |_| {});
    assert!(!loads_hooks(&session, || drop(session.visit(patch, |_| {}))));
    let answer = session.visit(patch, |payload| {
        let text = payload["tool_input"]["command"].as_str().unwrap();
        payload["tool_input"]["command"] = text.replace("written.txt", ".codex/hooks.json").into();
    });
    assert!(denial(&answer).is_some(), "{answer}");
    assert!(session.sandbox.home().join("seen").exists(), "the hook of failures ran");
}
