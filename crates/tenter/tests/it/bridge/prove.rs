//! `tenter bridge prove`, with clients that work and clients that have defects.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;
use tenter_prove::Check;
use tenter_testkit::fake_claude::{self, Defect};
use tenter_testkit::{Output, assert_contains, needs, own_process};

use super::{Installed, copy};

/// Returns a sandbox with the real `tenter-hook` and a client; `None` if `tenter-hook` is not built.
fn with_client(defects: &[Defect]) -> Option<Installed> {
    let hook = Path::new(env!("CARGO_BIN_EXE_tenter")).with_file_name("tenter-hook");
    if !hook.is_file() {
        needs::skipped("tenter-hook", "tenter-hook is not built");
        return None;
    }
    let host = Installed::new();
    let link = host.bin.path().join("tenter-hook");
    fs::remove_file(&link).unwrap();
    if fs::hard_link(&hook, &link).is_err() {
        copy(&hook, &link);
    }
    let test = "bridge::prove::without_a_defect_nothing_is_broken_and_nothing_is_left";
    fake_claude::install(host.bin.path(), test, defects).unwrap();
    Some(host)
}

/// Runs a command whose scratch directories are beside the project.
fn run(host: &Installed, command: &str) -> Output {
    let directory = host.root().join("temporary");
    fs::create_dir_all(&directory).unwrap();
    host.shell(&format!("export TMPDIR={}\n{command}", directory.display()))
}

/// Proves the client; its stdout alone is the output.
fn prove(host: &Installed, options: &str) -> Output {
    run(host, &format!("tenter bridge prove claude-code {options} 2>../stderr"))
}

/// Returns the checks that were proved, and the output.
fn checks(output: &Output) -> Vec<Value> {
    let proofs = output.json();
    assert_eq!(proofs[0]["agent"], "claude-code", "{output}");
    proofs[0]["checks"].as_array().unwrap().clone()
}

/// Checks which of the checks that `options` select a client with these defects breaks.
fn are_broken(defects: &[Defect], options: &str, expected: &[&str]) {
    let Some(host) = with_client(defects) else { return };
    let output = prove(&host, &format!("--json {options}")).expect_code(1);
    let mut ids: Vec<String> = Vec::new();
    for check in checks(&output).into_iter().filter(|check| check["verdict"] == "BROKEN") {
        assert!(!check["evidence"].as_str().unwrap().is_empty(), "{check}");
        ids.push(check["id"].as_str().unwrap().to_owned());
    }
    // Where the machine is too slow to list changes, hooks read that, and the check holds.
    ids.retain(|id| id != "changed" || expected.contains(&"changed"));
    ids.sort_unstable();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(ids, expected, "{defects:?}");
}

/// The checks that need an answer before a call, but for `twice`.
const DENIALS: &[&str] = tenter_base::words!(
    "registered deny deny.exit-code deny.parallel deny.skill deny.outside deny.subagent ask
     deny.tool deny.mcp deny.notice deny.others rewrite.user-rule confined fails.hangs
     fails.crashes fails.garbage deadline"
);

const CONTEXTS: &[&str] = tenter_base::words!(
    "context.session_start context.before_agent context.before_tool context.after_tool
     context.after_tool_failure context.after_turn context.before_stop context.pre_compact"
);

#[test]
fn without_a_defect_nothing_is_broken_and_nothing_is_left() {
    if own_process::plays(fake_claude::PART) {
        fake_claude::run();
    }
    let Some(host) = with_client(&[]) else { return };
    let before = tree(&host.home()).len();
    let output = prove(&host, "--json").expect_code(0);
    let checks = checks(&output);
    let failures: Vec<_> = checks.iter().filter(|check| check["verdict"] == "BROKEN").collect();
    assert!(failures.is_empty(), "{failures:?}");
    assert!(checks.iter().filter(|check| check["verdict"] == "yes").count() > 20, "{output}");
    assert!(output.stdout.contains("sandbox-inside.txt was made"), "{output}");
    let file = ".local/state/tenter/bridge/proofs/claude-code/2.1.332.json";
    assert!(host.home().join(file).is_file());
    let new = tree(&host.home()).len() - before;
    assert!(new <= 10, "only the result is kept: {:?}", tree(&host.home()));
    assert!(!host.project().join(".claude").exists());
    nothing_runs_in(&host);
    let table = prove(&host, "--only deny").expect_code(0);
    assert_contains(&table.stdout, &["yes       a deny denies", " 0 BROKEN"]);
}

#[test]
fn a_client_that_fires_nothing_is_broken() {
    // Its own sandbox needs no hooks.
    let ids: Vec<String> = Check::all().into_iter().map(Check::id).collect();
    let others: Vec<&str> = ids.iter().map(String::as_str).filter(|id| *id != "sandbox").collect();
    are_broken(&[Defect::FiresNothing], "", &others);
}

#[test]
fn a_client_that_ignores_answers_or_fires_wrongly_is_broken() {
    // The program that runs commands confines them, whatever the client makes of an answer.
    let denials: Vec<&str> = DENIALS.iter().filter(|id| **id != "confined").copied().collect();
    let others = ["fires.before_tool", "fires.subagent_stop", "twice", "resume"];
    let defects =
        [Defect::IgnoresDeny, Defect::DropsContext, Defect::FiresTwice, Defect::SkipsSubagents];
    are_broken(&defects, "", &[&denials, CONTEXTS, &others].concat());
}

#[test]
fn a_client_that_runs_a_tool_before_its_hooks_have_answered_is_broken() {
    let others = ["fires.subagent_stop", "rewrite", "twice"];
    let defects = [Defect::RunsFirst, Defect::ReadsFirstLine];
    are_broken(&defects, "", &[DENIALS, CONTEXTS, &others].concat());
}

/// Each of these checks is broken by one of the defects, and no other check is.
#[test]
fn a_client_that_does_not_do_one_thing_is_broken_at_that() {
    for (defects, only, expected) in [
        (&[Defect::SkipsSubagents][..], "deny.subagent", &["deny.subagent"][..]),
        (&[Defect::DropsContext], "ask,deny.notice", &["deny.notice"]),
        (
            &[Defect::ReadsFirstLine],
            "deny,deny.exit-code,deny.parallel,deny.outside,rewrite,output,continue,ask,deny.notice",
            &["deny", "deny.parallel", "deny.outside", "ask"],
        ),
        (
            &[
                Defect::IgnoresRewrite,
                Defect::IgnoresOutput,
                Defect::DoesNotContinue,
                Defect::IgnoresRejection,
            ],
            "deny,deny.parallel,deny.outside,rewrite,output,prompt,continue",
            &["rewrite", "output", "prompt", "continue"],
        ),
        (
            &[
                Defect::IgnoresAsk,
                Defect::HidesNotices,
                Defect::RunsFirstHookOnly,
                Defect::SkipsMcp,
            ],
            "ask,deny.tool,deny.mcp,deny.notice,deny.others,notice",
            &["ask", "deny.mcp", "deny.others", "notice"],
        ),
        (
            &[Defect::NoticeVoidsAnswer, Defect::NamesToolsAlike],
            "ask,deny.tool,deny.mcp,deny.notice,notice",
            &["deny.tool", "deny.mcp", "deny.notice"],
        ),
    ] {
        are_broken(defects, &format!("--only {only}"), expected);
    }
}

#[test]
fn a_client_whose_sandbox_does_not_hold_or_lets_no_command_run_is_broken() {
    for (defect, evidence) in [
        (Defect::IgnoresSandbox, "sandbox-outside.txt was made"),
        (Defect::SandboxFails, "unknown cap: CAP_SETFCAP"),
    ] {
        let Some(host) = with_client(&[defect]) else { return };
        let output = prove(&host, "--json --only sandbox").expect_code(1);
        let check = &checks(&output)[0];
        assert_eq!(check["verdict"], "BROKEN", "{output}");
        assert!(check["evidence"].as_str().unwrap().contains(evidence), "{output}");
    }
}

/// Returns a fenced block of the page about CI: the one below the comment that names its file.
fn ci_file(name: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ci.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, block) = page.split_once(&format!("<!-- test: file {name} -->\n")).unwrap();
    let (_, block) = block.split_once('\n').unwrap();
    block.split_once("```\n").unwrap().0.to_owned()
}

#[test]
fn the_pipeline_on_the_page_about_ci_passes_and_fails_as_it_says() {
    for (defects, code) in [(&[][..], 0), (&[Defect::IgnoresRewrite], 1)] {
        let Some(bridge) = with_client(defects) else { return };
        bridge.write("ci/prove.sh", ci_file("ci/prove.sh"));
        let directory = bridge.project().join("ci/agents/node_modules/.bin");
        fs::create_dir_all(&directory).unwrap();
        let client = bridge.bin.path().join("claude");
        copy(&client, &directory.join("claude"));
        fs::remove_file(client).unwrap();
        // Other tests prove all checks.
        let tenter = bridge.bin.path().join("tenter");
        let few = format!("#!/bin/sh\nexec {} \"$@\" --only rewrite,deny\n", tenter.display());
        fs::write(directory.join("tenter"), few).unwrap();
        fs::set_permissions(directory.join("tenter"), fs::Permissions::from_mode(0o755)).unwrap();
        let output = run(&bridge, "sh ci/prove.sh").expect_code(code);
        assert!(output.stdout.contains("Claude Code 2.1.332, proved in"), "{output}");
        let is_broken = output.stdout.contains("BROKEN    a call is rewritten");
        assert_eq!(is_broken, code == 1, "{output}");
        fs::remove_dir_all(&directory).unwrap();
        let missing = run(&bridge, "sh ci/prove.sh").expect_code(1);
        assert!(missing.stdout.contains("Claude Code is not installed"), "{missing}");
    }
    let workflow = ci_file(".github/workflows/prove.yml");
    for line in workflow.lines().filter(|line| line.contains("run: ") && line.contains("tenter")) {
        assert!(line.contains("cargo install"), "every call of tenter is in the script: {line}");
    }
    let package: Value = serde_json::from_str(&ci_file("ci/agents/package.json")).unwrap();
    let host = tenter_bridge::hosts::find("claude-code").unwrap();
    let version = &package["dependencies"]["@anthropic-ai/claude-code"];
    assert_eq!(version.as_str(), host.measured_version);
}

/// Returns every file and directory below a directory.
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

/// Checks that no process has a working directory or an environment in a scratch directory of the sandbox's runs.
fn nothing_runs_in(host: &Installed) {
    let marker = host.bin.path().display().to_string();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        let environment = String::from_utf8_lossy(&environment).into_owned();
        let is_scratch = environment.contains("tenter-prove-") && environment.contains(&marker);
        assert!(!is_scratch, "{} runs: {environment}", process.path().display());
    }
}

#[test]
fn a_client_that_is_missing_crashes_or_hangs_is_reported_at_once() {
    let host = Installed::new();
    host.fails(1, "bridge prove claude-code", "Claude Code is not installed");

    for (script, why) in [
        ("echo no such model\nexit 3\n", ["exited with code 3", "no such model"]),
        ("kill -SEGV $$\n", ["ended by signal 11", "did not read"]),
        ("echo thinking\nsleep 1000 & sleep 1000\n", ["did not end within 1 s", "thinking"]),
        ("yes flood\n", ["wrote more than 32 MiB", "flood"]),
    ] {
        let version = "[ \"$1\" = --version ] && exec echo 2.1.332";
        host.program("claude", &format!("#!/bin/sh\n{version}\n{script}"));
        let output = prove(&host, "--json --only deny --timeout 1").expect_code(1);
        let deny = checks(&output).into_iter().find(|check| check["id"] == "deny").unwrap();
        let evidence = deny["evidence"].as_str().unwrap();
        assert!(why.iter().all(|why| evidence.contains(why)), "{script}: {evidence}");
        nothing_runs_in(&host);
    }
}

#[test]
fn an_installation_is_tried_before_it_is_made() {
    for (defects, options, code, text) in [
        (&[][..], "", 0, "It reads the registration"),
        (&[], "--fail-closed", 0, "It reads the registration"),
        (&[Defect::FiresNothing], "", 1, "does not obey the registration"),
        (&[Defect::IgnoresDeny], "", 1, "does not obey the registration"),
        (&[Defect::IgnoresDeny], "--no-check", 0, ""),
        (&[Defect::IgnoresSwitch], "--fail-closed", 1, "with --fail-closed"),
        (&[Defect::IgnoresSwitch], "", 0, "It reads the registration"),
    ] {
        let Some(host) = with_client(defects) else { return };
        host.write("../home/.claude/settings.json", "{}\n");
        let command = format!("tenter bridge install claude-code --yes {options}");
        let output = run(&host, &command).expect_code(code);
        nothing_runs_in(&host);
        assert!(output.stdout.contains(text), "{defects:?} {options}: {output}");
        let is_unchanged = host.text() == "{}\n";
        assert_eq!((is_unchanged, host.text().contains("PreToolUse")), (code == 1, code == 0));
    }
}

#[test]
fn single_checks_can_be_proved() {
    let Some(host) = with_client(&[]) else { return };
    let output = prove(&host, "--json --only registered,missing").expect_code(0);
    let ids: Vec<Value> = checks(&output).iter().map(|check| check["id"].clone()).collect();
    assert_eq!(ids, ["registered", "missing"]);
    assert!(!host.state().join("bridge/proofs").exists(), "nothing is kept");
    prove(&host, "--only registred; cat ../stderr").prints("did you mean `registered`?");
}

/// Nothing is written to the machine: `/etc` is mounted anew for the proof.
#[test]
fn a_client_whose_user_disables_managed_hooks_is_broken() {
    let Some(host) = with_client(&[]) else { return };
    let before = fs::read_dir("/etc").unwrap().count();
    let output = prove(&host, "--managed --json");
    let stderr = fs::read_to_string(host.project().join("../stderr")).unwrap();
    if stderr.contains("not tried") {
        needs::skipped("mounts", "this system lets no process have mounts of its own");
        return;
    }
    let checks = checks(&output.expect_code(0));
    assert_eq!(checks[0]["id"], "managed");
    assert_eq!(checks[0]["verdict"], "yes", "{checks:?}");
    assert!(checks[0]["evidence"].as_str().unwrap().contains("with `disableAllHooks`"));
    assert_eq!(fs::read_dir("/etc").unwrap().count(), before);
    assert!(!host.state().join("bridge/proofs").exists(), "nothing is kept");
    for defect in [Defect::UserDisablesManaged, Defect::FiresNothing] {
        are_broken(&[defect], "--managed", &["managed"]);
    }
}

/// Without `unshare`, a process cannot get mounts of its own: the machine stays as it is.
#[test]
fn the_managed_registration_is_not_tried_without_mounts_of_its_own() {
    let Some(host) = with_client(&[]) else { return };
    host.program("unshare", "#!/bin/sh\nexit 1\n");
    for isolated in ["", "TENTER_PROVE_ISOLATED=mnt:[1] "] {
        let command = format!("{isolated}tenter bridge prove claude-code --managed");
        let output = host.shell(&command).expect_code(1);
        assert!(output.stdout.contains("not tried"), "{output}");
    }
}
