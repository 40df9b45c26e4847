//! Tests of discovery and shadowing, and of the query for events.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::time::Duration;

use tenter_engine::inspect::{PolicyOverride, Status};
use tenter_engine::{FailMode, Layer, TrustMode};
use tenter_protocol::{EventName, Severity};
use tenter_testkit::{needs, with_growing_limits};

use crate::scene::{
    GUARD, PROJECT, PROJECT_AGENTS, Scene, USER, USER_AGENTS, ids, running, why, word,
};

#[test]
fn hooks_of_all_layers_run_in_the_order_of_their_directories() {
    let scene = Scene::new();
    for (directory, name) in [
        ("home/.kodelet/plugins/acme@guards/hooks", "a"),
        (USER_AGENTS, "b"),
        (USER, "c"),
        ("project/.kodelet/plugins/zoe@tools/hooks", "d"),
        ("project/.kodelet/plugins/acme@tools@2/hooks", "e"),
        (PROJECT_AGENTS, "f"),
        (PROJECT, "h"),
        (PROJECT, "g"),
        (PROJECT, "Z"),
    ] {
        scene.hook(directory, name, GUARD);
    }
    let (catalog, diagnostics) = scene.load();
    let expected = ["Z", "g", "h", "f", "acme/tools@2/e", "zoe/tools/d", "c", "b", "acme/guards/a"];
    assert_eq!(running(&catalog), expected);
    assert_eq!(catalog.hooks_for(EventName::BeforeTool).len(), 9);
    assert!(catalog.hooks_for(EventName::AfterTool).is_empty());
    assert_eq!(catalog.hooks()[4].layer, Layer::ProjectPlugin);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
}

#[test]
fn the_hook_of_the_highest_layer_shadows_others_of_its_name() {
    let scene = Scene::new();
    let plugin = ".kodelet/plugins/acme@guards/hooks";
    for directory in [PROJECT, PROJECT_AGENTS, USER, USER_AGENTS] {
        scene.hook(directory, "guard", GUARD);
    }
    for base in ["project", "home"] {
        scene.hook(&format!("{base}/{plugin}"), "guard", GUARD);
    }
    let by = "shadowed by project/.kodelet/hooks/guard";
    let expected = [
        (format!("{PROJECT}/guard"), "active"),
        (format!("{PROJECT_AGENTS}/guard"), by),
        (format!("project/{plugin}/guard"), "active"),
        (format!("{USER}/guard"), by),
        (format!("{USER_AGENTS}/guard"), by),
        (
            format!("home/{plugin}/guard"),
            "shadowed by project/.kodelet/plugins/acme@guards/hooks/guard",
        ),
    ];
    assert_eq!(scene.listing(), expected.map(|(path, status)| (path, status.to_owned())));
    let (catalog, diagnostics) = scene.load();
    assert_eq!(running(&catalog), ["guard", "acme/guards/guard"]);
    assert_eq!(ids(&diagnostics), ["hook-shadowed"; 4]);
    assert!(diagnostics.iter().all(|diagnostic| diagnostic.severity == Severity::Info));
}

#[test]
fn a_hook_that_cannot_run_shadows_nothing() {
    let cases: [(&str, &str, u32, TrustMode, &str); 6] = [
        ("guard", "#!/bin/sh\necho nonsense\n", 0o755, TrustMode::All, "invalid"),
        ("guard", "#!/bin/sh\nexit 1\n", 0o755, TrustMode::All, "invalid"),
        ("guard", "#!/nowhere/sh\n", 0o755, TrustMode::All, "invalid"),
        ("guard.disable", GUARD, 0o755, TrustMode::All, "disabled"),
        ("guard", GUARD, 0o644, TrustMode::All, "not executable"),
        ("guard", GUARD, 0o755, TrustMode::Gate, "not trusted"),
    ];
    for (file_name, script, mode, trust, expected) in cases {
        let scene = Scene { mode: trust, ..Scene::new() };
        scene.file(&format!("{PROJECT}/{file_name}"), script, mode);
        let path = scene.hook(USER, "guard", GUARD);
        let (catalog, _) = scene.load();
        let [above, below] = catalog.listing() else { panic!("{:?}", catalog.listing()) };
        assert_eq!((above.name.as_str(), word(&above.status)), ("guard", expected));
        assert_eq!(
            (&below.path, &below.status),
            (&path, &Status::Active),
            "under one that is {expected}"
        );
        assert_eq!(catalog.hooks()[0].path().unwrap(), path);
    }
}

#[test]
fn other_files_are_skipped_silently() {
    let scene = Scene::new();
    for name in
        [".hidden", "guard~", ".guard.swp", "guard.swp", "guard.bak", "guard.orig", ".disable"]
    {
        scene.hook(USER, name, "#!/bin/sh\ntouch \"$TENTER_PROJECT_DIR/was-run\"\n");
    }
    scene.file(&format!("{USER}/hooks.toml"), "", 0o755);
    scene.directory("home/.kodelet/hooks/lib");
    scene.directory("home/.kodelet/hooks/lib.disable");
    let (catalog, diagnostics) = scene.load();
    assert!(catalog.listing().is_empty() && diagnostics.is_empty(), "{catalog:?} {diagnostics:?}");
    assert!(!scene.at("project/was-run").exists());
}

#[test]
fn symlinks_are_followed() {
    let scene = Scene::new();
    let script = scene.file("elsewhere/script", GUARD, 0o755);
    let text = scene.file("elsewhere/text", GUARD, 0o644);
    let hooks = scene.directory(USER);
    symlink(script, hooks.join("linked")).unwrap();
    symlink(text, hooks.join("notes")).unwrap();
    symlink(scene.directory("elsewhere/directory"), hooks.join("directory")).unwrap();
    let listing = scene.listing();
    let expected = [("linked", "active"), ("notes", "not executable")];
    assert_eq!(
        listing,
        expected.map(|(name, status)| (format!("{USER}/{name}"), status.to_owned()))
    );
}

#[test]
fn a_dangling_symlink_is_reported_and_disables_no_other_hook() {
    let scene = Scene::new();
    let hooks = scene.directory(USER);
    symlink("gone", hooks.join("dangling")).unwrap();
    symlink("loop", hooks.join("loop")).unwrap();
    scene.hook(USER, "guard", GUARD);
    let (catalog, diagnostics) = scene.load();
    assert_eq!(running(&catalog), ["guard"]);
    assert_eq!(ids(&diagnostics), ["hook-link-broken"; 2]);
    assert_eq!(diagnostics[0].path, Some(hooks.join("dangling")));
    assert!(diagnostics[0].message.contains("link to gone"), "{}", diagnostics[0].message);
}

#[test]
fn a_diagnostic_shows_no_line_of_a_file_that_a_projects_link_leads_to() {
    let scene = Scene::new();
    let secrets = scene.file("home/.env", "API_KEY=1234\n", 0o600);
    for directory in [USER, PROJECT] {
        symlink(&secrets, scene.directory(&format!("{directory}/guard")).join("HOOK.md")).unwrap();
    }
    let (_, diagnostics) = scene.load();
    let in_directory = |directory: &str| {
        let path = scene.at(directory).join("guard/HOOK.md");
        diagnostics.iter().find(|finding| finding.path.as_ref() == Some(&path)).unwrap()
    };
    assert_eq!(in_directory(USER).span.as_ref().unwrap().source, "API_KEY=1234");
    assert_eq!(in_directory(PROJECT).id, in_directory(USER).id);
    assert_eq!(in_directory(PROJECT).span, None);
}

#[test]
fn an_invalid_hooks_directory_disables_no_other() {
    let scene = Scene::new();
    scene.file(PROJECT, "a file", 0o644);
    scene.directory("project/.agents");
    symlink("nowhere", scene.at(PROJECT_AGENTS)).unwrap();
    scene.hook(USER, "guard", GUARD);
    let (catalog, diagnostics) = scene.load();
    assert_eq!(running(&catalog), ["guard"]);
    assert_eq!(ids(&diagnostics), ["hooks-folder-unreadable"; 2]);
}

#[test]
fn an_unreadable_directory_disables_no_other() {
    if rustix::process::geteuid().is_root() {
        needs::skipped("user", "root can read every directory");
        return;
    }
    let scene = Scene::new();
    let hooks = scene.directory(PROJECT);
    scene.hook(USER, "guard", GUARD);
    fs::set_permissions(&hooks, Permissions::from_mode(0o000)).unwrap();
    let (catalog, diagnostics) = scene.load();
    fs::set_permissions(&hooks, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(running(&catalog), ["guard"]);
    assert_eq!(ids(&diagnostics), ["hooks-folder-unreadable"]);
}

#[test]
fn fifos_and_sockets_are_reported_and_never_opened() {
    let scene = Scene::new();
    let hooks = scene.directory(USER);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        hooks.join("pipe"),
        rustix::fs::FileType::Fifo,
        0o755.into(),
        0,
    )
    .unwrap();
    let _socket = UnixListener::bind(hooks.join("socket")).unwrap();
    scene.hook(USER, "guard", GUARD);
    let (catalog, diagnostics) = scene.load();
    assert_eq!(running(&catalog), ["guard"]);
    assert_eq!(ids(&diagnostics), ["hook-not-a-file"; 2]);
    assert!(
        diagnostics[0].message.contains("named pipe") && diagnostics[1].message.contains("socket")
    );
}

#[test]
fn a_non_utf8_name_makes_only_that_hook_invalid() {
    let scene = Scene::new();
    let guard = scene.hook(USER, "guard", GUARD);
    if fs::copy(&guard, scene.at(USER).join(OsStr::from_bytes(b"bad-\xff"))).is_err() {
        needs::skipped("any-names", "this file system refuses names that are not UTF-8");
        return;
    }
    let (catalog, diagnostics) = scene.load();
    assert_eq!(catalog.listing()[0].name, "bad-\u{fffd}");
    assert_eq!(word(&catalog.listing()[0].status), "invalid");
    assert_eq!(running(&catalog), ["guard"]);
    assert_eq!(ids(&diagnostics), ["hook-invalid"]);
}

#[test]
fn user_hooks_writable_by_others_are_reported() {
    let scene = Scene::new();
    scene.file(&format!("{USER}/group"), GUARD, 0o775);
    scene.file(&format!("{USER}/world"), GUARD, 0o757);
    scene.file(&format!("{USER}/mine"), GUARD, 0o755);
    scene.file(&format!("{PROJECT}/projects"), GUARD, 0o777);
    let (catalog, diagnostics) = scene.load();
    assert_eq!(running(&catalog), ["projects", "group", "mine", "world"]);
    assert_eq!(ids(&diagnostics), ["hook-writable-by-others"; 2]);
    fs::set_permissions(scene.at(USER), Permissions::from_mode(0o777)).unwrap();
    assert_eq!(scene.load().1[0].path, Some(scene.at(USER)));
}

#[test]
fn every_file_of_a_user_hook_writable_by_others_is_reported() {
    let scene = Scene::new();
    scene.hook(USER, "guard", GUARD);
    scene.file(&format!("{USER}/lib.sh"), "", 0o666);
    scene.file(&format!("{USER}/notes.md"), "", 0o666);
    for directory in [USER, PROJECT] {
        let manifest = "---\nname: mine\ndescription: x\ntrigger: before_tool\n---\n";
        scene.file(&format!("{directory}/mine/HOOK.md"), manifest, 0o644);
        scene.file(&format!("{directory}/mine/scripts/run.sh"), GUARD, 0o775);
        scene.file(&format!("{directory}/mine/words.txt"), "", 0o646);
        let scripts = scene.at(&format!("{directory}/mine/scripts"));
        fs::set_permissions(scripts, Permissions::from_mode(0o777)).unwrap();
    }
    // The second time the manifest is remembered.
    let scene = Scene { cache: Some(scene.at("cache/hooks.bin")), ..scene };
    for _ in 0..2 {
        let (_, diagnostics) = scene.load();
        let reports: Vec<_> = diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.id == "hook-writable-by-others")
            .map(|diagnostic| diagnostic.message.as_str())
            .collect();
        assert_eq!(
            reports,
            [
                "files beside your hooks can be changed by others, since their group or everyone can write them: lib.sh",
                "files of this hook can be changed by others, since their group or everyone can write them: \
                 scripts, scripts/run.sh, words.txt",
            ]
        );
    }
}

#[test]
fn a_hook_may_name_several_events() {
    let scene = Scene::new();
    scene.hook(
        USER,
        "guard",
        "#!/bin/sh\nprintf ' before_tool_call \\r\\n\\nafter_tool_call\\nturn_end\\n'\n",
    );
    let (catalog, _) = scene.load();
    let events: Vec<&str> =
        catalog.listing()[0].subscriptions.iter().map(|one| one.event.as_str()).collect();
    assert_eq!(events, ["before_tool", "after_tool", "after_tool_failure", "after_turn"]);
    for event in [EventName::BeforeTool, EventName::AfterToolFailure, EventName::AfterTurn] {
        assert_eq!(catalog.hooks_for(event).len(), 1, "{event}");
    }
}

#[test]
fn a_hook_with_an_unusable_query_reply_is_invalid() {
    let table: [(&str, &[&str]); 9] = [
        (
            "#!/bin/sh\necho before_tool\n",
            &["printed \"before_tool\"", "did you mean \"before_tool_call\"?"],
        ),
        (
            "#!/bin/sh\nprintf 'before_tool_call\\nxyz\\n'\n",
            &["printed \"xyz\"", "the events are user_message_send,"],
        ),
        ("#!/bin/sh\nprintf 'a\\033[31mred\\n'\n", &["printed \"a\u{fffd}[31mred\""]),
        ("#!/bin/sh\n", &["printed nothing"]),
        (
            "#!/bin/sh\nhead -c 3000000 /dev/zero | tr '\\0' 'x'\n",
            &["printed \"xxxxxxxxxx", "xxx…\""],
        ),
        (
            "#!/bin/sh\necho before_tool_call\necho 'no jq' >&2\nexit 7\n",
            &["exited with code 7", "no jq"],
        ),
        ("#!/bin/sh\nkill -9 $$\n", &["terminated by signal 9"]),
        ("#!/nowhere/interpreter\n", &["could not be started", "/nowhere/interpreter"]),
        ("echo before_tool_call\n", &["could not be started", "#!"]),
    ];
    for (script, expected) in table {
        let scene = Scene::new();
        let path = scene.hook(USER, "guard", script);
        let (catalog, diagnostics) = scene.load();
        let why = why(&catalog);
        assert!(expected.iter().all(|part| why.contains(part)), "{script:?}: {why}");
        assert_eq!(ids(&diagnostics), ["hook-invalid"]);
        assert!(
            diagnostics[0].message.starts_with("the hook guard does not run: it "),
            "{}",
            diagnostics[0].message
        );
        assert_eq!(diagnostics[0].path, Some(path));
        assert!(catalog.hooks().is_empty() && diagnostics[0].message.len() < 400);
    }
}

#[test]
fn a_query_reply_that_is_too_long_is_invalid() {
    let scene = Scene::new();
    scene.hook(USER, "guard", "#!/bin/sh\nyes before_tool_call | head -n 100000\n");
    assert!(why(&scene.load().0).contains("printed \"before_tool_call"));
}

#[test]
fn a_hanging_query_times_out_and_delays_no_other() {
    with_growing_limits(hangs_beside_a_guard);
}

fn hangs_beside_a_guard(factor: u32) {
    let query_timeout = Duration::from_millis(300) * factor;
    let scene = Scene { query_timeout, ..Scene::new() };
    scene.hook(USER, "hangs", "#!/bin/sh\nsleep 600\n");
    scene.hook(USER, "guard", GUARD);
    let (catalog, diagnostics) = scene.load();
    assert_eq!(running(&catalog), ["guard"]);
    assert_eq!(ids(&diagnostics), ["hook-invalid"]);
    assert!(
        diagnostics[0]
            .message
            .contains(&format!("did not name its events within {query_timeout:?}")),
        "{}",
        diagnostics[0].message
    );
}

#[test]
fn hooks_are_queried_in_parallel() {
    let scene = Scene { query_timeout: Duration::from_mins(1), ..Scene::new() };
    for (mine, others) in [("a", "b"), ("b", "a")] {
        let meet = format!("touch {mine}; until [ -e {others} ]; do sleep 0.01; done");
        scene.hook(USER, mine, &format!("#!/bin/sh\n{meet}\necho agent_stop\n"));
    }
    assert_eq!(running(&scene.load().0), ["a", "b"]);
}

#[test]
fn a_query_runs_in_the_project_with_the_hook_environment_and_empty_stdin() {
    let scene = Scene::new();
    let script = "#!/bin/sh\ncat > input\nenv > environment\nprintf '%s|' \"$@\" > arguments\necho agent_stop\n";
    scene.hook("home/.kodelet/plugins/acme@guards/hooks", "guard", script);
    assert_eq!(running(&scene.load().0), ["acme/guards/guard"]);
    let text = |name: &str| fs::read_to_string(scene.at("project").join(name)).unwrap();
    assert_eq!((text("input").as_str(), text("arguments").as_str()), ("", "hook|"));
    let environment = text("environment");
    let directory = scene.at("home/.kodelet/plugins/acme@guards/hooks");
    for expected in [
        format!("TENTER_PROJECT_DIR={}", scene.at("project").display()),
        format!("TENTER_HOOK_DIR={}", directory.display()),
        "TENTER_HOOK_NAME=acme/guards/guard".to_owned(),
        "TENTER_PROTOCOL_VERSION=1".to_owned(),
    ] {
        assert!(environment.lines().any(|line| line == expected), "{expected} in {environment}");
    }
    assert!(!environment.contains("inherited") && !environment.contains("CARGO"), "{environment}");
}

#[test]
fn the_users_settings_apply_to_a_hook() {
    let mut scene = Scene::new();
    let policy = PolicyOverride {
        fail: Some(FailMode::Closed),
        timeout: Some(Duration::from_secs(3)),
        ..PolicyOverride::default()
    };
    scene.policies.overrides.insert("guard".to_owned(), policy);
    scene.hook(PROJECT, "guard", GUARD);
    scene.hook(USER, "other", GUARD);
    let (catalog, _) = scene.load();
    let policies: Vec<(FailMode, u64)> = catalog
        .hooks()
        .iter()
        .map(|hook| (hook.policy.fail, hook.policy.timeout.as_secs()))
        .collect();
    assert_eq!(policies, [(FailMode::Closed, 3), (FailMode::Open, 30)]);
}

#[test]
fn a_cancelled_load_queries_no_hook() {
    let scene = Scene::new();
    scene.hook(USER, "guard", crate::scene::COUNTING);
    scene.cancel.cancel();
    assert!(why(&scene.load().0).contains("cancelled"));
    assert_eq!(scene.calls(), 0);
}
