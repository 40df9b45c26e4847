//! `tenter bridge prove`, with clients that work and clients that have defects.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;
use tenter_prove::Check;
use tenter_testkit::fake_claude::{self, Defect};
use tenter_testkit::{Output, needs, own_process};

use super::{Installed, copy};

/// A sandbox with the real `tenter-hook` and a client; `None` if `tenter-hook` is not built.
fn with_client(defect: Option<Defect>) -> Option<Installed> {
    let hook = Path::new(env!("CARGO_BIN_EXE_tenter")).with_file_name("tenter-hook");
    if !hook.is_file() {
        needs::skipped("tenter-hook", "tenter-hook is not built");
        return None;
    }
    let installed = Installed::new();
    let link = installed.bin.path().join("tenter-hook");
    fs::remove_file(&link).unwrap();
    if fs::hard_link(&hook, &link).is_err() {
        copy(&hook, &link);
    }
    let test = "bridge::prove::without_a_defect_nothing_is_broken_and_nothing_is_left";
    fake_claude::install(installed.bin.path(), test, defect).unwrap();
    Some(installed)
}

/// Runs the command; its stdout alone is the output.
fn prove(installed: &Installed, options: &str) -> Output {
    installed.shell(&format!("tenter bridge prove claude-code {options} 2>../stderr"))
}

/// The checks that were proved, and the output.
fn checks(output: &Output) -> Vec<Value> {
    let proofs = output.json();
    assert_eq!(proofs[0]["agent"], "claude-code", "{output}");
    proofs[0]["checks"].as_array().unwrap().clone()
}

/// Returns the ids of the checks that a client with a defect breaks, among those that `options` select.
fn broken(defect: Defect, options: &str) -> Option<Vec<String>> {
    let output = prove(&with_client(Some(defect))?, &format!("--json {options}")).expect_code(1);
    let broken = checks(&output).into_iter().filter(|check| check["verdict"] == "BROKEN");
    let broken: Vec<Value> = broken.collect();
    for check in &broken {
        assert!(!check["evidence"].as_str().unwrap().is_empty(), "{check}");
    }
    Some(broken.iter().map(|check| check["id"].as_str().unwrap().to_owned()).collect())
}

/// The checks that need an answer before a call, but for `twice`.
const DENIALS: &[&str] = &[
    "registered",
    "deny",
    "deny.exit-code",
    "deny.parallel",
    "deny.outside",
    "deny.subagent",
    "ask",
    "deny.tool",
    "deny.mcp",
    "deny.notice",
    "deny.others",
    "rewrite.user-rule",
    "confined",
    "fails.hangs",
    "fails.crashes",
    "fails.garbage",
    "deadline",
];

const CONTEXTS: &[&str] = &[
    "context.session_start",
    "context.before_agent",
    "context.before_tool",
    "context.after_tool",
    "context.after_tool_failure",
    "context.after_turn",
    "context.before_stop",
    "context.pre_compact",
];

/// Checks which of the checks that `only` selects a client with a defect breaks.
fn is_broken_at(defect: Defect, only: &str, expected: &[&str]) {
    if let Some(broken) = broken(defect, only) {
        assert_eq!(broken, expected, "{defect:?}");
    }
}

/// The option that tries every check.
const ALL: &str = "";

/// The checks of the scenarios in which hooks ask, guard by name, stand beside others, and say something.
const DECISIONS: &str = "--only ask,deny.tool,deny.mcp,deny.notice,deny.others,notice";

/// The checks of one session with calls, and of their results.
const CALLS: &str = "--only registered,deny,deny.parallel,deny.outside,rewrite,output,continue";

#[test]
fn without_a_defect_nothing_is_broken_and_nothing_is_left() {
    if own_process::plays(fake_claude::PART) {
        fake_claude::run();
    }
    let Some(installed) = with_client(None) else { return };
    let before = tree(&installed.home()).len();
    let output = prove(&installed, "--json").expect_code(0);
    let checks = checks(&output);
    let broken: Vec<_> = checks.iter().filter(|check| check["verdict"] == "BROKEN").collect();
    assert!(broken.is_empty(), "{broken:?}");
    assert!(checks.iter().filter(|check| check["verdict"] == "yes").count() > 20, "{output}");
    let stored = ".local/state/tenter/bridge/proofs/claude-code/2.1.330.json";
    assert!(installed.home().join(stored).is_file());
    let new = tree(&installed.home()).len() - before;
    assert!(new <= 10, "only the result is kept: {:?}", tree(&installed.home()));
    assert!(!installed.project().join(".claude").exists());
    nothing_runs_in(&installed);
    let table = prove(&installed, "--only deny").expect_code(0);
    assert!(table.stdout.contains("yes       a deny denies"), "{table}");
    assert!(table.stdout.contains(" 0 BROKEN"), "{table}");
}

#[test]
fn a_client_that_fires_nothing_is_broken() {
    let Some(broken) = broken(Defect::FiresNothing, ALL) else { return };
    // Its own sandbox needs no hooks.
    let ids = Check::all().into_iter().map(Check::id);
    assert_eq!(broken, ids.filter(|id| id != "sandbox").collect::<Vec<_>>());
}

#[test]
fn a_client_whose_sandbox_does_not_hold_or_lets_no_command_run_is_broken() {
    let only = "--json --only sandbox";
    for (defect, code, verdict, evidence) in [
        (Some(Defect::IgnoresSandbox), 1, "BROKEN", "sandbox-outside.txt was made"),
        (Some(Defect::SandboxFails), 1, "BROKEN", "unknown cap: CAP_SETFCAP"),
        (None, 0, "yes", "sandbox-inside.txt was made"),
    ] {
        let Some(installed) = with_client(defect) else { return };
        let output = prove(&installed, only).expect_code(code);
        let check = &checks(&output)[0];
        assert_eq!(check["verdict"], verdict, "{output}");
        assert!(check["evidence"].as_str().unwrap().contains(evidence), "{output}");
    }
}

#[test]
fn a_client_that_ignores_denials_is_broken() {
    // The program that runs commands confines them, whatever the client makes of an answer.
    let denials = DENIALS.iter().filter(|id| **id != "confined").copied();
    is_broken_at(Defect::IgnoresDeny, ALL, &denials.chain(["twice"]).collect::<Vec<_>>());
}

#[test]
fn a_client_that_runs_a_tool_before_its_hooks_have_answered_is_broken() {
    let before = ["registered", "fires.subagent_stop"];
    let (calls, failures) = DENIALS[1..].split_at(10);
    let (rules, failures) = failures.split_at(2);
    let all = [&before[..], calls, &["rewrite"], rules, failures, &["twice"]].concat();
    let Some(mut broken) = broken(Defect::RunsFirst, ALL) else { return };
    // Where the machine is too slow to list changes, hooks read that, and the check holds.
    broken.retain(|id| id != "changed");
    assert_eq!(broken, all);
}

#[test]
fn a_client_that_drops_contexts_is_broken() {
    let only = format!("{CALLS},ask,deny.notice,{}", CONTEXTS.join(","));
    is_broken_at(Defect::DropsContext, &only, &[&["deny.notice"], CONTEXTS].concat());
    let calls = ["registered", "deny", "deny.parallel", "deny.outside", "ask"];
    is_broken_at(Defect::ReadsFirstLine, &only, &[&calls[..], CONTEXTS].concat());
}

#[test]
fn a_client_that_does_not_do_one_thing_is_broken_at_that() {
    let subagents = ["fires.subagent_stop", "deny.subagent"];
    let fires = format!("{CALLS},fires.before_tool,resume,{}", subagents.join(","));
    let prompts = format!("{CALLS},prompt");
    for (defect, only, expected) in [
        (Defect::IgnoresRewrite, CALLS, &["rewrite"][..]),
        (Defect::IgnoresOutput, CALLS, &["output"]),
        (Defect::DoesNotContinue, &prompts, &["continue"]),
        (Defect::IgnoresRejection, &prompts, &["prompt"]),
        (Defect::FiresTwice, &fires, &["fires.before_tool", "resume"]),
        (Defect::SkipsSubagents, &fires, &subagents),
        (Defect::IgnoresAsk, DECISIONS, &["ask"]),
        (Defect::NoticeVoidsAnswer, DECISIONS, &["deny.notice"]),
        (Defect::HidesNotices, DECISIONS, &["notice"]),
        (Defect::RunsFirstHookOnly, DECISIONS, &["deny.others"]),
        (Defect::SkipsMcp, DECISIONS, &["deny.mcp"]),
        (Defect::NamesToolsAlike, DECISIONS, &["deny.tool", "deny.mcp"]),
    ] {
        is_broken_at(defect, only, expected);
    }
}

/// A fenced block of the page about CI: the one below the comment that names its file.
fn ci_file(name: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ci.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, block) = page.split_once(&format!("<!-- test: file {name} -->\n")).unwrap();
    let (_, block) = block.split_once('\n').unwrap();
    block.split_once("```\n").unwrap().0.to_owned()
}

#[test]
fn the_pipeline_on_the_page_about_ci_passes_and_fails_as_it_says() {
    for (defect, code) in [(None, 0), (Some(Defect::IgnoresRewrite), 1)] {
        let Some(installed) = with_client(defect) else { return };
        installed.write("ci/prove.sh", ci_file("ci/prove.sh"));
        let pinned = installed.project().join("ci/agents/node_modules/.bin");
        fs::create_dir_all(&pinned).unwrap();
        let client = installed.bin.path().join("claude");
        copy(&client, &pinned.join("claude"));
        fs::remove_file(client).unwrap();
        // Other tests prove all checks.
        let tenter = installed.bin.path().join("tenter");
        let few = format!("#!/bin/sh\nexec {} \"$@\" --only rewrite,deny\n", tenter.display());
        fs::write(pinned.join("tenter"), few).unwrap();
        fs::set_permissions(pinned.join("tenter"), fs::Permissions::from_mode(0o755)).unwrap();
        let output = installed.shell("sh ci/prove.sh").expect_code(code);
        assert!(output.stdout.contains("Claude Code 2.1.330, proved in"), "{output}");
        let is_broken = output.stdout.contains("BROKEN    a call is rewritten");
        assert_eq!(is_broken, code == 1, "{output}");
        fs::remove_dir_all(&pinned).unwrap();
        let missing = installed.shell("sh ci/prove.sh").expect_code(1);
        assert!(missing.stdout.contains("Claude Code is not installed"), "{missing}");
    }
    let workflow = ci_file(".github/workflows/prove.yml");
    for line in workflow.lines().filter(|line| line.contains("run: ") && line.contains("tenter")) {
        assert!(line.contains("cargo install"), "every call of tenter is in the script: {line}");
    }
    let package: Value = serde_json::from_str(&ci_file("ci/agents/package.json")).unwrap();
    let host = tenter_bridge::hosts::find("claude-code").unwrap();
    let pinned = &package["dependencies"]["@anthropic-ai/claude-code"];
    assert_eq!(pinned.as_str(), host.measured_version);
}

/// Every file and directory below a directory.
fn tree(directory: &Path) -> Vec<String> {
    let mut matches = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        matches.push(entry.path().display().to_string());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            matches.extend(tree(&entry.path()));
        }
    }
    matches
}

/// No process has a working directory or an environment in a scratch directory of the sandbox's runs.
fn nothing_runs_in(installed: &Installed) {
    let marker = installed.bin.path().display().to_string();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        let environment = String::from_utf8_lossy(&environment).into_owned();
        let is_scratch = environment.contains("tenter-prove-") && environment.contains(&marker);
        assert!(!is_scratch, "{} runs: {environment}", process.path().display());
    }
}

#[test]
fn a_client_that_is_missing_crashes_or_hangs_is_reported_at_once() {
    let installed = Installed::new();
    let missing = installed.run(&["bridge", "prove", "claude-code"]).expect_code(1);
    assert!(missing.stderr.contains("Claude Code is not installed"), "{missing}");

    for (script, why) in [
        ("echo no such model\nexit 3\n", ["exited with code 3", "no such model"]),
        ("kill -SEGV $$\n", ["ended by signal 11", "did not read"]),
        ("echo thinking\nsleep 1000 & sleep 1000\n", ["did not end within 1 s", "thinking"]),
        ("yes flood\n", ["wrote more than 32 MiB", "flood"]),
    ] {
        let version = "[ \"$1\" = --version ] && exec echo 2.1.330";
        installed.program("claude", &format!("#!/bin/sh\n{version}\n{script}"));
        let output = prove(&installed, "--json --only deny --timeout 1").expect_code(1);
        let deny = checks(&output).into_iter().find(|check| check["id"] == "deny").unwrap();
        let evidence = deny["evidence"].as_str().unwrap();
        assert!(why.iter().all(|why| evidence.contains(why)), "{script}: {evidence}");
        nothing_runs_in(&installed);
    }
}

/// Installs for a client, and returns the output and the settings.
fn install(defect: Option<Defect>, options: &str) -> Option<(Output, String)> {
    let installed = with_client(defect)?;
    fs::create_dir(installed.home().join(".claude")).unwrap();
    fs::write(installed.settings(), "{}\n").unwrap();
    let output = installed.shell(&format!("tenter bridge install claude-code --yes {options}"));
    nothing_runs_in(&installed);
    Some((output, installed.text()))
}

#[test]
fn an_installation_is_tried_before_it_is_made() {
    let Some((output, settings)) = install(None, "") else { return };
    let output = output.expect_code(0);
    assert!(output.stdout.contains("It reads the registration"), "{output}");
    assert!(settings.contains("PreToolUse"), "{settings}");
}

#[test]
fn a_client_that_does_not_obey_the_registration_keeps_its_settings() {
    for defect in [Defect::FiresNothing, Defect::IgnoresDeny] {
        let Some((output, settings)) = install(Some(defect), "") else { return };
        let output = output.expect_code(1);
        assert!(output.stdout.contains("does not obey the registration"), "{output}");
        assert_eq!(settings, "{}\n", "{defect:?}");
        let Some((output, settings)) = install(Some(defect), "--no-check") else { return };
        assert!(settings.contains("PreToolUse"), "{output}");
    }
}

#[test]
fn fail_closed_is_tried_too() {
    let defect = Some(Defect::IgnoresSwitch);
    let Some((output, settings)) = install(defect, "--fail-closed") else { return };
    let output = output.expect_code(1);
    assert!(output.stdout.contains("with --fail-closed"), "{output}");
    assert_eq!(settings, "{}\n");
    let Some((output, _)) = install(defect, "") else { return };
    let _ = output.expect_code(0);
    let Some((output, _)) = install(None, "--fail-closed") else { return };
    let _ = output.expect_code(0);
}

#[test]
fn single_checks_can_be_proved() {
    let Some(installed) = with_client(None) else { return };
    let output = prove(&installed, "--json --only registered,missing").expect_code(0);
    let ids: Vec<Value> = checks(&output).iter().map(|check| check["id"].clone()).collect();
    assert_eq!(ids, ["registered", "missing"]);
    assert!(!installed.state().join("bridge/proofs").exists(), "nothing is kept");
    let unknown = prove(&installed, "--only registred; cat ../stderr").expect_code(0);
    assert!(unknown.stdout.contains("did you mean `registered`?"), "{unknown}");
}

/// Nothing is written to the machine: `/etc` is mounted anew for the proof.
#[test]
fn a_client_whose_user_disables_managed_hooks_is_broken() {
    let Some(installed) = with_client(None) else { return };
    let before = fs::read_dir("/etc").unwrap().count();
    let output = prove(&installed, "--managed --json");
    let stderr = fs::read_to_string(installed.project().join("../stderr")).unwrap();
    if stderr.contains("not tried") {
        needs::skipped("mounts", "this system lets no process have mounts of its own");
        return;
    }
    let checks = checks(&output.expect_code(0));
    assert_eq!(checks[0]["id"], "managed");
    assert_eq!(checks[0]["verdict"], "yes", "{checks:?}");
    assert!(checks[0]["evidence"].as_str().unwrap().contains("with `disableAllHooks`"));
    assert_eq!(fs::read_dir("/etc").unwrap().count(), before);
    assert!(!installed.state().join("bridge/proofs").exists(), "nothing is kept");
    let broken = broken(Defect::UserDisablesManaged, "--managed").unwrap();
    assert_eq!(broken, ["managed"]);
    let broken = self::broken(Defect::FiresNothing, "--managed").unwrap();
    assert_eq!(broken, ["managed"]);
}

/// Without `unshare`, a process cannot get mounts of its own: the machine stays as it is.
#[test]
fn the_managed_registration_is_not_tried_without_mounts_of_its_own() {
    let Some(installed) = with_client(None) else { return };
    installed.program("unshare", "#!/bin/sh\nexit 1\n");
    for isolated in ["", "TENTER_PROVE_ISOLATED=mnt:[1] "] {
        let command = format!("{isolated}tenter bridge prove claude-code --managed");
        let output = installed.shell(&command).expect_code(1);
        assert!(output.stdout.contains("not tried"), "{output}");
    }
}
