//! The registered events depend on the version of the host, which may ignore a whole file because of one unknown name.

use std::collections::BTreeSet;

use tenter_bridge::host::HostVersion;
use tenter_bridge::registration::{Options, RegistrationScope};

use super::User;

/// Registers for a version; returns the names of the registered events.
fn events(user: &User, version: Option<&str>) -> BTreeSet<String> {
    let version = version.map(|text| HostVersion::parse(text).unwrap());
    user.install_with(Options { version, ..Options::default() });
    assert_eq!(user.count(), user.registry.expected(&user.target), "it is complete");
    assert!(user.registry.registered(&user.target).unwrap().iter().all(|one| one.is_intact));
    user.json()["hooks"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn claude_code_gets_the_events_that_the_version_knows() {
    let newest_first = [
        "PreSkillShellCommand",
        "PostToolBatch",
        "StopFailure",
        "PostCompact",
        "PostToolUseFailure",
        "SubagentStart",
    ];
    let versions = [
        ("2.1.332", 0),
        ("2.1.331", 1),
        ("2.1.118", 1),
        ("2.1.117", 2),
        ("2.1.100", 2),
        ("2.1.17", 4),
        ("2.0.30", 6),
    ];
    for (version, count) in versions {
        let unknown = &newest_first[..count];
        let user = User::with_settings("{}");
        let all = user.target.host.events.iter().map(|event| event.name.to_owned());
        let expected: BTreeSet<_> = all.filter(|name| !unknown.contains(&name.as_str())).collect();
        assert_eq!(events(&user, Some(version)), expected, "{version}");
    }
}

#[test]
fn an_update_and_a_downgrade_change_the_events() {
    let user = User::with_settings("{}");
    let old = events(&user, Some("2.1.17"));
    let new = events(&user, Some("2.1.332"));
    assert_eq!((old.len(), new.len()), (10, 14));
    assert_eq!(
        events(&user, None),
        new,
        "the version for which hooks are registered is remembered"
    );
    assert_eq!(events(&user, Some("2.1.17")), old);
    user.remove().unwrap();
    assert_eq!(user.text(), "{}");
}

#[test]
fn an_unknown_version_and_a_shared_file_get_the_events_of_the_oldest_version() {
    let user = User::with_settings("{}");
    let oldest = events(&user, None);
    assert!(oldest.contains("SessionEnd") && !oldest.contains("SubagentStart"), "{oldest:?}");
    let mut user = User::new();
    let project = user.home.path().join("project");
    user.target =
        user.registry.target(user.target.host, RegistrationScope::Shared, &project).unwrap();
    assert_eq!(events(&user, Some("2.1.330")), oldest, "others may have an older version");
}

#[test]
fn a_version_without_the_switch_blocks_by_the_shell() {
    for (version, switch, exit) in [("2.1.330", 2, 0), ("2.1.285", 0, 2)] {
        let user = User::with_settings("{}");
        let version = HostVersion::parse(version);
        user.install_with(Options { fail_closed: true, version, ..Options::default() });
        let text = user.text();
        assert_eq!(text.matches("onFailure").count(), switch, "{text}");
        assert_eq!(text.matches("exit 2").count(), exit, "{text}");
        assert!(!user.plan(Options { version, ..Options::default() }).unwrap().is_change());
    }
}
