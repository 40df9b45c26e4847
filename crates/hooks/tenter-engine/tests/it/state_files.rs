//! State files that Tenter did not write: a FIFO, a device and a huge file are clear errors, and none of them blocks.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tenter_engine::journal;
use tenter_engine::trust::{TrustEntry, TrustStore};

use crate::scene::{GUARD, Scene, USER, ids, running};

/// Calls `check` with each kind of file at `path`, and the error that is expected for it.
fn with_each_kind(path: &Path, check: impl Fn(&str)) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mode = Mode::RUSR | Mode::WUSR;
    let make: [(&dyn Fn(), &str); 3] = [
        (&|| mknodat(CWD, path, FileType::Fifo, mode, 0).unwrap(), "it is not a file"),
        (&|| symlink("/dev/zero", path).unwrap(), "it is not a file"),
        (&|| File::create(path).unwrap().set_len(8 << 30).unwrap(), "it has more than"),
    ];
    for (make, error) in make {
        let _ = fs::remove_file(path);
        make();
        check(error);
    }
}

#[test]
fn a_trust_store_that_is_no_file_trusts_nothing_and_is_not_replaced() {
    let scene = Scene::gated();
    let path = scene.at("state/trust.json");
    with_each_kind(&path, |expected| {
        let (mut store, diagnostics) = TrustStore::open(path.clone());
        assert_eq!(ids(&diagnostics), ["trust-store-unreadable"]);
        assert!(diagnostics[0].message.contains(expected), "{}", diagnostics[0].message);
        let nothing: [TrustEntry; 0] = [];
        let error = store.trust(&scene.layout.project, &nothing, "T").unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    });
}

#[test]
fn a_journal_that_is_no_file_is_an_error() {
    let scene = Scene::new();
    let directory = scene.at("state/journal");
    with_each_kind(&directory.join("a.jsonl"), |expected| {
        let error = journal::read(&directory, "a").unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    });
}

#[test]
fn a_query_cache_that_is_no_file_counts_as_empty_and_is_replaced() {
    let scene = Scene::new();
    let scene = Scene { cache: Some(scene.at("cache")), ..scene };
    scene.hook(USER, "guard", GUARD);
    let file = scene.at("cache/hooks.bin");
    with_each_kind(&file, |_| {
        let (catalog, _) = scene.load();
        assert_eq!(running(&catalog), ["guard"]);
        let metadata = fs::symlink_metadata(&file).unwrap();
        assert!(metadata.is_file() && metadata.len() < 10_000);
    });
}
