//! Kept proofs: `list`, `show`, `hooks doctor` and the page about agents. What `prove` itself does needs an agent.

use std::fs;
use tenter_testkit::assert_contains;

use serde_json::json;

use super::Installed;

/// Keeps a proof of Claude Code 2.1.330, as `prove` writes it.
fn keep_proof(sandbox: &Installed, verdict: &str) {
    let check = json!({
        "id": "deny",
        "proves": "a deny denies, the model reads why",
        "verdict": verdict,
        "evidence": "denied.txt was not made",
    });
    let proof = json!({
        "format": 1,
        "agent": "claude-code",
        "version": "2.1.330",
        "proved_at": "2026-11-22T18:00:00Z",
        "tenter": "0.1.0",
        "isolated": true,
        "checks": [check],
    });
    let file = "../home/.local/state/tenter/bridge/proofs/claude-code/2.1.330.json";
    sandbox.write(file, proof.to_string());
}

fn installed() -> Installed {
    let sandbox = Installed::new();
    sandbox.program("claude", "#!/bin/sh\necho '2.1.330 (Claude Code)'\n");
    let _ = sandbox.shell("tenter bridge install claude-code --yes --no-check").expect_code(0);
    sandbox
}

#[test]
fn listings_say_what_was_proved_last() {
    let sandbox = installed();
    keep_proof(&sandbox, "yes");
    let list = sandbox.shell("tenter bridge list").expect_code(0);
    assert!(list.stdout.contains("\n  proved    2.1.330, 2026-11-22 18:00:00\n"), "{list}");
    let output = sandbox.shell("tenter bridge show claude-code").expect_code(0);
    assert!(output.stdout.contains("\n  proved with 2.1.330, 2026-11-22 18:00:00\n"), "{output}");
    let output = sandbox.shell("tenter bridge show claude-code --json").expect_code(0).json();
    assert_eq!(output["proved"]["checks"][0]["verdict"], "yes");

    keep_proof(&sandbox, "BROKEN");
    let listing = sandbox.shell("tenter bridge list --json").expect_code(0).json();
    let proved = json!({"version": "2.1.330", "at": "2026-11-22T18:00:00Z", "broken": 1});
    assert_eq!(listing[0]["proved"], proved);
}

#[test]
fn the_doctor_reports_a_version_that_is_not_proved_or_broken() {
    let sandbox = installed();
    let doctor = || sandbox.shell("tenter hooks doctor").stdout;
    let unproved = doctor();
    assert_contains(
        &unproved,
        &[
            "Claude Code 2.1.330 is not proved yet on this machine",
            "run `tenter bridge prove claude-code`",
        ],
    );
    keep_proof(&sandbox, "emulated");
    assert!(!doctor().contains("prove"), "{}", doctor());
    keep_proof(&sandbox, "BROKEN");
    assert!(doctor().contains("does not do what it should in 1 checks"), "{}", doctor());
}

#[test]
fn the_doctor_reports_events_that_the_installed_version_does_not_know() {
    let sandbox = installed();
    let doctor = || sandbox.shell("tenter hooks doctor").stdout;
    assert!(!doctor().contains("registered events"), "{}", doctor());
    sandbox.program("claude", "#!/bin/sh\necho '2.1.17 (Claude Code)'\n");
    let words = "Claude Code 2.1.17 knows only 10 of the 13 registered events";
    assert!(doctor().contains(words), "{}", doctor());
    let install = "tenter bridge install claude-code --yes --no-check";
    let _ = sandbox.shell(install).expect_code(0);
    assert!(!doctor().contains("registered events"), "{}", doctor());
    sandbox.program("claude", "#!/bin/sh\necho '2.1.118 (Claude Code)'\n");
    let words = "Claude Code 2.1.118 knows 13 events, and 10 are registered";
    assert!(doctor().contains(words), "{}", doctor());
}

#[test]
fn a_denied_call_that_ran_is_reported_in_the_words_of_a_proof_until_the_next_proof() {
    let sandbox = installed();
    keep_proof(&sandbox, "yes");
    let breach = json!({"at": "2026-11-23T09:00:00Z", "tool": "Bash", "session": "s-1"});
    let file = sandbox.state().join("bridge/last-breach-claude-code.json");
    fs::write(&file, breach.to_string()).unwrap();
    let words = "BROKEN: a deny denies, the model reads why: Claude Code ran a call of Bash that a hook had denied";
    let list = sandbox.shell("tenter bridge list").expect_code(0);
    assert!(list.stdout.contains(&format!("  {words}, 2026-11-23 09:00:00\n")), "{list}");
    let listing = sandbox.shell("tenter bridge list --json").expect_code(0).json();
    assert_eq!(listing[0]["breach"]["message"], words);
    let doctor = sandbox.shell("tenter hooks doctor").expect_code(1);
    assert!(doctor.stdout.contains(&format!("{words} in the session s-1")), "{doctor}");
    assert!(doctor.stdout.contains("run `tenter bridge prove claude-code`"), "{doctor}");

    fs::write(&file, breach.to_string().replace("11-23", "11-21")).unwrap();
    let listing = sandbox.shell("tenter bridge list").expect_code(0);
    assert!(!listing.stdout.contains("BROKEN"), "{listing}");
    let _ = sandbox.shell("tenter hooks doctor").expect_code(0);
}

#[test]
fn an_agent_that_cannot_be_run_is_not_proved() {
    let sandbox = Installed::new();
    let _ = sandbox.run("bridge prove").expect_code(2);
    let _ = sandbox.run("bridge prove emacs").expect_code(2);
    for (agent, why) in
        [("claude-code", "is not installed"), ("goose", "cannot run Goose without a terminal")]
    {
        sandbox.fails(1, ["bridge", "prove", agent], why);
    }
}

#[test]
fn the_pages_get_the_kept_proofs_and_keep_what_they_have_of_others() {
    let sandbox = Installed::new();
    keep_proof(&sandbox, "yes");
    let page = |table: &str| {
        format!("# Agents\n\n<!-- proved: begin -->\n{table}<!-- proved: end -->\n\nThe rest.\n")
    };
    let earlier =
        "| check | `codex` |\n| --- | --- |\n| version | 0.129.0 |\n| date | 2026-11-01 |\n";
    let agents = sandbox.write("docs/hosts.md", page(earlier));
    let earlier = "| `codex` | 0.129.0 | 2026-11-01 | 33 | 6 | 2 | none |";
    let bridge = sandbox.write("docs/bridge.md", page(&format!("{earlier}\n")));
    let _ = sandbox.run("bridge prove --all --write-docs").expect_code(0);
    let (agents, bridge) =
        (fs::read_to_string(agents).unwrap(), fs::read_to_string(bridge).unwrap());
    for line in [
        "| version | 2.1.330 | 0.129.0 |",
        "| a deny denies, the model reads why | yes |  |",
        "The rest.",
    ] {
        assert!(agents.lines().any(|one| one == line), "{line}\n{agents}");
    }
    for line in [earlier, "The rest."] {
        assert!(bridge.lines().any(|one| one == line), "{line}\n{bridge}");
    }
    assert!(bridge.contains("| `claude-code` | 2.1.330 |"), "{bridge}");
}
