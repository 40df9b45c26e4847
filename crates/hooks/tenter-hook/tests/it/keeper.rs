//! Runtime hooks under hosts: the keeper holds their processes between events, and no decision depends on it (S14, S15).

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;
use tenter_bridge::keeper::{KeeperStatus, running};
use tenter_testkit::{assert_contains, needs, wait_until};

use crate::host_session::HostSession;

/// When the keepers of these tests end by themselves, in milliseconds: later than any test, and not long after it.
const IDLE_MS: u64 = 60_000;

/// A project with a runtime hook that denies: with its process and its count, or with `one-shot`.
struct Stage {
    session: HostSession,
    runtime: PathBuf,
    idle_ms: u64,
}

/// The hook's reply.
#[derive(Debug, PartialEq, Eq)]
enum GuardReply {
    OneShot,
    Served { pid: i32, count: u32 },
}

/// Returns a hook in both forms. `event` runs before it answers an event; `$id` is the id of the request.
fn script(event: &str) -> String {
    format!(
        r#"#!/bin/sh
if [ "$1" != serve ]; then
    cat > /dev/null
    echo '{{"decision": "deny", "reason": "one-shot"}}'
    exit
fi
count=0
while read -r line; do
    id=$(echo "$line" | sed 's/^[^,]*, *"id": *\([0-9]*\).*/\1/')
    case $line in
    *'"method": "initialize"'*) echo "{{\"jsonrpc\": \"2.0\", \"id\": $id, \"result\": {{}}}}" ;;
    *'"method": "before_tool"'*)
        count=$((count + 1))
        {event}
        echo "{{\"jsonrpc\": \"2.0\", \"id\": $id, \"result\": {{\"decision\": \"deny\", \"reason\": \"served by $$ $count\"}}}}"
        ;;
    esac
done
"#
    )
}

impl Stage {
    fn new(event: &str) -> Self {
        Self::with(event, "")
    }

    /// Adds a hook; `metadata` are further lines of the manifest.
    fn with(event: &str, metadata: &str) -> Self {
        let session = HostSession::new("claude-code");
        let front_matter = format!("metadata:\n  runtime: serve\n{metadata}");
        let hook = session.hook("guard", "before_tool", front_matter.trim_end(), "");
        fs::write(hook.join("scripts/run.sh"), script(event)).unwrap();
        let runtime = session.sandbox.root().join("run");
        fs::create_dir(&runtime).unwrap();
        Self { session, runtime, idle_ms: IDLE_MS }
    }

    fn directory(&self) -> PathBuf {
        self.runtime.join("tenter")
    }

    /// Lets the host fire an event, and returns the native answer.
    fn fire(&self, host: &str, fixture: &str) -> Value {
        self.fire_payload(host, fixture, &self.session.payload(fixture))
    }

    /// Returns the same with this payload.
    fn fire_payload(&self, host: &str, fixture: &str, payload: &Value) -> Value {
        let mut command = self.session.sandbox.command();
        command
            .args([host, self.session.event(fixture), "--home"])
            .arg(self.session.sandbox.home())
            .env("XDG_RUNTIME_DIR", &self.runtime)
            .env("TENTER_KEEPER_IDLE_MS", self.idle_ms.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let payload = payload.to_string();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), payload.as_bytes()).unwrap();
        HostSession::read_answer(self.session.sandbox.finish(child))
    }

    /// Returns the hook's reply to a tool call. It always denies: no decision is lost.
    fn reply(&self, host: &str) -> GuardReply {
        let answer = self.fire(host, "PreToolUse.Bash");
        let specific = &answer["hookSpecificOutput"];
        assert_eq!(specific["permissionDecision"], "deny", "{answer}");
        let reason = specific["permissionDecisionReason"].as_str().unwrap();
        let text = reason.split("hook guard: ").nth(1).unwrap_or_else(|| panic!("{answer}"));
        let Some(served) = text.strip_prefix("served by ") else {
            assert_eq!(text.trim(), "one-shot", "{answer}");
            return GuardReply::OneShot;
        };
        let (pid, count) = served.trim().split_once(' ').unwrap();
        GuardReply::Served { pid: pid.parse().unwrap(), count: count.parse().unwrap() }
    }

    /// Fires until the keeper is there: on a busy machine, it may take longer to start than an event waits.
    fn served(&self, host: &str) -> (i32, u32) {
        let start = Instant::now();
        loop {
            if let GuardReply::Served { pid, count } = self.reply(host) {
                return (pid, count);
            }
            assert!(start.elapsed() < Duration::from_mins(1), "the keeper is never there");
        }
    }

    fn keeper(&self) -> KeeperStatus {
        let mut keepers = Vec::new();
        // On a busy machine, it may answer later than this waits.
        wait_until("the keeper says what it is", || {
            keepers = running(&[self.directory()]);
            !keepers.is_empty()
        });
        assert_eq!(keepers.len(), 1, "{keepers:?}");
        keepers.remove(0)
    }

    fn keeper_pid(&self) -> Pid {
        Pid::from_raw(self.keeper().pid.cast_signed()).unwrap()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for keeper in running(&[self.directory()]) {
            let _ = kill_process(Pid::from_raw(keeper.pid.cast_signed()).unwrap(), Signal::KILL);
        }
    }
}

fn runs(pid: i32) -> bool {
    test_kill_process(Pid::from_raw(pid).unwrap()).is_ok()
}

#[test]
fn sessions_of_two_hosts_share_the_process_of_a_hook() {
    let mut stage = Stage::new(":");
    let (pid, first) = stage.served("claude-code");
    let (same, second) = stage.served("claude-code");
    assert_eq!(same, pid);
    stage.session.set_host("codex");
    let (codex_pid, third) = stage.served("codex");
    assert_eq!(codex_pid, pid, "the other host has the same process");
    assert!(first < second && second < third, "{first} {second} {third}");
    let keeper = stage.keeper();
    assert_eq!(Path::new(&keeper.project), stage.session.sandbox.project());
    let [hook] = keeper.hooks.as_slice() else { panic!("{keeper:?}") };
    assert_eq!((hook.hook.as_str(), hook.layer.as_str()), ("guard", "user"));
    assert!(hook.answered >= 3, "{hook:?}");
}

#[test]
fn the_keeper_has_its_own_session_and_nothing_of_the_host() {
    let stage = Stage::new(":");
    stage.served("claude-code");
    let pid = stage.keeper_pid();
    assert_eq!(rustix::process::getsid(Some(pid)).unwrap(), pid);
    let process = PathBuf::from(format!("/proc/{}", pid.as_raw_pid()));
    if !process.exists() {
        return needs::skipped("linux", "there is no /proc");
    }
    assert_eq!(fs::read_link(process.join("cwd")).unwrap(), Path::new("/"));
    assert_eq!(fs::read(process.join("environ")).unwrap(), b"");
    for stream in 0..3 {
        let file = fs::read_link(process.join(format!("fd/{stream}"))).unwrap();
        assert_eq!(file, Path::new("/dev/null"));
    }
    let socket = fs::metadata(stage.directory()).unwrap();
    assert_eq!(socket.mode() & 0o777, 0o700);
}

#[test]
fn a_keeper_that_was_killed_costs_no_decision_and_is_started_again() {
    let stage = Stage::new(":");
    let (before, _) = stage.served("claude-code");
    let keeper = stage.keeper_pid();
    kill_process(keeper, Signal::KILL).unwrap();
    wait_until("the keeper is gone", || test_kill_process(keeper).is_err() || is_zombie(keeper));
    let (after, count) = stage.served("claude-code");
    assert!(after != before && count == 1, "{before} {after} {count}");
    wait_until("the hook of the dead keeper has ended", || !runs(before));
}

/// Returns whether a process has ended and was not reaped yet.
fn is_zombie(pid: Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_pid()));
    status.is_ok_and(|status| status.contains("State:\tZ"))
}

#[test]
fn a_removed_directory_costs_no_decision() {
    let stage = Stage::new(":");
    let (before, _) = stage.served("claude-code");
    let keeper = stage.keeper_pid();
    fs::remove_dir_all(stage.directory()).unwrap();
    let (after, _) = stage.served("claude-code");
    assert_ne!(after, before);
    wait_until("the keeper without a socket has ended", || {
        test_kill_process(keeper).is_err() || is_zombie(keeper)
    });
    wait_until("its hook has ended", || !runs(before));
}

#[test]
fn a_socket_of_another_user_is_not_used() {
    let stage = Stage::new(":");
    let (before, _) = stage.served("claude-code");
    let keeper = stage.keeper_pid();
    let socket = fs::read_dir(stage.directory()).unwrap().find_map(|file| {
        let path = file.unwrap().path();
        path.extension().is_none().then_some(path)
    });
    let socket = socket.unwrap();
    if chown(&socket, Some(65534), Some(65534)).is_err() {
        return needs::skipped("root", "only root can give a socket to another user");
    }
    assert_eq!(
        stage.reply("claude-code"),
        GuardReply::OneShot,
        "the keeper behind it holds its lock"
    );
    kill_process(keeper, Signal::KILL).unwrap();
    wait_until("the keeper is gone", || test_kill_process(keeper).is_err() || is_zombie(keeper));
    let (after, _) = stage.served("claude-code");
    assert_ne!(after, before, "a new keeper replaces the socket");
}

#[test]
fn a_hook_that_dies_in_the_middle_of_an_answer_runs_once_for_this_event() {
    let stage =
        Stage::new(r#"[ ! -e "$HOME/die" ] || { rm "$HOME/die"; printf '{"jsonrpc": '; exit 3; }"#);
    let (before, _) = stage.served("claude-code");
    let die = stage.session.sandbox.home().join("die");
    fs::write(&die, "").unwrap();
    // On a busy machine, the keeper may accept an event too late.
    wait_until("the hook dies", || {
        assert_eq!(stage.reply("claude-code"), GuardReply::OneShot);
        !die.exists()
    });
    let (after, count) = stage.served("claude-code");
    assert!(after != before && count == 1, "{before} {after} {count}");
}

#[test]
fn a_hook_that_always_dies_costs_no_decision() {
    let stage = Stage::new("exit 3");
    for _ in 0..5 {
        assert_eq!(stage.reply("claude-code"), GuardReply::OneShot);
    }
}

#[test]
fn a_changed_hook_has_a_new_process_and_the_old_one_ends() {
    let stage = Stage::new(":");
    let (before, _) = stage.served("claude-code");
    let hook = stage.session.sandbox.home().join(".config/agents/hooks/guard/scripts/run.sh");
    fs::write(&hook, script("true")).unwrap();
    let (after, count) = stage.served("claude-code");
    assert!(after != before && count == 1, "{before} {after} {count}");
    wait_until("the old process has ended", || !runs(before));
}

#[test]
fn an_idle_keeper_exits_and_takes_its_hooks_along() {
    let mut stage = Stage::new(":");
    stage.idle_ms = 1500;
    let (mut hook, mut keeper) = (0, None);
    // On a busy machine, the keeper may end before it says what it is.
    wait_until("the keeper of the hook says what it is", || {
        hook = stage.served("claude-code").0;
        keeper = running(&[stage.directory()]).pop();
        keeper.is_some()
    });
    let keeper = Pid::from_raw(keeper.unwrap().pid.cast_signed()).unwrap();
    wait_until("the keeper has ended", || test_kill_process(keeper).is_err() || is_zombie(keeper));
    wait_until("its hook has ended", || !runs(hook));
    assert!(running(&[stage.directory()]).is_empty());
    assert!(stage.served("claude-code").0 != hook, "the next event starts another one");
}

#[test]
fn without_a_place_for_a_socket_hooks_run_once() {
    let mut stage = Stage::new(":");
    stage.runtime = PathBuf::from("/dev/null");
    let state = stage.session.sandbox.state();
    fs::create_dir_all(&state).unwrap();
    fs::write(state.join("keeper"), "").unwrap();
    assert_eq!(stage.reply("claude-code"), GuardReply::OneShot);
}

#[test]
fn without_a_keeper_a_hook_without_a_one_shot_form_is_started_for_the_event() {
    let mut stage = Stage::new(":");
    stage.runtime = PathBuf::from("/dev/null");
    fs::create_dir_all(stage.session.sandbox.state()).unwrap();
    fs::write(stage.session.sandbox.state().join("keeper"), "").unwrap();
    let manifest = stage.session.sandbox.home().join(".config/agents/hooks/guard/HOOK.md");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("runtime: serve", "runtime: serve-only")).unwrap();
    for _ in 0..2 {
        assert!(matches!(stage.reply("claude-code"), GuardReply::Served { count: 1, .. }));
    }
}

#[test]
fn calls_of_parallel_sessions_take_turns_and_are_all_decided() {
    let stage = Stage::new("sleep 0.05");
    stage.served("claude-code");
    let replies: Vec<GuardReply> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(|| stage.reply("claude-code"))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(replies.len(), 6);
}

#[test]
fn a_hook_of_the_project_that_changes_while_an_event_waits_for_its_turn_is_not_called() {
    let stage =
        Stage::new(r#"echo >> "$HOME/calls"; while [ -e "$HOME/hold" ]; do sleep 0.01; done"#);
    let (home, project) = (stage.session.sandbox.home(), stage.session.sandbox.project());
    let hook = project.join(".agents/hooks/guard");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::rename(home.join(".config/agents/hooks/guard"), &hook).unwrap();
    stage.session.trust();
    stage.served("claude-code");
    let keeper = stage.keeper_pid();
    if !Path::new("/proc/self/task").exists() {
        return needs::skipped("linux", "there is no /proc");
    }
    let calls = || fs::read(home.join("calls")).unwrap().len();
    let before = calls();
    // One thread accepts connections, one reads what the hook writes, and each connection has two.
    wait_until("the connection of the event has ended", || sleeping_threads(keeper) == Some(2));
    let hold = home.join("hold");
    fs::write(&hold, "").unwrap();
    // On a busy machine, the keeper may accept an event too late: the event ends without it.
    let fire = || {
        while hold.exists() {
            stage.fire("claude-code", "PreToolUse.Bash");
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(fire);
        wait_until("the first event is sent", || calls() > before);
        scope.spawn(fire);
        wait_until("the second event waits", || sleeping_threads(keeper) == Some(6));
        fs::write(hook.join("scripts/run.sh"), script("true")).unwrap();
        fs::remove_file(&hold).unwrap();
    });
    assert_eq!(calls(), before + 1);
}

/// Returns the number of a process's threads, if all of them wait for something.
fn sleeping_threads(process: Pid) -> Option<usize> {
    let threads = fs::read_dir(format!("/proc/{}/task", process.as_raw_pid())).unwrap();
    let states = threads.map(|thread| {
        let stat = fs::read_to_string(thread.ok()?.path().join("stat")).ok()?;
        stat.rsplit_once(')')?.1.trim_start().starts_with('S').then_some(())
    });
    states.collect::<Option<Vec<_>>>().map(|states| states.len())
}

/// Returns a transcript that the host recorded.
fn recorded_transcript(host: &str) -> PathBuf {
    let transcripts = "../tenter-bridge/tests/transcripts";
    Path::new(env!("CARGO_MANIFEST_DIR")).join(transcripts).join(format!("{host}.record.jsonl"))
}

#[test]
fn a_hook_gets_the_messages_of_the_hosts_transcript() {
    let get = r#"echo '{"jsonrpc": "2.0", "id": "h", "method": "history.get", "params": {}}'
        read -r history
        printf '%s\n' "$history" > "$HOME/history""#;
    for host in ["claude-code", "codex"] {
        let mut stage = Stage::with(get, "  services: [history]\n");
        stage.session.set_host(host);
        let mut payload = stage.session.payload("PreToolUse.Bash");
        payload["transcript_path"] = recorded_transcript(host).display().to_string().into();
        let file = stage.session.sandbox.home().join("history");
        // On a busy machine, the keeper may start later than the first event waits.
        wait_until("the hook is served", || {
            let answer = stage.fire_payload(host, "PreToolUse.Bash", &payload);
            let specific = &answer["hookSpecificOutput"];
            assert_eq!(specific["permissionDecision"], "deny", "{answer}");
            file.exists()
        });
        let answer: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let messages =
            answer["result"]["messages"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let text = Value::Array(messages.clone()).to_string();
        assert!(messages.len() > 5, "{host}: {answer}");
        assert_contains(&text, &["Please run the test", "hello-from-shell", "All finished."]);
    }
}

#[test]
fn state_and_notices_of_a_hook_reach_the_user_and_other_sessions() {
    let ask = r#"echo '{"jsonrpc": "2.0", "id": "a", "method": "state.add", "params": {"key": "calls", "by": 1, "scope": "project"}}'
        read -r added
        echo '{"jsonrpc": "2.0", "id": "b", "method": "notify", "params": {"text": "counted"}}'
        read -r noticed
        echo '{"jsonrpc": "2.0", "id": "c", "method": "ask", "params": {"question": "?"}}'
        read -r asked
        echo '{"jsonrpc": "2.0", "id": "d", "method": "history.get", "params": {}}'
        read -r history
        printf '%s\n' "$added" "$noticed" "$asked" "$history" > "$HOME/answers""#;
    let stage = Stage::with(ask, "  services: [state, notify, ask]\n");
    stage.served("claude-code");
    stage.served("claude-code");
    let answers = fs::read_to_string(stage.session.sandbox.home().join("answers")).unwrap();
    let answers: Vec<Value> =
        answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [added, noticed, asked, history] = answers.as_slice() else { panic!("{answers:?}") };
    assert!(added["result"]["value"].as_u64().unwrap() >= 2, "{added}");
    assert_eq!((&noticed["id"], &noticed["result"]), (&"b".into(), &Value::Null), "{noticed}");
    assert_eq!(asked["error"]["data"]["name"], "unsupported", "{asked}");
    assert_eq!(history["error"]["data"]["name"], "refused", "{history}");
    assert!(stage.session.journal().contains("counted"), "{}", stage.session.journal());
}

#[test]
fn only_listed_variables_reach_a_hook_and_others_do_not_mean_another_process() {
    let stage = Stage::with(r#"env > "$HOME/env""#, "  env: [WANTED_TOKEN]\n");
    let (before, _) = stage.served("claude-code");
    let fire = |variables: &[(&str, &str)]| {
        let mut command = stage.session.sandbox.command();
        command.args(["claude-code", "PreToolUse", "--home"]).arg(stage.session.sandbox.home());
        command.env("XDG_RUNTIME_DIR", &stage.runtime).envs(variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let payload = stage.session.payload("PreToolUse.Bash").to_string();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), payload.as_bytes()).unwrap();
        HostSession::read_answer(stage.session.sandbox.finish(child)).to_string()
    };
    let same = format!("served by {before} ");
    wait_until("it is the same process", || fire(&[("HOST_SECRET", "s3cret")]).contains(&same));
    let other = [("LC_ALL", "C"), ("WANTED_TOKEN", "token"), ("HOST_SECRET", "s3cret")];
    wait_until("it is another process", || {
        let answer = fire(&other);
        answer.contains("served by") && !answer.contains(&same)
    });
    let env = fs::read_to_string(stage.session.sandbox.home().join("env")).unwrap();
    assert!(env.contains("LC_ALL=C") && env.contains("WANTED_TOKEN=token"), "{env}");
    assert!(env.contains("TENTER_HOOK_NAME=guard") && !env.contains("s3cret"), "{env}");
}
