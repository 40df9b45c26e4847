//! Files: their modes, links and copies, and files that cannot be edited.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use tenter_bridge::host::HostVersion;
use tenter_bridge::hosts;
use tenter_bridge::registration::{
    Options, ProgramState, RegistrationScope, launcher_path, program_path, program_state,
    unsafe_location,
};

use super::{NOW, User};

#[test]
fn a_missing_file_is_created_with_its_directory_and_removed_again() {
    let user = User::new();
    user.install().unwrap();
    assert_eq!(user.count(), user.known_events());
    assert!(user.text().ends_with("}\n"));
    user.remove().unwrap();
    assert!(!user.file().parent().unwrap().exists());
    user.remove().unwrap();
    assert!(user.registry.records().is_empty());
}

#[test]
fn a_created_file_stays_once_the_user_has_put_something_into_it() {
    let user = User::new();
    user.install().unwrap();
    fs::write(user.file(), user.text().replacen('{', "{\n  \"model\": \"opus\",", 1)).unwrap();
    user.remove().unwrap();
    assert_eq!(user.text(), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn mode_and_symlinks_are_kept() {
    let user = User::with_settings("{}\n");
    let real = user.home.path().join("dotfiles.json");
    fs::rename(user.file(), &real).unwrap();
    symlink("../dotfiles.json", user.file()).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    user.install().unwrap();
    let metadata = fs::metadata(&real).unwrap();
    assert_eq!(metadata.mode() & 0o7777, 0o640);
    assert!(fs::symlink_metadata(user.file()).unwrap().is_symlink());
    assert_eq!(user.count(), user.known_events());
    user.remove().unwrap();
    assert_eq!(fs::read_to_string(real).unwrap(), "{}\n");
}

#[test]
fn no_two_registrations_have_the_same_command() {
    let commands = [User::new(), User::new()].map(|user| {
        user.install().unwrap();
        user.registry.registered(&user.target).unwrap()[0].command.id.clone()
    });
    assert!(commands[0].is_some() && commands[0] != commands[1], "{commands:?}");
}

#[test]
fn a_file_that_the_host_ignores_is_recognised() {
    for (text, ignored) in [
        ("", None),
        ("{}", None),
        ("\u{feff}{\"a\": 1}\r\n", None),
        ("{\n  // no\n}", Some((2, 3))),
        ("{\"a\": 1,}", Some((1, 9))),
        ("{\n  \"permissions\": {\"deny\": \"Bash\"}\n}", Some((2, 27))),
        ("{\"hooks\": {\"Stop\": [{\"command\": \"x\"}]}}", Some((1, 21))),
    ] {
        let user = User::with_settings(text);
        let file = user.registry.ignored_because(&user.target).unwrap();
        assert_eq!(file.and_then(|file| file.place), ignored, "{text}");
    }
}

#[test]
fn the_copy_of_the_old_file_is_private_and_never_replaced() {
    let user = User::with_settings("{\"model\": \"opus\"}\n");
    user.install().unwrap();
    let copy = user.registry.copy_path(user.target.host, user.file());
    assert_eq!(fs::metadata(&copy).unwrap().mode() & 0o777, 0o600);
    fs::write(user.file(), "{}").unwrap();
    user.install().unwrap();
    assert_eq!(fs::read_to_string(&copy).unwrap(), "{\"model\": \"opus\"}\n");
}

#[test]
fn files_that_cannot_be_edited_are_left_alone() {
    let user = User::with_settings("{}\n");
    fs::set_permissions(user.file(), fs::Permissions::from_mode(0o444)).unwrap();
    let error = user.install().unwrap_err();
    assert_eq!(error.message, "the file is read-only");
    assert!(error.help.unwrap().contains("chmod u+w"));
    assert_eq!(user.text(), "{}\n");
    assert!(user.registry.records().is_empty());

    let user = User::new();
    fs::create_dir_all(user.file()).unwrap();
    assert!(user.install().unwrap_err().message.contains("it is not a file"));

    let user = User::with_settings("");
    fs::remove_file(user.file()).unwrap();
    let directory = rustix::fs::open(
        user.home.path(),
        rustix::fs::OFlags::DIRECTORY,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    rustix::fs::mknodat(
        directory,
        ".claude/settings.json",
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    assert!(user.install().unwrap_err().message.contains("it is not a file"));

    let user = User::with_settings(&format!("{{\"a\": \"{}\"}}", "x".repeat(20 << 20)));
    assert!(user.install().unwrap_err().message.contains("more than 1 MiB"));

    let user = User::with_settings("");
    fs::write(user.file(), b"{\"a\": \"\xff\"}").unwrap();
    assert!(user.install().unwrap_err().message.contains("not UTF-8"));

    let user = User::with_settings("");
    fs::remove_file(user.file()).unwrap();
    symlink("settings.json", user.file()).unwrap();
    assert!(user.install().unwrap_err().message.contains("cannot read the file"));
}

#[test]
fn a_change_between_plan_and_installation_is_not_overwritten() {
    let user = User::with_settings("{}\n");
    let plan = user.plan(Options::default()).unwrap();
    fs::write(user.file(), "{\"theme\": \"dark\"}\n").unwrap();
    let error = user.registry.install(&plan, &user.program(), NOW).unwrap_err();
    assert!(error.message.contains("changed by another program"), "{error:?}");
    assert_eq!(user.text(), "{\"theme\": \"dark\"}\n");
}

#[test]
fn processes_that_install_at_the_same_time_leave_one_registration() {
    let user = User::with_settings("{\n  \"model\": \"opus\"\n}\n");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                // Some lose the race and fail with an error; none breaks the file.
                let _ = user.install();
            });
        }
    });
    assert_eq!(user.count(), user.known_events());
    assert_eq!(user.registry.records().len(), 1);
    user.remove().unwrap();
    assert_eq!(user.text(), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn the_registered_program_is_a_copy_that_outlives_the_original() {
    let user = User::with_settings("{}\n");
    fs::write(user.program(), "the program").unwrap();
    user.install().unwrap();
    let copy = program_path(user.home.path());
    fs::remove_file(user.program()).unwrap();
    assert_eq!(fs::read_to_string(&copy).unwrap(), "the program");
    assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(program_state(user.home.path()), ProgramState::Current);
    fs::remove_file(&copy).unwrap();
    assert_eq!(program_state(user.home.path()), ProgramState::Missing);
}

#[test]
fn an_upgrade_only_renews_the_copy() {
    let user = User::with_settings("{}\n");
    user.install().unwrap();
    let text = user.text();
    let copy = program_path(user.home.path());
    fs::write(copy.with_file_name("tenter-hook.version"), "0.0.9\n").unwrap();
    let earlier = ProgramState::Outdated(Some(HostVersion::new(0, 0, 9)));
    assert_eq!(program_state(user.home.path()), earlier);
    let newer = user.home.path().join("bin/newer");
    fs::write(&newer, "newer").unwrap();
    let plan = user.plan(Options::default()).unwrap();
    assert!(!plan.is_change());
    user.registry.install(&plan, &newer, NOW).unwrap();
    assert_eq!(fs::read_to_string(&copy).unwrap(), "newer");
    assert_eq!(program_state(user.home.path()), ProgramState::Current);
    assert_eq!(user.text(), text);
    assert_eq!(user.registry.records()[0].program, newer);
}

#[test]
fn the_launcher_beside_the_program_is_copied_renewed_and_removed_with_it() {
    let user = User::with_settings("{}\n");
    let home = user.home.path();
    let (launcher, copy) = (user.program().with_file_name("tenter-launch"), launcher_path(home));
    user.install().unwrap();
    assert!(!copy.exists(), "a version without one");
    fs::write(&launcher, "the launcher").unwrap();
    user.registry.renew_program(&user.program()).unwrap();
    assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o755);
    fs::write(&copy, "damaged").unwrap();
    user.registry.renew_program(&user.program()).unwrap();
    assert_eq!(fs::read_to_string(&copy).unwrap(), "the launcher");
    // One of another version does not stay.
    fs::remove_file(&launcher).unwrap();
    user.registry.renew_program(&user.program()).unwrap();
    assert!(!copy.exists());
    fs::write(&launcher, "the launcher").unwrap();
    user.install().unwrap();
    assert!(copy.exists());
    user.remove().unwrap();
    assert!(!home.join(".local/share/tenter").exists());
}

#[test]
fn a_symlink_of_earlier_versions_becomes_a_copy() {
    let user = User::with_settings("{}\n");
    let copy = program_path(user.home.path());
    fs::create_dir_all(copy.parent().unwrap()).unwrap();
    symlink(user.program(), &copy).unwrap();
    assert_eq!(program_state(user.home.path()), ProgramState::Outdated(None));
    user.install().unwrap();
    assert!(fs::symlink_metadata(&copy).unwrap().is_file());
}

#[test]
fn a_shared_file_has_no_path_of_this_machine() {
    let user = User::new();
    let project = user.home.path().join("shop");
    let target =
        user.registry.target(user.target.host, RegistrationScope::Shared, &project).unwrap();
    let plan = user.registry.plan_install(&target, Options::default()).unwrap();
    let text = plan.changes()[0].after().unwrap();
    assert!(!text.contains(user.home.path().to_str().unwrap()), "{text}");
    assert!(text.contains(r#"exec \"$t\" claude-code Stop""#), "{text}");
    user.registry.install(&plan, &user.program(), NOW).unwrap();
    assert!(user.registry.registered(&target).unwrap().iter().all(|handler| handler.is_intact));
    user.registry.remove(&user.registry.plan_remove(&target).unwrap()).unwrap();
    assert!(!project.join(".claude").exists());
}

#[test]
fn programs_that_others_can_replace_are_found() {
    let user = User::new();
    let home = user.home.path().canonicalize().unwrap();
    let program = home.join("bin/tenter-hook");
    assert_eq!(unsafe_location(&program), None);
    fs::set_permissions(home.join("bin"), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(unsafe_location(&program).unwrap().contains("other users"));
}

/// A file of a session, where each measured host has written one.
const SESSIONS: &[(&str, &str)] = &[
    ("claude-code", ".claude/projects/-home-ada-shop/289d699f.jsonl"),
    ("codex", ".codex/sessions/2026/11/22/rollout-2026-11-22T22-41-51-01a2056c.jsonl"),
    ("gemini", ".gemini/tmp/shop/chats/session-2026-11-22T22-41-63f6071a.jsonl"),
    ("copilot", ".copilot/session-state/d64d36a7/events.jsonl"),
    ("qwen", ".qwen/projects/-home-ada-shop/chats/3e9ffc72.jsonl"),
    ("kimi-code", ".kimi-code/sessions/wd_shop_6d64/session_1c43/agents/main/wire.jsonl"),
    ("cline", ".cline/data/sessions/1795387363589_8l2nz/1795387363589_8l2nz.messages.json"),
    ("pi", ".pi/agent/sessions/--home-ada-shop--/2026-11-22T22-42-52-063Z_01a2056d.jsonl"),
];

#[test]
fn the_sessions_of_every_host_that_keeps_them_in_files_are_found() {
    for host in hosts::ALL {
        let user = User::with_host(host);
        assert_eq!(user.registry.newest_session(host), None, "{}", host.id);
        let Some((_, file)) = SESSIONS.iter().find(|(id, _)| *id == host.id) else {
            assert_eq!(host.registration.sessions, None, "{}", host.id);
            continue;
        };
        let file = user.home.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "").unwrap();
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        assert_eq!(user.registry.newest_session(host), Some(time), "{}", host.id);
    }
}
