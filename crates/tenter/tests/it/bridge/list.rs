//! Registrations, and the powers of hooks: `list`, `show` and `hooks doctor`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::{fs, thread};

use serde_json::{Value, json};
use tenter_bridge::keeper::{ControlLine, KeeperPlace, KeeperStatus, KeptHook};
use tenter_testkit::{assert_fields, wait_until};

use super::Installed;

#[test]
fn agents_are_listed_with_version_and_registrations() {
    let sandbox = Installed::new();
    let output = sandbox.run("bridge list").expect_code(0);
    let first = "claude-code  Claude Code  not found  not registered\n";
    assert!(output.stdout.starts_with(first), "{output}");

    sandbox.program("claude", "#!/bin/sh\necho '2.1.330 (Claude Code)'\n");
    let _ = sandbox.shell("tenter bridge install claude-code --yes --no-check").expect_code(0);
    let output = sandbox.shell("tenter bridge list").expect_code(0);
    let file = sandbox.settings().display().to_string();
    let expected = format!("claude-code  Claude Code  2.1.330  registered\n  user      {file}\n");
    assert!(output.stdout.starts_with(&expected), "{output}");

    let list = sandbox.shell("tenter bridge list --json").expect_code(0).json();
    assert_eq!(list[0]["version"], "2.1.330");
    let registration = json!({"scope": "user", "file": file, "events": 13, "complete": true});
    assert_eq!(list[0]["registrations"], json!([registration]));

    fs::write(sandbox.settings(), sandbox.text().replace("\"PreToolUse\"", "\"PreTool\"")).unwrap();
    sandbox.prints("bridge list", "incomplete: run `tenter bridge install");
}

#[test]
fn a_keeper_is_listed_with_the_hooks_that_it_keeps() {
    let sandbox = Installed::new();
    let runtime = sandbox.root().join("run");
    fs::create_dir(&runtime).unwrap();
    let directories = [runtime.join("tenter")];
    let (project, state) = (sandbox.project(), sandbox.state());
    let place = KeeperPlace::find(&directories, (&project, &state), "build").unwrap();
    let listener = UnixListener::bind(place.socket()).unwrap();
    let hook = KeptHook {
        hook: "guard".into(),
        layer: "user".into(),
        since: "2026-03-01T09:30:00Z".into(),
        answered: 2,
    };
    let project = project.display().to_string();
    let since = "2026-03-01T09:30:00Z".to_owned();
    let status = KeeperStatus { pid: 7, project: project.clone(), since, hooks: vec![hook] };
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = BufReader::new(&stream).read_line(&mut String::new());
            let _ = stream.write_all(&ControlLine::Kept(status.clone()).to_line());
        }
    });
    let list = |options: &str| {
        let line = format!("XDG_RUNTIME_DIR={} tenter bridge list {options}", runtime.display());
        sandbox.shell(&line).expect_code(0)
    };
    // A keeper has half a second to answer.
    wait_until("the keeper is listed", || list("").stdout.contains("  guard  user, 2 events"));
    let mut listing = Value::Null;
    wait_until("the keeper answers again", || {
        listing = list("--json").json();
        listing.as_array().unwrap().iter().any(|host| host["id"] == "keeper")
    });
    let keeper = listing.as_array().unwrap().last().unwrap();
    assert_eq!((&keeper["id"], &keeper["registrations"]), (&json!("keeper"), &json!([])));
    let expected =
        json!({"hook": "guard", "layer": "user", "since": "2026-03-01T09:30:00Z", "answered": 2});
    assert_fields(keeper, &json!({"keeper": {"hooks": [expected], "project": project}}));
}

#[test]
fn a_program_that_fails_has_no_version() {
    let sandbox = Installed::new();
    sandbox.program("claude", "#!/bin/sh\necho 1.2.3\nexit 1\n");
    sandbox.shell("tenter bridge list").prints("version unknown");
}

/// Some agents unpack hundreds of megabytes or write files when they are run.
#[test]
fn a_program_is_run_for_its_version_once_at_most_and_in_a_scratch_home() {
    let sandbox = Installed::new();
    let runs = sandbox.root().join("runs");
    let script = format!(
        "#!/bin/sh\necho \"$HOME\" >> {}\ntouch \"$HOME/cache\"\necho 2.1.329\n",
        runs.display()
    );
    sandbox.program("claude", &script);
    let version = || {
        let list = sandbox.shell("tenter bridge list --json").expect_code(0).json();
        list[0]["version"].as_str().unwrap().to_owned()
    };
    assert_eq!((version(), version()), ("2.1.329".to_owned(), "2.1.329".to_owned()));
    let homes = fs::read_to_string(&runs).unwrap();
    assert_eq!(homes.lines().count(), 1, "it is remembered: {homes}");
    assert!(!homes.contains(sandbox.home().to_str().unwrap()), "{homes}");
    assert!(!sandbox.home().join("cache").exists());

    sandbox.program("claude", &script.replace("2.1.329", "2.1.330"));
    assert_eq!(version(), "2.1.330", "a changed program is run again");

    let package = r#"{"version": "2.1.331", "bin": {"claude": "claude"}}"#;
    sandbox.program("package.json", package);
    assert_eq!(version(), "2.1.331", "a package states its version");
    assert_eq!(fs::read_to_string(&runs).unwrap().lines().count(), 2);
}

#[test]
fn what_hooks_can_do_is_shown_for_each_event() {
    let sandbox = Installed::new();
    sandbox.sh_hook("history", "after_turn", "");
    let output = sandbox.run("bridge show claude-code").expect_code(0);
    for line in [
        "Claude Code (measured with 2.1.332)",
        "  before_tool         PreToolUse, PreSkillShellCommand",
        "    rewrite the input   native",
        "    rewrite the message unsupported",
        "    feed back           emulated: given to the model with the next prompt",
        "  Files that a message mentions as `@file` are read without a tool call.",
        "  history: at after_turn it cannot mutate or callback",
    ] {
        assert!(output.stdout.lines().any(|json| json == line), "{line}\n{output}");
    }
    let json = sandbox.run("bridge show claude-code --json").expect_code(0).json();
    assert_eq!(json["events"].as_array().unwrap().len(), 13);
    assert_eq!(json["events"][2]["powers"][0]["support"], "native");
    assert_eq!(json["hooks"][0]["hook"], "history");
    let _ = sandbox.run("bridge show emacs").expect_code(2);
}

#[test]
fn in_the_home_directory_a_registration_is_found_once() {
    let sandbox = Installed::new();
    for id in ["claude-code", "codex", "gemini", "qwen"] {
        let _ = sandbox.run(["bridge", "install", id, "--yes", "--no-check"]).expect_code(0);
    }
    let doctor = sandbox.shell("cd \"$HOME\" && tenter hooks doctor --json").expect_code(0);
    let findings = doctor.json();
    let bridge_findings = findings.as_array().unwrap().iter().filter(|finding| {
        let id = finding["id"].as_str().unwrap();
        id == "bridge-twice" || id == "bridge-incomplete"
    });
    assert_eq!(bridge_findings.count(), 0, "{findings}");
}

#[test]
fn the_doctor_finds_registrations_that_do_not_work() {
    let sandbox = Installed::new();
    let ids = || {
        let findings = sandbox.run("hooks doctor --json").json();
        let findings = findings.as_array().unwrap().iter();
        let ids: Vec<String> =
            findings.map(|finding| finding["id"].as_str().unwrap().to_owned()).collect();
        ids.into_iter().filter(|id| id.starts_with("bridge-")).collect::<Vec<_>>()
    };
    assert!(ids().is_empty());
    let _ = sandbox.run("bridge install claude-code --yes").expect_code(0);
    assert!(ids().is_empty());

    let _ = sandbox.run("bridge install claude-code --project --shared --yes").expect_code(0);
    assert_eq!(ids(), ["bridge-twice"]);
    let _ = sandbox.run("bridge remove claude-code --project --yes").expect_code(0);

    let _ = sandbox.write(".claude/settings.local.json", "{\"disableAllHooks\": true}");
    assert_eq!(ids(), ["bridge-silenced"]);
    fs::remove_dir_all(sandbox.project().join(".claude")).unwrap();

    let text = sandbox.text();
    fs::write(sandbox.settings(), text.replacen("600", "5", 1)).unwrap();
    assert_eq!(ids(), ["bridge-timeout"]);
    fs::write(sandbox.settings(), text.replacen("claude-code Stop", "claude-code Sotp", 1))
        .unwrap();
    assert_eq!(ids(), ["bridge-incomplete"]);
    fs::write(sandbox.settings(), "{}").unwrap();
    assert_eq!(ids(), ["bridge-missing"]);
    fs::write(sandbox.settings(), "{").unwrap();
    assert_eq!(ids(), [""; 0]);
    let _ = sandbox.run("hooks doctor").expect_code(1);

    fs::write(sandbox.settings(), &text).unwrap();
    let transcript = sandbox.home().join(".claude/projects/shop/session.jsonl");
    fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    let transcript = fs::File::create(transcript).unwrap();
    assert!(ids().is_empty());
    let later = transcript.metadata().unwrap().modified().unwrap();
    let later = later + std::time::Duration::from_hours(1);
    transcript.set_modified(later).unwrap();
    assert_eq!(ids(), ["bridge-no-events"]);
    let last_event = sandbox.home().join(".local/state/tenter/bridge/last-event-claude-code");
    let last_event = fs::File::create(last_event).unwrap();
    last_event.set_modified(later).unwrap();
    assert!(ids().is_empty());
    let list = sandbox.run("bridge list").expect_code(0);
    assert!(list.stdout.contains("registered, last event 2"), "{list}");

    let program = sandbox.program("claude", "#!/bin/sh\necho '2.1.331 (Claude Code)'\n");
    let findings = sandbox.shell("tenter hooks doctor");
    assert!(findings.stdout.contains("Claude Code 2.1.331 is not proved yet"), "{findings}");
    fs::remove_file(program).unwrap();

    // A launcher that the copy lacks, that does not start, and that is renewed.
    let version = env!("CARGO_PKG_VERSION");
    sandbox.program("tenter-launch", &format!("#!/bin/sh\necho tenter-launch {version}\n"));
    let copy = sandbox.home().join(".local/share/tenter/bin/tenter-launch");
    assert_eq!(ids(), ["bridge-launcher"]);
    let _ = sandbox.run("bridge renew").expect_code(0);
    assert!(ids().is_empty());
    fs::write(&copy, [0, 1]).unwrap();
    assert_eq!(ids(), ["bridge-launcher"]);
    sandbox.warns("bridge list", "the launcher of confined commands cannot be");
    let _ = sandbox.run("bridge renew").expect_code(0);
    assert!(ids().is_empty());

    fs::remove_file(sandbox.home().join(".local/share/tenter/bin/tenter-hook")).unwrap();
    assert_eq!(ids(), ["bridge-program-missing"]);
    let _ = sandbox.run("hooks doctor").expect_code(1);
}
