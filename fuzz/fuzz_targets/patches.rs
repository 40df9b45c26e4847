//! Any text is read as a patch without a panic, and every line that plainly adds a file is seen (B10).
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_protocol::patch::{FileChange, Patch};

fuzz_target!(|text: &str| {
    let patch = Patch::parse(text);
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("*** Add File: ") {
            let is_it = |file: &&tenter_protocol::patch::PatchedFile| file.path == path.trim();
            assert!(patch.files.iter().find(is_it).is_some());
            assert!(patch.may_add_file());
        }
    }
    assert!(patch.is_valid || patch.may_add_file());
    assert!(patch.files.iter().all(|file| text.contains(file.path)));
    assert_eq!(
        patch.is_valid && patch.files.iter().all(|file| file.change != FileChange::Add),
        !patch.may_add_file()
    );
});
