//! Turns are recorded, undone and redone on real files.

mod bench;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use proptest::prelude::*;
use tenter_proc::Cancel;

use super::*;
use bench::{Bench, ID};

/// A change that a command may make in a project.
#[derive(Debug, Clone)]
enum Edit {
    Write(usize, u8),
    Remove(usize),
    Mode(usize, u32),
    Link(usize, usize),
    Move(usize, usize),
    Directory(usize),
}

const NAMES: [&str; 8] = ["a", "b", "dir/c", "dir/d", "dir/deep/e", "dir", "dir/deep", "other/f"];

fn edit() -> impl Strategy<Value = Edit> {
    let name = 0..NAMES.len();
    prop_oneof![
        4 => (name.clone(), any::<u8>()).prop_map(|(name, content)| Edit::Write(name, content)),
        2 => name.clone().prop_map(Edit::Remove),
        1 => (name.clone(), prop::sample::select(vec![0o600, 0o644, 0o755, 0o400])).prop_map(|(name, mode)| Edit::Mode(name, mode)),
        1 => (name.clone(), name.clone()).prop_map(|(name, to)| Edit::Link(name, to)),
        2 => (name.clone(), name.clone()).prop_map(|(from, to)| Edit::Move(from, to)),
        1 => name.prop_map(Edit::Directory),
    ]
}

/// Makes an edit, as far as it is possible.
fn make(bench: &Bench, edit: &Edit) {
    let path = |index: usize| bench.path(NAMES[index]);
    let _ = match edit {
        Edit::Write(name, content) => {
            let path = path(*name);
            let _ = fs::create_dir_all(path.parent().unwrap());
            fs::write(path, [*content, 0xff, b'\n'].repeat(usize::from(*content)))
        }
        Edit::Remove(name) => {
            let path = path(*name);
            if path.is_dir() && !path.is_symlink() {
                fs::remove_dir_all(path)
            } else {
                fs::remove_file(path)
            }
        }
        Edit::Mode(name, mode) => {
            let path = path(*name);
            let is_plain = path.is_file() && !path.is_symlink();
            if is_plain { fs::set_permissions(path, Permissions::from_mode(*mode)) } else { Ok(()) }
        }
        Edit::Link(name, to) => symlink(NAMES[*to], path(*name)),
        Edit::Move(from, to) => fs::rename(path(*from), path(*to)),
        Edit::Directory(name) => fs::create_dir_all(path(*name)),
    };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn undo_restores_every_turn_exactly_and_redo_restores_the_turn(
        turns in prop::collection::vec(prop::collection::vec(edit(), 1..6), 1..5), restart in any::<bool>()
    ) {
        let mut bench = Bench::new();
        for name in ["a", "dir/c", "dir/deep/e"] {
            bench.write(name, name);
        }
        let mut trees = vec![bench.tree()];
        for edits in &turns {
            bench.command(|| edits.iter().for_each(|edit| make(&bench, edit)));
            trees.push(bench.tree());
        }
        if restart {
            bench = bench.restarted();
        }
        trees.dedup();
        let last = trees.pop().unwrap();
        for tree in trees.iter().rev() {
            let result = bench.undo().unwrap();
            prop_assert!(result.failures.is_empty(), "{:?}", result.failures);
            prop_assert_eq!(&bench.tree(), tree);
        }
        prop_assert!(bench.undo().is_none());
        for tree in trees.iter().skip(1).chain([&last]).take(trees.len()) {
            let result = bench.redo().unwrap();
            prop_assert!(result.failures.is_empty(), "{:?}", result.failures);
            prop_assert_eq!(&bench.tree(), tree);
        }
        prop_assert!(bench.redo().is_none());
    }
}

#[test]
fn a_directory_that_a_link_to_it_replaces_is_restored() {
    let bench = Bench::new();
    bench.write("dir/c", "one");
    let before = bench.tree();
    bench.command(|| {
        fs::rename(bench.path("dir"), bench.path("b")).unwrap();
        symlink("b", bench.path("dir")).unwrap();
    });
    let result = bench.undo().unwrap();
    assert!(result.failures.is_empty(), "{:?}", result.failures);
    assert_eq!(bench.tree(), before);
}

#[test]
fn a_turn_without_changes_writes_nothing() {
    let bench = Bench::new();
    bench.write("a", "one");
    bench.recorder.begin(ID, "hello");
    bench.recorder.end().unwrap();
    assert!(!bench.scratch.path().join("snapshots").exists());
    assert!(bench.undo().is_none());
}

#[test]
fn file_tools_and_the_directories_that_they_create_are_undone() {
    let bench = Bench::new();
    bench.write("a", "one");
    let before = bench.tree();
    bench.tool("a", "two");
    bench.tool("new/deep/b", "three");
    assert_eq!(bench.undo().unwrap().restored_files.len(), 3);
    assert_eq!(bench.read("a"), "two");
    bench.undo().unwrap();
    assert_eq!(bench.tree(), before);
}

#[test]
fn what_was_undone_before_a_later_turn_is_not_redone() {
    let bench = Bench::new();
    bench.write("a", "one");
    bench.tool("a", "two");
    bench.undo().unwrap();
    bench.tool("a", "three");
    assert!(bench.redo().is_none());
    bench.undo().unwrap();
    bench.redo().unwrap();
    assert_eq!(bench.read("a"), "three");
    assert!(bench.redo().is_none());
    bench.undo().unwrap();
    assert!(bench.undo().is_none());
    assert_eq!(bench.read("a"), "one");
}

#[test]
fn the_next_turn_knows_what_the_user_changed_between() {
    let bench = Bench::new();
    bench.write("a", "one");
    bench.command(|| bench.write("a", "two"));
    bench.write("a", "mine");
    bench.command(|| bench.write("a", "three"));
    bench.undo().unwrap();
    assert_eq!(bench.read("a"), "mine");
    assert_eq!(bench.statuses()["a"], StepStatus::ChangedSince);
    bench.undo().unwrap();
    assert_eq!(bench.read("a"), "mine", "it was kept");
    let plan = bench.recorder.plan_redo(ID).unwrap().unwrap();
    assert_eq!(plan.changed_since().count(), 1);
    bench.recorder.restore(ID, plan, true).unwrap();
    assert_eq!(bench.read("a"), "two");
}

#[test]
fn a_file_becomes_a_directory_and_back() {
    let bench = Bench::new();
    bench.write("a", "file");
    bench.write("b/c", "below");
    let before = bench.tree();
    bench.command(|| {
        fs::remove_file(bench.path("a")).unwrap();
        bench.write("a/x", "1");
        fs::remove_dir_all(bench.path("b")).unwrap();
        bench.write("b", "2");
    });
    let after = bench.tree();
    assert!(bench.undo().unwrap().failures.is_empty());
    assert_eq!(bench.tree(), before);
    assert!(bench.redo().unwrap().failures.is_empty());
    assert_eq!(bench.tree(), after);
}

#[test]
fn nothing_is_restored_through_a_symlink() {
    let bench = Bench::new();
    bench.write("dir/a", "one");
    bench.write("dir/b", "two");
    let outside = bench.scratch.path().join("outside");
    fs::create_dir(&outside).unwrap();
    bench.command(|| {
        bench.write("dir/a", "changed");
        fs::remove_file(bench.path("dir/b")).unwrap();
        bench.write("dir/c", "new");
    });
    fs::rename(bench.path("dir"), bench.path("away")).unwrap();
    symlink(&outside, bench.path("dir")).unwrap();
    fs::write(outside.join("a"), "changed").unwrap();
    fs::write(outside.join("c"), "new").unwrap();
    assert!(matches!(bench.statuses()["dir/a"], StepStatus::Impossible(_)));
    let result = bench.undo().unwrap();
    assert!(result.restored_files.is_empty());
    assert_eq!(result.failures[0].1, "dir is not a directory now");
    assert_eq!(fs::read_to_string(outside.join("a")).unwrap(), "changed");
    assert!(outside.join("c").exists() && !outside.join("b").exists());
}

#[test]
fn a_symlink_in_place_of_a_file_is_replaced_itself() {
    let bench = Bench::new();
    bench.write("a", "one");
    let outside = bench.scratch.path().join("outside");
    fs::write(&outside, "precious").unwrap();
    bench.command(|| {
        fs::remove_file(bench.path("a")).unwrap();
        symlink(&outside, bench.path("a")).unwrap();
    });
    bench.undo().unwrap();
    assert_eq!(bench.read("a"), "one");
    assert_eq!(fs::read_to_string(outside).unwrap(), "precious");
}

#[test]
fn what_was_not_seen_before_is_never_deleted() {
    let bench = Bench::new();
    bench.write(".gitignore", "build/\n");
    bench.write("build/old", "artifact");
    bench.write("build/touched", "artifact");
    fs::write(bench.scratch.path().join("outside"), "from elsewhere").unwrap();
    fs::create_dir(bench.path(".git")).unwrap();
    // Files that are older than the turn.
    Bench::age_files();
    bench.command(|| {
        bench.write(".gitignore", "");
        bench.write("build/touched", "rebuilt");
        fs::rename(bench.scratch.path().join("outside"), bench.path("moved")).unwrap();
        bench.write("new", "1");
    });
    let statuses = bench.statuses();
    assert!(!statuses.contains_key("build/old"), "{statuses:?}");
    for name in ["build/touched", "moved"] {
        assert!(
            matches!(&statuses[name], StepStatus::Impossible(why) if why.contains("not known"))
        );
    }
    bench.undo().unwrap();
    assert_eq!(bench.read(".gitignore"), "build/\n");
    assert!(bench.path("moved").exists() && bench.path("build/old").exists());
    assert!(!bench.path("new").exists());
}

#[test]
fn a_file_that_becomes_ignored_is_not_deleted_by_redo() {
    let bench = Bench::new();
    fs::create_dir(bench.path(".git")).unwrap();
    bench.write("notes", "mine");
    bench.command(|| bench.write(".gitignore", "notes\n"));
    bench.undo().unwrap();
    assert!(!bench.path(".gitignore").exists());
    bench.redo().unwrap();
    assert_eq!(bench.read("notes"), "mine");
}

#[test]
fn large_and_special_files_are_named_but_not_restored() {
    let bench = Bench::new();
    let large = |length| fs::File::create(bench.path("large")).unwrap().set_len(length).unwrap();
    large((8 << 20) + 1);
    bench.write("a", "one");
    bench.command(|| {
        large((8 << 20) + 2);
        bench.write("a", "two");
    });
    assert!(
        matches!(&bench.statuses()["large"], StepStatus::Impossible(why) if why == "it is too large")
    );
    bench.undo().unwrap();
    assert_eq!(bench.read("a"), "one");
    assert_eq!(fs::metadata(bench.path("large")).unwrap().len(), (8 << 20) + 2);
}

#[test]
fn a_turn_of_a_process_that_died_can_be_undone() {
    let bench = Bench::new();
    bench.write("a", "one");
    bench.write("b", "one");
    let before = bench.tree();
    bench.recorder.begin(ID, "go");
    bench.recorder.before_file(&bench.path("new/c"));
    bench.write("new/c", "1");
    bench.recorder.before_anything(&Cancel::new());
    bench.write("a", "two");
    fs::remove_file(bench.path("b")).unwrap();
    let bench = bench.restarted();
    let turns = bench.recorder.turns(ID).unwrap();
    assert!(turns[0].was_interrupted && turns[0].message == "go");
    bench.undo().unwrap();
    assert_eq!(bench.tree(), before);
}

#[test]
fn an_undo_that_was_interrupted_is_continued() {
    let bench = Bench::new();
    bench.write("a", "one");
    bench.write("b", "one");
    bench.command(|| {
        bench.write("a", "two");
        bench.write("b", "two");
    });
    // One file was restored when the process died.
    bench.write("a", "one");
    let bench = bench.restarted();
    assert_eq!(bench.statuses()["a"], StepStatus::Done);
    assert_eq!(bench.undo().unwrap().restored_files, [bench.path("b")]);
    assert_eq!((bench.read("a"), bench.read("b")), ("one".to_owned(), "one".to_owned()));
}

#[test]
fn other_files_in_a_created_directory_are_kept() {
    let bench = Bench::new();
    bench.command(|| bench.write("dir/a", "1"));
    bench.write("dir/mine", "2");
    let result = bench.undo().unwrap();
    assert_eq!(result.dirs, [bench.path("dir")]);
    assert!(result.failures.is_empty() && bench.path("dir/mine").exists());
    assert!(bench.undo().is_none());
}

#[test]
fn a_failure_is_tried_again_and_then_skipped() {
    let bench = Bench::new();
    bench.write("a", "one");
    bench.write("dir/b", "one");
    bench.command(|| {
        bench.write("a", "two");
        fs::remove_dir_all(bench.path("dir")).unwrap();
    });
    bench.write("dir", "a file of the user");
    let result = bench.undo().unwrap();
    assert_eq!(result.restored_files, [bench.path("a")]);
    assert_eq!(result.failures.len(), 1, "{:?}", result.failures);
    assert_eq!(bench.statuses()["dir"], StepStatus::ChangedSince);
    assert!(bench.undo().unwrap().restored_files.is_empty());
    assert!(bench.undo().is_none());
    assert_eq!(bench.read("dir"), "a file of the user");
}

#[test]
fn a_damaged_copy_is_an_error_and_the_file_stays() {
    let bench = Bench::new();
    bench.write("a", "precious");
    bench.command(|| bench.write("a", "two"));
    bench.sql("UPDATE blobs SET content = x'00'");
    let result = bench.undo().unwrap();
    assert_eq!(result.failures[0].1, "the stored copy is damaged");
    assert_eq!(bench.read("a"), "two");
}

#[test]
fn the_model_reads_of_undone_and_redone_turns_once() {
    let bench = Bench::new();
    bench.write("a", "one");
    bench.command(|| bench.write("a", "two"));
    bench.undo().unwrap();
    bench.redo().unwrap();
    assert!(bench.recorder.news(ID).unwrap().is_empty());
    bench.undo().unwrap();
    let bench = bench.restarted();
    let news = bench.recorder.news(ID).unwrap();
    assert_eq!(news, [(Direction::Undo, [bench.path("a")].into())]);
    bench.recorder.mark_news_as_read(ID).unwrap();
    assert!(bench.recorder.news(ID).unwrap().is_empty());
    bench.redo().unwrap();
    assert_eq!(bench.recorder.news(ID).unwrap()[0].0, Direction::Redo);
}

#[test]
fn forgotten_conversations_leave_no_content() {
    let bench = Bench::new();
    bench.write("a", "secret");
    bench.command(|| bench.write("a", "two"));
    let directory = bench.scratch.path().join("snapshots");
    forget(&directory, &["another".to_owned()]).unwrap();
    assert_eq!(bench.recorder.turns(ID).unwrap().len(), 1);
    forget(&directory, &[ID.to_owned()]).unwrap();
    assert!(bench.recorder.turns(ID).unwrap().is_empty());
    for file in fs::read_dir(directory).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("secret"));
    }
}

#[test]
fn a_later_turn_without_changes_writes_only_that_it_is_in_progress() {
    let bench = Bench::new();
    bench.write("a", "one");
    // Files whose metadata shows whether they change.
    Bench::age_files();
    bench.command(|| {});
    bench.sql("CREATE TABLE log (number)");
    bench.sql(
        "CREATE TRIGGER added AFTER INSERT ON trees BEGIN INSERT INTO log VALUES (new.number); END",
    );
    bench.command(|| {});
    assert_eq!(bench.column("SELECT number FROM log"), ["0"]);
    assert_eq!(bench.column("SELECT count(*) FROM trees"), ["1"]);
}

#[test]
fn snapshots_of_another_version_are_not_changed() {
    let bench = Bench::new();
    bench.tool("a", "one");
    bench.sql("PRAGMA user_version = 2");
    let bench = bench.restarted();
    let error = bench.recorder.turns(ID).unwrap_err().to_string();
    assert_eq!(error, "another version of Tenter wrote them");
}

#[test]
fn old_and_too_many_snapshots_are_deleted_but_not_those_in_use() {
    let bench = Bench::new();
    // The thread that deletes snapshots by the clock would run beside the test.
    bench.recorder.state().is_pruned = true;
    let hours = |count: i64| count * 60 * 60;
    for (age, id) in [(3, "one"), (2, "two"), (1, "three")] {
        bench.recorder.begin(id, "go");
        bench.recorder.before_file(&bench.path(id));
        bench.write(id, &id.repeat(100));
        bench.recorder.end().unwrap();
        bench.sql(&format!(
            "UPDATE trees SET changed_at = {} WHERE conversation = '{id}'",
            -hours(age)
        ));
    }
    let conversations = || bench.column("SELECT conversation FROM trees ORDER BY changed_at");
    let prune =
        |oldest, max_bytes| bench.recorder.database.prune_to("three", oldest, max_bytes).unwrap();
    prune(hours(-9), 1 << 20);
    assert_eq!(conversations(), ["one", "two", "three"]);
    prune(hours(-9), 850);
    assert_eq!(conversations(), ["two", "three"]);
    prune(0, 1 << 20);
    assert_eq!(conversations(), ["three"]);
    prune(0, 0);
    assert_eq!(conversations(), ["three"]);
    assert_eq!(bench.column("SELECT sum(length(content)) FROM blobs"), ["500"]);
}

#[test]
fn snapshots_are_private() {
    let bench = Bench::new();
    bench.write("a", "secret");
    bench.command(|| bench.write("a", "two"));
    let mut directories = vec![bench.scratch.path().join("snapshots")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let metadata = entry.metadata().unwrap();
            assert_eq!(metadata.permissions().mode() & 0o077, 0, "{:?}", entry.path());
            if metadata.is_dir() {
                directories.push(entry.path());
            }
        }
    }
}
