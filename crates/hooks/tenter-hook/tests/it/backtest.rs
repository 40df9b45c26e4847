//! The same guards judge the calls of a transcript live, when the agent asks `tenter-hook`, and in a backtest.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use tenter_backtest::{HookSet, HostPlaces, PastVerdict, RecordedCall, Replay, ScanOptions, scan};
use tenter_engine::{Directories, Engine};

use crate::host_session::HostSession;

const GUARDS: [&str; 4] = ["git-safety", "secrets", "destructive-files", "outside-project"];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Adds the guards to the user's hooks.
fn add_guards(session: &HostSession) {
    for guard in GUARDS {
        let text = workspace().join(format!("tenter-commands/src/guard/shipped/{guard}.md"));
        let hook = session.sandbox.home().join(".config/agents/hooks").join(guard);
        fs::create_dir_all(&hook).unwrap();
        fs::copy(text, hook.join("HOOK.md")).unwrap();
    }
}

/// Copies the transcripts of an agent that did a day's work into the home directory, as if it had worked in the sandbox's project.
fn add_transcripts(from: &Path, to: &Path, project: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            add_transcripts(&entry.path(), &target, project);
        } else {
            let text = fs::read_to_string(entry.path()).unwrap();
            fs::write(target, text.replace("/home/ada/app", &project.display().to_string()))
                .unwrap();
        }
    }
}

/// Returns the verdict of the hooks that the agent runs.
fn live(session: &HostSession, call: &RecordedCall) -> PastVerdict {
    let payload = json!({
        "session_id": call.session,
        "cwd": call.cwd,
        "hook_event_name": "PreToolUse",
        "tool_name": call.native.tool,
        "tool_input": call.native.input,
        "tool_use_id": call.native.id,
    });
    let answer = HostSession::read_answer(session.send("PreToolUse", payload.to_string()));
    let output = &answer["hookSpecificOutput"];
    let reason = output["permissionDecisionReason"].as_str().unwrap_or_default();
    match output["permissionDecision"].as_str() {
        None => PastVerdict::Passed,
        Some("ask") => PastVerdict::Asked,
        // Codex cannot ask for hooks.
        Some("deny") if reason.contains("the user has to decide") => PastVerdict::Asked,
        Some("deny") => PastVerdict::Denied,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_hook_in_monitor_mode_denies_nothing_even_if_it_fails_closed() {
    let session = HostSession::new("claude-code");
    session.hook("guard", "before_tool", "metadata: {fail: closed}", "echo no >&2; exit 2");
    session.hook("broken", "before_tool", "metadata: {fail: closed, mode: monitor}", "exit 7");
    let settings = session.sandbox.home().join(".config/agents/hooks/hooks.toml");
    std::fs::write(settings, "[[hooks.override]]\nname = \"guard\"\nmode = \"monitor\"\n").unwrap();
    assert!(session.answer("PreToolUse.Bash").is_null());
    assert!(session.journal().contains(r#""would": "deny""#), "{}", session.journal());
}

#[test]
fn each_call_has_the_same_verdict_live_and_in_a_backtest() {
    for host in ["claude-code", "codex"] {
        let session = HostSession::new(host);
        let (home, project) = (session.sandbox.home(), session.sandbox.project());
        add_guards(&session);
        let transcripts = workspace().join("tenter-backtest/tests/homes").join(host).join("day");
        add_transcripts(&transcripts, &home, &project);
        let places = HostPlaces { home: home.clone(), variables: BTreeMap::new() };
        let load = |root: &Path| {
            let builder = Engine::builder(root).directories(Directories::in_home(&home));
            let (catalog, _) = builder.load_without_queries(&builder.trust_store().0);
            HookSet { builder, catalog }
        };
        let mut replay = Replay::new(&home, &load);
        let mut verdicts = Vec::new();
        let options = ScanOptions { places: &places, hosts: &[], since: None, max_calls: None };
        let _ = scan(options, &mut |mut call| {
            let mut judge = |call: &RecordedCall| {
                let verdict = PastVerdict::from(&replay.judge(call));
                verdicts.push((call.native.clone(), verdict, live(&session, call)));
            };
            judge(&call);
            // What the model sends to it, no hook of Codex sees.
            if let Some(command) = call.native.input.get_mut("command")
                && command.as_str().is_some_and(|command| command.starts_with("git add"))
            {
                *command = json!("cat | sh");
                judge(&call);
            }
        });
        for (call, past, live) in &verdicts {
            assert_eq!(past, live, "{host}: {call:?}");
        }
        let count = |kind| verdicts.iter().filter(|(_, past, _)| *past == kind).count();
        let counts = [PastVerdict::Denied, PastVerdict::Asked, PastVerdict::Passed].map(count);
        let expected = if host == "codex" { [1, 2, 3] } else { [3, 1, 5] };
        assert_eq!(counts, expected, "{host}: {verdicts:?}");
        assert!(replay.undecided().is_empty());
    }
}
