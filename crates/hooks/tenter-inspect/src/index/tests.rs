//! Tests of the index with journals in files.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use super::*;

fn record(number: usize, more: &str) -> String {
    format!(
        "{{\"v\":1,\"time\":\"2026-03-01T09:00:{:02}.000Z\",\"conversation_id\":\"c\",\"event\":\"before_tool\",{more}}}\n",
        number % 60
    )
}

fn run(number: usize) -> String {
    let more = format!(
        "\"project\":\"/p\",\"kind\":\"run\",\"hook\":\"guard\",\"hash\":\"h\",\"duration_ms\":{number},\"exit\":\"exit 0\",\"decision\":\"deny\""
    );
    record(number, &more)
}

#[test]
fn only_what_is_new_is_read_and_half_a_line_waits_for_its_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("c.jsonl");
    let write = |text: &str| {
        let mut file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    let mut index = JournalIndex::new(directory.path());
    assert_eq!(index.advance(None).unwrap(), Progress::default());
    let half = run(3);
    write(&[&run(1), "{broken\n", "\n", &run(2), &half[..40]].concat());
    assert!(index.advance(None).unwrap().is_complete());
    let session = |index: &JournalIndex| {
        let sessions = index.sessions();
        let session = &sessions[0];
        (session.records, session.runs, session.denials, session.unreadable)
    };
    assert_eq!(session(&index), (2, 2, 0, 1));
    write(&half[40..]);
    write(&record(4, r#""kind":"decision","decision":"deny","hooks_run":1,"by":"guard""#));
    write(&record(5, r#""kind":"dream","decision":"fly""#));
    assert!(index.advance(None).unwrap().is_complete());
    assert_eq!(session(&index), (5, 3, 1, 1));
    assert_eq!(index.runs_of("/p").count(), 3);
    assert_eq!(index.runs_of("/q").count(), 0);
    fs::remove_file(&path).unwrap();
    index.advance(None).unwrap();
    assert!(index.sessions().is_empty());
}

#[test]
fn the_holes_of_a_huge_journal_are_skipped_and_only_its_newest_part_is_read() {
    use std::os::unix::fs::FileExt as _;

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("c.jsonl");
    fs::write(&path, [run(1), run(2)].concat()).unwrap();
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(50 << 30).unwrap();
    let mut index = JournalIndex::new(directory.path());
    assert!(index.advance(None).unwrap().is_complete());
    assert_eq!((index.runs().count(), index.cut().count()), (2, 0));
    // Lines after the hole, too: a line of zeros ends there.
    file.write_all_at(["\n", &run(3), &run(4)].concat().as_bytes(), 50 << 30).unwrap();
    assert!(index.advance(None).unwrap().is_complete());
    assert_eq!(index.runs().count(), 4);
    let mut again = JournalIndex::new(directory.path());
    assert!(again.advance(None).unwrap().is_complete());
    assert_eq!(again.runs().count(), 4);
}

#[test]
fn records_before_a_time_need_not_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for number in 0..20_000 {
        let (run, day, hour) = (run(number), 1 + number / 1000, number % 24);
        let start = run.find("\"conversation_id").unwrap();
        let time = format!("2026-03-{day:02}T{hour:02}:00:00.000Z");
        text += &["{\"v\":1,\"time\":\"", &time, "\",", &run[start..]].concat();
    }
    let path = directory.path().join("c.jsonl");
    fs::write(&path, &text).unwrap();
    fs::write(directory.path().join("old.jsonl"), run(1)).unwrap();
    let old = OpenOptions::new().write(true).open(directory.path().join("old.jsonl")).unwrap();
    old.set_modified("2026-03-01T00:00:00Z".parse::<Timestamp>().unwrap().into()).unwrap();
    let since: Timestamp = "2026-03-20T00:00:00Z".parse().unwrap();
    let mut index = JournalIndex::new(directory.path()).since(Some(since));
    assert!(index.advance(None).unwrap().is_complete());
    let recent = |index: &JournalIndex| index.runs().filter(|run| run.at >= since).count();
    assert_eq!(recent(&index), 1000);
    assert!(index.runs().count() < 3000, "{}", index.runs().count());
    assert_eq!(index.sessions().len(), 1);
    let mut all = JournalIndex::new(directory.path());
    all.advance(None).unwrap();
    assert_eq!((recent(&all), all.runs().count()), (1000, 20_001));
}

#[test]
fn a_time_limit_is_kept_and_the_rest_is_read_later() {
    let directory = tempfile::tempdir().unwrap();
    let text: String = (0..20_000).map(run).collect();
    assert!(text.len() as u64 > 2 * BLOCK);
    fs::write(directory.path().join("c.jsonl"), &text).unwrap();
    fs::create_dir(directory.path().join("d.jsonl")).unwrap();
    let mut index = JournalIndex::new(directory.path());
    let progress = index.advance(Some(Duration::ZERO)).unwrap();
    assert!(!progress.is_complete() && progress.total == text.len() as u64);
    assert!(index.advance(None).unwrap().is_complete());
    assert_eq!(index.runs().count(), 20_000);
    assert_eq!(index.failed().count(), 1);
}
