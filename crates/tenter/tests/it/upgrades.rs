//! Upgrades: the state that each release wrote is kept in `releases/`, and the present program works with it.
//!
//! Before a release, record its state: `cargo test -p tenter --test it -- --ignored record_the_state_of_this_release`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tenter_testkit::{Sandbox, copy_directory_with};

use crate::bridge::Installed;

/// The place of the sandbox in recorded text.
const ROOT: &str = "[ROOT]";
/// The directory of the installed programs in recorded text.
const BIN: &str = "[BIN]";
const DATABASE: &str = "home/.local/state/tenter/conversations.db";
const HOOK: &str = ".agents/hooks/no-rm/HOOK.md";
const MANIFEST: &str = "---
name: no-rm
description: Denies rm.
trigger: before_tool
matcher: {tool: bash, pattern: \"rm notes\"}
metadata: {action: deny, reason: notes stay}
---
";
const SETTINGS: &str = "{\n  \"model\": \"opus\"\n}\n";

fn releases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/releases")
}

#[test]
fn the_state_of_every_release_is_used() {
    let mut names: Vec<PathBuf> =
        fs::read_dir(releases()).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    assert!(!names.is_empty());
    for release in names {
        let sandbox = Installed::new();
        install_state(&release, &sandbox);
        conversations_continue(&sandbox);
        trust_holds_until_the_hook_changes(&sandbox);
        guards_keep_their_settings(&sandbox);
        registrations_can_be_removed(&sandbox);
    }
}

fn conversations_continue(sandbox: &Sandbox) {
    let list = sandbox.run("conversation list --json").expect_code(0).json();
    let id = list[0]["id"].as_str().unwrap().to_owned();
    sandbox.prints("conversation list --search notes", "remove my notes");
    let output =
        sandbox.play("turns:\n  - {text: Still here., expect: {contains: [remove my notes, notes stay, and now?]}}", &["--resume", &id, "and now?"]).expect_code(0);
    assert!(output.stdout.contains("Still here."), "{output}");
    let output = sandbox.run("log --all --denied").expect_code(0);
    assert!(output.stdout.contains("no-rm") && output.stdout.contains("notes stay"), "{output}");
}

fn trust_holds_until_the_hook_changes(sandbox: &Sandbox) {
    let check = ["check", "rm notes"];
    let output = sandbox.run(check).expect_code(1);
    assert!(output.stdout.contains("no-rm"), "{output}");
    sandbox.write(HOOK, MANIFEST.replace("notes stay", "changed"));
    let output = sandbox.run("hooks list");
    assert!(output.stdout.contains("changed since"), "{output}");
    sandbox.write(HOOK, MANIFEST);
}

fn guards_keep_their_settings(sandbox: &Sandbox) {
    let _ = sandbox.run("guard update").expect_code(0);
    sandbox.prints("guard show secrets", "read = deny");
}

fn registrations_can_be_removed(sandbox: &Sandbox) {
    sandbox.prints("bridge list", "registered");
    let _ = sandbox.run("bridge remove claude-code --yes").expect_code(0);
    assert_eq!(fs::read_to_string(sandbox.home().join(".claude/settings.json")).unwrap(), SETTINGS);
}

#[test]
#[ignore = "writes the state of this release into the repository"]
fn record_the_state_of_this_release() {
    let sandbox = Installed::new();
    fs::create_dir(sandbox.home().join(".claude")).unwrap();
    fs::write(sandbox.home().join(".claude/settings.json"), SETTINGS).unwrap();
    sandbox.write(HOOK, MANIFEST);
    let _ = sandbox.run("trust --yes").expect_code(0);
    let _ = sandbox.run("guard add secrets").expect_code(0);
    let _ = sandbox.run("guard set secrets read=deny").expect_code(0);
    let _ = sandbox.script(
        "turns:\n  - tool_calls: [{name: bash, input: {command: rm notes}}]\n  - text: Denied.",
    );
    let _ = sandbox
        .run(["run", "--model", "scripted:../script.yaml", "remove my notes"])
        .expect_code(0);
    let _ = sandbox.run("bridge install claude-code --yes").expect_code(0);
    let release = releases().join(env!("CARGO_PKG_VERSION"));
    if release.exists() {
        fs::remove_dir_all(&release).unwrap();
    }
    for directory in ["home/.local/state", "home/.config", "home/.claude", "project/.agents"] {
        record(&sandbox, &release, Path::new(directory));
    }
    replace_in_database(&release.join(DATABASE), &sandbox.root().to_string_lossy(), ROOT);
}

/// Copies a directory of a sandbox into the repository.
fn record(sandbox: &Installed, release: &Path, directory: &Path) {
    let (root, bin) = (sandbox.root(), sandbox.bin());
    copy_files(&root.join(directory), &release.join(directory), &|text| {
        text.replace(root.to_str().unwrap(), ROOT).replace(bin.to_str().unwrap(), BIN)
    });
}

/// Copies the state of a release into a sandbox, with the program that it registered.
fn install_state(release: &Path, sandbox: &Installed) {
    let (root, bin) = (sandbox.root(), sandbox.bin());
    copy_files(release, &root, &|text| {
        text.replace(ROOT, root.to_str().unwrap()).replace(BIN, bin.to_str().unwrap())
    });
    replace_in_database(&root.join(DATABASE), ROOT, root.to_str().unwrap());
    let version = release.file_name().unwrap().display();
    let script = format!("#!/bin/sh\necho tenter-hook {version}\n");
    let program = sandbox.write_program("../home/.local/share/tenter/bin/tenter-hook", script);
    fs::write(program.with_extension("version"), format!("{version}\n")).unwrap();
}

fn copy_files(from: &Path, to: &Path, change: &dyn Fn(String) -> String) {
    copy_directory_with(from, to, &|from, to| {
        let bytes = match String::from_utf8(fs::read(from).unwrap()) {
            Ok(text) => change(text).into_bytes(),
            Err(binary) => binary.into_bytes(),
        };
        fs::write(to, bytes).unwrap();
        fs::set_permissions(to, fs::Permissions::from_mode(0o600)).unwrap();
    });
}

fn replace_in_database(file: &Path, from: &str, to: &str) {
    let database = Connection::open(file).unwrap();
    let change = "UPDATE conversations SET project = replace(project, ?1, ?2)";
    database.execute(change, [from, to]).unwrap();
    database.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); VACUUM").unwrap();
}
