//! Any settings file is registered in, or rejected with a diagnostic inside the file; removing the registration restores the bytes.
#![no_main]

use std::fs;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use tenter_bridge::hosts;
use tenter_bridge::registration::{
    EntryFormat, EntryLayout, Options, RegistrationScope, Registry,
};

static HOME: LazyLock<TempDir> = LazyLock::new(|| {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("tenter-hook"), "").unwrap();
    home
});

fuzz_target!(|text: &str| {
    let home = HOME.path();
    let registry = Registry::in_home(home);
    let layout = |format: &EntryFormat| matches!(format.layout, EntryLayout::TomlTables { .. });
    let json =
        hosts::ALL.iter().find(|host| host.registration.entries().is_some_and(|one| !layout(one)));
    let toml = hosts::ALL.iter().find(|host| host.registration.entries().is_some_and(layout));
    for host in json.into_iter().chain(toml) {
        let target = registry.target(host, RegistrationScope::User, home).unwrap();
        fs::create_dir_all(target.file.parent().unwrap()).unwrap();
        fs::write(&target.file, text).unwrap();
        let plan = match registry.plan_install(&target, Options::default()) {
            Ok(plan) => plan,
            Err(error) => {
                let lines = text.lines().count().max(1) + 1;
                assert!(error.span.is_none_or(|span| (1..=lines).contains(&span.line)));
                continue;
            }
        };
        registry.install(&plan, &home.join("tenter-hook"), "2026-11-22T18:00:00Z").unwrap();
        let registered = registry.registered(&target).unwrap();
        assert_eq!(registered.len(), registry.expected(&target));
        assert!(registered.iter().all(|one| one.is_intact));
        registry.remove(&registry.plan_remove(&target).unwrap()).unwrap();
        if !text.contains("tenter-hook") {
            assert_eq!(fs::read_to_string(&target.file).unwrap_or_default(), text);
        }
    }
});
