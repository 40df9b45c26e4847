//! Tests of the values of hooks.

use std::collections::BTreeMap;
use std::fs::{File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use jiff::SignedDuration;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::layer::Layer;

/// A time at which nothing is old.
const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn owner(project: &'static str, layer: Layer, name: &'static str) -> HookOwner<'static> {
    HookOwner { project: Path::new(project), layer, name }
}

fn guard() -> HookOwner<'static> {
    owner("/project", Layer::Project, "guard")
}

fn file(values: &HookValues) -> ValueFile {
    values.file(guard(), ValueScope::Project, NOW)
}

#[test]
fn values_are_kept_between_processes_in_private_files() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().join("values");
    let values = || HookValues::new(root.clone());
    assert_eq!(file(&values()).get("calls").unwrap(), None);
    let version = file(&values()).set("calls", json!([1, "é"]), None).unwrap();
    let expected = Versioned { value: json!([1, "é"]), version };
    assert_eq!(file(&values()).get("calls").unwrap(), Some(expected));
    assert!(file(&values()).delete("calls").unwrap());
    assert!(!file(&values()).delete("calls").unwrap());
    assert_eq!(file(&values()).get("calls").unwrap(), None);
    let path = file(&values()).path;
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn every_hook_project_layer_and_scope_has_its_own_values() {
    let scratch = tempfile::tempdir().unwrap();
    let values = HookValues::new(scratch.path().to_owned());
    let owners = [
        guard(),
        owner("/other", Layer::Project, "guard"),
        owner("/project", Layer::User, "guard"),
        owner("/project", Layer::ProjectPlugin, "acme/guards/guard"),
        owner("/project", Layer::Project, "acme-guards-guard"),
        owner("/project", Layer::Project, ".."),
    ];
    let scopes = [ValueScope::Project, ValueScope::Session("a"), ValueScope::Session("../b")];
    let all = || owners.iter().flat_map(|owner| scopes.map(|scope| (*owner, scope)));
    for (index, (owner, scope)) in all().enumerate() {
        assert_eq!(values.file(owner, scope, NOW).get("key").unwrap(), None, "{owner:?} {scope:?}");
        values.file(owner, scope, NOW).set("key", json!(index), None).unwrap();
    }
    for (index, (owner, scope)) in all().enumerate() {
        let value = values.file(owner, scope, NOW).get("key").unwrap().unwrap();
        assert_eq!(value.value, json!(index), "{owner:?} {scope:?}");
    }
}

#[test]
fn a_value_changes_only_if_its_version_is_the_expected_one() {
    let scratch = tempfile::tempdir().unwrap();
    let values = HookValues::new(scratch.path().to_owned());
    let file = file(&values);
    assert!(matches!(file.set("key", json!(1), Some(1)), Err(ValueError::Conflict(0))));
    let first = file.set("key", json!(1), Some(0)).unwrap();
    assert!(matches!(file.set("key", json!(2), Some(0)), Err(ValueError::Conflict(_))));
    let second = file.set("key", json!(2), Some(first)).unwrap();
    assert!(matches!(file.set("key", json!(2), Some(first)), Err(ValueError::Conflict(_))));
    assert!(file.delete("key").unwrap());
    let third = file.set("key", json!(3), Some(0)).unwrap();
    assert!(third > second, "an old version never names a new value");
}

#[test]
fn adds_to_numbers_only() {
    let scratch = tempfile::tempdir().unwrap();
    let values = HookValues::new(scratch.path().to_owned());
    let file = file(&values);
    let add = |by: Value| file.add("n", by.as_number().unwrap()).map(|sum| sum.value);
    assert_eq!(add(json!(2)).unwrap(), json!(2));
    assert_eq!(add(json!(-5)).unwrap(), json!(-3));
    assert_eq!(add(json!(0.5)).unwrap(), json!(-2.5));
    file.set("n", json!(i64::MAX), None).unwrap();
    assert!(matches!(add(json!(1)), Err(ValueError::Overflow)));
    file.set("n", json!(f64::MAX), None).unwrap();
    assert!(matches!(add(json!(f64::MAX)), Err(ValueError::Overflow)));
    for other in [json!("1"), json!(null), json!([1])] {
        file.set("n", other.clone(), None).unwrap();
        assert!(matches!(add(json!(1)), Err(ValueError::NotANumber)), "{other}");
        assert_eq!(file.get("n").unwrap().unwrap().value, other, "the value is kept");
    }
}

#[test]
fn a_hook_keeps_at_most_one_mebibyte() {
    let scratch = tempfile::tempdir().unwrap();
    let values = HookValues::new(scratch.path().to_owned());
    let file = file(&values);
    let half = json!("x".repeat(600_000));
    file.set("a", half.clone(), None).unwrap();
    assert!(matches!(file.set("b", half.clone(), None), Err(ValueError::TooLarge)));
    assert_eq!(file.get("b").unwrap(), None);
    assert_eq!(file.get("a").unwrap().unwrap().value, half, "what fits is kept");
    file.delete("a").unwrap();
    file.set("b", half, None).unwrap();
}

#[test]
fn damaged_files_are_errors() {
    let scratch = tempfile::tempdir().unwrap();
    let values = HookValues::new(scratch.path().to_owned());
    let file = file(&values);
    file.set("a", json!(1), None).unwrap();
    let large = vec![b' '; (1 << 20) + 1];
    let deep = "[".repeat(200_000);
    let contents: [&[u8]; 6] = [b"", b"{", b"\xff", b"[]", deep.as_bytes(), &large];
    for content in contents {
        fs::write(&file.path, content).unwrap();
        assert!(matches!(file.get("a"), Err(ValueError::Damaged { .. })));
        let error = file.set("a", json!(2), None).unwrap_err().to_string();
        assert!(error.contains(file.path.to_str().unwrap()), "{error}");
        assert_eq!(fs::read(&file.path).unwrap(), content, "it is not overwritten");
    }
    fs::remove_file(&file.path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &file.path).unwrap();
    assert!(file.get("a").is_err());
}

#[test]
fn a_directory_that_cannot_be_used_is_an_error() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().join("file");
    File::create(&root).unwrap();
    let values = HookValues::new(root);
    assert!(matches!(file(&values).set("a", json!(1), None), Err(ValueError::Io(_))));
}

#[test]
fn values_of_a_conversation_go_with_it_or_after_thirty_days() {
    let scratch = tempfile::tempdir().unwrap();
    let values = HookValues::new(scratch.path().to_owned());
    let day = SignedDuration::from_hours(24);
    let of = |id: &'static str, now| values.file(guard(), ValueScope::Session(id), now);
    file(&values).set("key", json!(0), None).unwrap();
    let mtime = fs::metadata(file(&values).path).unwrap().modified().unwrap();
    let now = Timestamp::try_from(mtime).unwrap();
    for id in ["a", "b"] {
        of(id, now).set("key", json!(1), None).unwrap();
    }
    values.forget("a").unwrap();
    values.forget("a").unwrap();
    assert_eq!(of("a", now).get("key").unwrap(), None);
    of("c", now + day * 29).set("key", json!(1), None).unwrap();
    assert!(of("b", now).get("key").unwrap().is_some());
    of("d", now + day * 31).set("key", json!(1), None).unwrap();
    assert_eq!(of("b", now).get("key").unwrap(), None);
    assert!(of("d", now).get("key").unwrap().is_some());
    assert!(file(&values).get("key").unwrap().is_some(), "the project's values are kept");
}

#[test]
fn concurrent_additions_are_all_counted() {
    let scratch = tempfile::tempdir().unwrap();
    let values = HookValues::new(scratch.path().to_owned());
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| file(&values).add("calls", &1.into()).unwrap());
        }
    });
    assert_eq!(file(&values).get("calls").unwrap().unwrap().value, json!(32));
}

#[test]
fn another_hook_does_not_wait_for_the_lock_of_this_one() {
    let scratch = tempfile::tempdir().unwrap();
    let values = HookValues::new(scratch.path().to_owned());
    let mine = file(&values);
    mine.set("a", json!(1), None).unwrap();
    let _lock = FileLock::acquire(&mine.lock).unwrap();
    let other = owner("/project", Layer::User, "guard");
    values.file(other, ValueScope::Project, NOW).set("a", json!(2), None).unwrap();
    assert!(mine.get("a").unwrap().is_some(), "reading takes no lock");
}

#[test]
fn an_unwritable_directory_is_an_error_and_keeps_the_value() {
    if rustix::process::geteuid().is_root() {
        return; // Root can write everywhere.
    }
    let scratch = tempfile::tempdir().unwrap();
    let values = HookValues::new(scratch.path().to_owned());
    let file = file(&values);
    file.set("a", json!(1), None).unwrap();
    let directory = file.path.parent().unwrap();
    fs::set_permissions(directory, Permissions::from_mode(0o500)).unwrap();
    assert!(file.set("a", json!(2), None).is_err());
    fs::set_permissions(directory, Permissions::from_mode(0o700)).unwrap();
    assert_eq!(file.get("a").unwrap().unwrap().value, json!(1));
}

/// A change of the values, as a hook requests it.
#[derive(Debug, Clone)]
enum ValueChange {
    Set(u8, i64),
    SetNew(u8, i64),
    Add(u8, i64),
    Delete(u8),
}

fn changes() -> impl Strategy<Value = Vec<ValueChange>> {
    let key = || 0_u8..4;
    let number = || -1000_i64..1000;
    let change = prop_oneof![
        (key(), number()).prop_map(|(key, value)| ValueChange::Set(key, value)),
        (key(), number()).prop_map(|(key, value)| ValueChange::SetNew(key, value)),
        (key(), number()).prop_map(|(key, by)| ValueChange::Add(key, by)),
        key().prop_map(ValueChange::Delete),
    ];
    prop::collection::vec(change, 0..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The file behaves as a map; versions only rise.
    #[test]
    fn values_behave_as_a_map(changes in changes()) {
        let scratch = tempfile::tempdir().unwrap();
        let values = HookValues::new(scratch.path().to_owned());
        let mut expected: BTreeMap<String, i64> = BTreeMap::new();
        let mut last = 0;
        for change in changes {
            let file = file(&values);
            let version = match change {
                ValueChange::Set(key, value) => {
                    expected.insert(key.to_string(), value);
                    Some(file.set(&key.to_string(), json!(value), None).unwrap())
                }
                ValueChange::SetNew(key, value) => {
                    let set = file.set(&key.to_string(), json!(value), Some(0)).ok();
                    prop_assert_eq!(set.is_none(), expected.contains_key(&key.to_string()));
                    expected.entry(key.to_string()).or_insert(value);
                    set
                }
                ValueChange::Add(key, by) => {
                    let sum = expected.entry(key.to_string()).or_insert(0);
                    *sum += by;
                    let is_new = file.add(&key.to_string(), &by.into()).unwrap();
                    prop_assert_eq!(is_new.value, json!(*sum));
                    Some(is_new.version)
                }
                ValueChange::Delete(key) => {
                    let was_there = expected.remove(&key.to_string()).is_some();
                    prop_assert_eq!(file.delete(&key.to_string()).unwrap(), was_there);
                    None
                }
            };
            if let Some(version) = version {
                prop_assert!(version > last);
                last = version;
            }
            for key in 0..4_u8 {
                let saved_value = file.get(&key.to_string()).unwrap().map(|entry| entry.value);
                prop_assert_eq!(saved_value, expected.get(&key.to_string()).map(|value| json!(value)));
            }
        }
    }

    /// No content of the file makes reading panic.
    #[test]
    fn any_file_is_read_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let scratch = tempfile::tempdir().unwrap();
        let file = file(&HookValues::new(scratch.path().to_owned()));
        fs::create_dir_all(file.path.parent().unwrap()).unwrap();
        fs::write(&file.path, bytes).unwrap();
        let _ = file.get("a");
        let _ = file.add("a", &1.into());
    }
}
