//! Runtime hooks in the commands that show them, and under `tenter run`.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;
use tenter_testkit::{Sandbox, assert_contains, assert_fields, wait_until};

use super::{manifest, project_hooks, user_hooks};
use crate::{filter_kind, headless, sandbox};

const FRONT: &str = "trigger: before_tool\nmetadata:\n  runtime: serve\n  services: [ask, state]";

/// Returns a hook that denies in either form: with `$1` once per event, with `$2` when it is called.
fn script(one_shot: &str, served: &str) -> String {
    format!(
        r#"[ "$1" = serve ] || {{ {one_shot}; exit; }}
echo $$ > "$TENTER_PROJECT_DIR/pid.new"; mv "$TENTER_PROJECT_DIR/pid.new" "$TENTER_PROJECT_DIR/pid"
respond() {{ printf '{{"jsonrpc": "2.0", "id": %s, "result": %s}}\n' "$id" "$1"; }}
while IFS= read -r line; do
    id=${{line#*'"id": '}}; id=${{id%%,*}}
    case $line in
    *'"method": "initialize"'*) respond '{{}}';;
    *'"method": "before_tool"'*) {served};;
    esac
done"#
    )
}

const DENIES: &str = r#"echo '{"decision": "deny", "reason": "no"}'"#;
const RESPONDS: &str = r#"respond '{"decision": "deny", "reason": "no"}'"#;

fn with_hook(served: &str) -> Sandbox {
    let sandbox = sandbox();
    manifest(&user_hooks(&sandbox), "guard", FRONT, &script(DENIES, served));
    sandbox
}

#[test]
fn listings_say_that_a_hook_is_called_and_what_it_may_request() {
    let sandbox = with_hook(RESPONDS);
    let list = sandbox.run("hooks list").expect_code(0);
    assert!(list.stdout.contains("active, serve"), "{list}");
    let json = sandbox.run("hooks list --json").json();
    assert_fields(&json[0], &json!({"runtime": "serve", "services": ["ask", "state"]}));
    let show = sandbox.run("hooks show guard").expect_code(0);
    assert!(
        show.stdout.contains(
            "serve: its process is called for many events; it can also run once per event"
        ),
        "{show}"
    );
    assert!(
        show.stdout.contains("ask (asks you questions), state (keeps values between runs)"),
        "{show}"
    );
    let explain = sandbox.run("hooks explain --event before_tool --tool bash").expect_code(0);
    assert!(explain.stdout.contains("serve)"), "{explain}");
}

#[test]
fn services_are_shown_before_the_hook_is_trusted() {
    let sandbox = sandbox();
    manifest(&project_hooks(&sandbox), "guard", FRONT, &script(DENIES, RESPONDS));
    let show = sandbox.run("hooks show guard").expect_code(0);
    assert!(
        show.stdout.contains("untrusted") && show.stdout.contains("ask (asks you questions)"),
        "{show}"
    );
    let test = sandbox.run("hooks test guard --trust").expect_code(0);
    assert!(test.stderr.contains("guard asks you questions (the service ask)"), "{test}");
}

#[test]
fn a_test_runs_both_forms_and_compares_them() {
    let same = with_hook(RESPONDS);
    let output = same.run("hooks test guard").expect_code(0);
    assert_contains(&output.stdout, &["forms both decide the same", "ended answered"]);
    let json = same.run("hooks test guard --json").json();
    assert_eq!((&json["transport"], json.get("one_shot")), (&json!("runtime"), None));
    let other = with_hook("respond null");
    let output = other.run("hooks test guard").expect_code(1);
    assert!(
        output.stdout.contains("forms differ: run once for the event, it decides deny: no"),
        "{output}"
    );
}

#[test]
fn test_files_are_run_over_both_forms() {
    for (served, code, result) in [("respond null", 1, "FAIL"), (RESPONDS, 0, "1 passed")] {
        let sandbox = with_hook(served);
        let case =
            r#"{"event": {"tool_name": "Shell"}, "expect": {"decision": "deny", "exit": 0}}"#;
        sandbox.write("../home/.config/agents/hooks/guard/tests/denies.json", case);
        let output = sandbox.run("hooks test guard").expect_code(code);
        assert!(output.stdout.contains(result), "{output}");
    }
}

#[test]
fn a_run_is_logged_with_its_transport_and_leaves_no_process() {
    let sandbox = with_hook(RESPONDS);
    let script = "turns: [{tool_calls: [{name: bash, input: {command: touch ran}}, {name: bash, input: {command: touch ran}}]}, {text: ok}]";
    let (lines, code) = headless(&sandbox, script);
    assert_eq!(code, 0, "{lines:?}");
    assert_eq!(filter_kind(&lines, "hook").len(), 2);
    assert!(!sandbox.project().join("ran").exists());
    assert!(!exists(pid(&sandbox.project())), "it has ended with the session");
    let log = sandbox.run("log").expect_code(0);
    assert_eq!(log.stdout.matches("· runtime ·").count(), 2, "{log}");
    sandbox.prints("log --json", r#""transport": "runtime""#);
}

#[test]
fn the_doctor_starts_runtime_hooks_and_reports_those_that_do_not_answer() {
    let sandbox = with_hook(RESPONDS);
    sandbox.prints("hooks doctor", "All is well");
    manifest(&user_hooks(&sandbox), "guard", FRONT, "[ \"$1\" = serve ] && exit 7; exit 0");
    let doctor = sandbox.run("hooks doctor").expect_code(0);
    assert!(doctor.stderr.contains("the process of the runtime hook guard exited with code 7; it runs once per event instead"), "{doctor}");
}

#[test]
fn the_doctor_reports_a_hook_whose_process_ended_three_times() {
    let sandbox = with_hook("exit 3");
    let calls = "{name: bash, input: {command: 'true'}}";
    let script = format!(
        "turns: [{{tool_calls: [{calls}]}}, {{tool_calls: [{calls}]}}, {{tool_calls: [{calls}]}}, {{text: ok}}]"
    );
    headless(&sandbox, &script);
    let doctor = sandbox.run("hooks doctor");
    assert!(
        doctor
            .stderr
            .contains("the process of the runtime hook guard ended several times within a minute"),
        "{doctor}"
    );
}

/// Returns the process id that the hook wrote.
fn pid(project: &Path) -> i32 {
    fs::read_to_string(project.join("pid")).unwrap().trim().parse().unwrap()
}

fn exists(pid: i32) -> bool {
    test_kill_process(Pid::from_raw(pid).unwrap()).is_ok()
}

/// Returns an agent that waits for a hook that ignores the end of its stdin and SIGTERM.
fn waiting(sandbox: &Sandbox) -> Child {
    let model = sandbox
        .script("turns: [{tool_calls: [{name: bash, input: {command: 'true'}}]}, {text: ok}]");
    let mut command = sandbox.command();
    command.args(["run", "--model", &model, "x"]).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    wait_until("the hook is called", || sandbox.project().join("called").exists());
    child
}

const NEVER_ENDS: &str = r#"trap '' TERM HUP PIPE; : > "$TENTER_PROJECT_DIR/called"; while :; do read -r line || sleep 0.05; done"#;

#[test]
#[cfg(target_os = "linux")]
fn a_killed_agent_leaves_no_hook_behind() {
    let sandbox = with_hook(NEVER_ENDS);
    let mut agent = waiting(&sandbox);
    let pid = pid(&sandbox.project());
    assert!(exists(pid));
    agent.kill().unwrap();
    agent.wait().unwrap();
    wait_until("the hook is gone", || !exists(pid));
}

#[test]
fn a_second_ctrl_c_kills_the_processes_of_hooks() {
    let sandbox = with_hook(NEVER_ENDS);
    let mut agent = waiting(&sandbox);
    let pid = pid(&sandbox.project());
    let own = Pid::from_raw(i32::try_from(agent.id()).unwrap()).unwrap();
    kill_process(own, Signal::INT).unwrap();
    kill_process(own, Signal::TERM).unwrap();
    agent.wait().unwrap();
    wait_until("the hook is gone", || !exists(pid));
}
