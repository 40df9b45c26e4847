//! Changes of sealed journals, and which of them are found.

use super::*;

fn journals() -> (tempfile::TempDir, Seals) {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("journal");
    fs::create_dir(&directory).unwrap();
    (scratch, Seals::from_directory(&directory))
}

fn write(seals: &Seals, name: &str, text: &str) {
    let mut options = OpenOptions::new();
    let mut file = options.append(true).create(true).open(seals.directory.join(name)).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

#[test]
fn untouched_journals_fit_their_seals_and_half_a_line_is_not_sealed() {
    let (_scratch, seals) = journals();
    write(&seals, "a.jsonl", "one\ntwo\nthr");
    assert_eq!(seals.seal(None, at(1)).unwrap()[0].length, 8);
    write(&seals, "a.jsonl", "ee\n");
    write(&seals, "b.jsonl", "x\n");
    assert_eq!(seals.seal(None, at(2)).unwrap().len(), 2);
    assert!(seals.seal(None, at(3)).unwrap().is_empty(), "nothing is new");
    let verification = seals.verify(None).unwrap();
    assert_eq!(verification.findings, []);
    assert_eq!((verification.seals, verification.files, verification.unsealed), (3, 2, 0));
}

#[test]
fn each_change_of_what_was_sealed_is_found() {
    let text = "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n";
    let change_to = |to| SealFinding::Changed { file: "a.jsonl".to_owned(), from: 8, to };
    for (what, now, finding) in [
        ("edited", "{\"n\":1}\n{\"n\":7}\n{\"n\":3}\n", change_to(24)),
        ("swapped", "{\"n\":1}\n{\"n\":3}\n{\"n\":2}\n", change_to(24)),
        ("deleted and filled", "{\"n\":1}\n{\"n\":3}\n{\"n\":4}\n", change_to(24)),
        (
            "truncated",
            "{\"n\":1}\n{\"n\":2}\n",
            SealFinding::Truncated { file: "a.jsonl".to_owned(), length: 16, sealed: 24 },
        ),
    ] {
        let (_scratch, seals) = journals();
        write(&seals, "a.jsonl", &text[..8]);
        seals.seal(None, at(1)).unwrap();
        write(&seals, "a.jsonl", &text[8..]);
        seals.seal(None, at(2)).unwrap();
        fs::write(seals.directory.join("a.jsonl"), now).unwrap();
        assert_eq!(seals.verify(None).unwrap().findings, [finding], "{what}");
    }
    let (_scratch, seals) = journals();
    write(&seals, "a.jsonl", text);
    seals.seal(None, at(1)).unwrap();
    fs::remove_file(seals.directory.join("a.jsonl")).unwrap();
    let missing = SealFinding::Missing { file: "a.jsonl".to_owned() };
    assert_eq!(seals.verify(None).unwrap().findings, [missing]);
}

#[test]
fn a_changed_chain_is_found_and_a_rewritten_one_only_by_an_anchor() {
    let (_scratch, seals) = journals();
    for second in 1..4 {
        write(&seals, "a.jsonl", "line\n");
        seals.seal(None, at(second)).unwrap();
    }
    let head = seals.verify(None).unwrap().head.unwrap();
    assert_eq!(seals.verify(Some(&head)).unwrap().findings, []);
    let text = fs::read_to_string(&seals.chain).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&seals.chain, format!("{}\n{}\n", lines[0], lines[2])).unwrap();
    let finding = SealFinding::BrokenChain { line: 2 };
    assert_eq!(seals.verify(None).unwrap().findings, [finding]);
    // A whole new chain fits, but not the hash that was noted elsewhere.
    fs::remove_file(&seals.chain).unwrap();
    seals.seal(None, at(9)).unwrap();
    assert_eq!(seals.verify(None).unwrap().findings, []);
    let loss = SealFinding::LostAnchor { anchor: head.clone() };
    assert_eq!(seals.verify(Some(&head)).unwrap().findings, [loss]);
}

#[test]
fn a_seal_that_was_cut_by_a_kill_is_written_anew() {
    let (_scratch, seals) = journals();
    write(&seals, "a.jsonl", "line\n");
    seals.seal(None, at(1)).unwrap();
    let mut file = OpenOptions::new().append(true).open(&seals.chain).unwrap();
    file.write_all(b"{\"v\":1,\"ti").unwrap();
    write(&seals, "a.jsonl", "line\n");
    seals.seal(None, at(2)).unwrap();
    let verification = seals.verify(None).unwrap();
    assert_eq!((verification.seals, verification.findings), (2, Vec::new()));
}

#[test]
fn old_and_large_journals_are_deleted_and_the_chain_says_so() {
    let (_scratch, seals) = journals();
    let now = at(100 * 24 * 3600);
    for (name, days) in [("old.jsonl", 9), ("young.jsonl", 2), ("large.jsonl", 1)] {
        let size = if name == "large.jsonl" { 1 << 20 } else { 10 };
        write(&seals, name, &("x".repeat(size) + "\n"));
        let file = OpenOptions::new().append(true).open(seals.directory.join(name)).unwrap();
        file.set_modified(SystemTime::from(now) - DAY * days).unwrap();
    }
    seals.seal(None, now).unwrap();
    let names =
        |seals: Vec<Seal>| -> Vec<String> { seals.into_iter().map(|seal| seal.file).collect() };
    let keep = Retention { keep_days: Some(5), max_mib: None };
    assert_eq!(names(seals.prune(keep, now).unwrap()), ["old.jsonl"]);
    let small = Retention { keep_days: None, max_mib: Some(1) };
    assert_eq!(names(seals.prune(small, now).unwrap()), ["young.jsonl", "large.jsonl"]);
    assert_eq!(seals.verify(None).unwrap().findings, [], "deletions are recorded");
}
