//! The journal: what is written is read back, whatever happens to the files in between.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use tenter_engine::journal::{
    JournalLines, JournalTail, JournalWriter, MaskingObserver, Record, RecordKind, Redactor,
    conversations, read,
};
use tenter_engine::{
    AnswerRecord, AskAnswer, Decision, DecisionKind, DecisionRecord, Fingerprint, HookRun, Layer,
    Observation, Observer as _, RewriteChange, RunEnd, RunRecord,
};
use tenter_protocol::{EventName, Scope, ToolCall};
use tenter_testkit::needs;

use crate::scene::{ObservedRuns, tool_call};

pub(crate) const SECRET: &str = "hunter2-hunter2";

fn scope(conversation: &str, parent: Option<&str>) -> Scope {
    Scope {
        conversation_id: conversation.to_owned(),
        parent_conversation_id: parent.map(str::to_owned),
        cwd: PathBuf::from("/"),
        ..Scope::default()
    }
}

fn observation<R>(conversation: &str, record: R) -> Observation<R> {
    let scope = Arc::new(scope(conversation, None));
    Observation::new(scope, EventName::BeforeTool, Timestamp::UNIX_EPOCH, record)
}

pub(crate) fn run(conversation: &str, reason: &str) -> HookRun {
    let record = RunRecord::new("guard", Layer::User, EventName::BeforeTool);
    let mut run = observation(conversation, record);
    "before_tool_call".clone_into(&mut run.spelling);
    run.fingerprint = Fingerprint("0".repeat(64));
    run.tool_call = Some(tool_call("bash", "ls"));
    run.duration = Duration::from_millis(7);
    run.end = RunEnd::Exited(0);
    run.decision = DecisionKind::Deny;
    run.reason = Some(reason.to_owned());
    run
}

/// Returns a run of the conversation `a`, with a change.
fn run_with(reason: &str, change: impl FnOnce(&mut HookRun)) -> HookRun {
    let mut run = run("a", reason);
    change(&mut run);
    run
}

/// Returns a decision of the conversation `a`, with a change.
fn decision_with(change: impl FnOnce(&mut Decision)) -> Decision {
    let mut decision = decision("a");
    change(&mut decision);
    decision
}

pub(crate) fn decision(conversation: &str) -> Decision {
    let mut decision = observation(conversation, DecisionRecord::default());
    decision.hooks_run = 1;
    decision.decision = DecisionKind::Deny;
    decision.by = Some("guard".to_owned());
    decision
}

pub(crate) fn answer(conversation: &str) -> AskAnswer {
    let (hook, reason) = ("guard".to_owned(), "it publishes".to_owned());
    let record =
        AnswerRecord { hook, reason, answer: "yes".to_owned(), allowed: true, remembered: false };
    let mut answer = observation(conversation, record);
    answer.tool_call = Some(tool_call("bash", "git push"));
    answer
}

pub(crate) struct Journal {
    scratch: TempDir,
}

impl Journal {
    pub(crate) fn new() -> Self {
        Self { scratch: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn directory(&self) -> PathBuf {
        self.scratch.path().join("state/journal")
    }

    pub(crate) fn file(&self, conversation: &str) -> PathBuf {
        self.directory().join(format!("{conversation}.jsonl"))
    }

    pub(crate) fn writer(&self) -> JournalWriter {
        JournalWriter::new(self.directory(), Redactor::new([SECRET.to_owned()]))
    }

    pub(crate) fn read(&self, conversation: &str) -> JournalLines {
        read(&self.directory(), conversation).unwrap()
    }

    /// Appends bytes as another process would.
    pub(crate) fn append(&self, conversation: &str, bytes: &[u8]) {
        fs::create_dir_all(self.directory()).unwrap();
        let file = OpenOptions::new().create(true).append(true).open(self.file(conversation));
        file.unwrap().write_all(bytes).unwrap();
    }
}

pub(crate) fn reasons(lines: &JournalLines) -> Vec<&str> {
    let runs = lines.lines.iter().filter_map(|line| match &line.record.kind {
        RecordKind::Run(run) => Some(run),
        _ => None,
    });
    runs.filter_map(|run| run.reason.as_deref()).collect()
}

#[test]
fn runs_and_decisions_are_read_back_in_the_order_in_which_they_were_written() {
    let journal = Journal::new();
    let writer = journal.writer();
    writer.hook_ran(&run("a", "no"));
    writer.decided(&decision("a"));
    writer.hook_ran(&run("b", "elsewhere"));
    let lines = journal.read("a");
    let records: Vec<Record> = lines.lines.iter().map(|line| line.record.clone()).collect();
    assert_eq!(records, [Record::from(run("a", "no")), Record::from(decision("a"))]);
    assert_eq!((lines.unreadable, lines.unfinished), (0, false));
    assert!(writer.take_trouble().is_none());
}

#[test]
fn a_line_is_the_documented_object_and_is_returned_unchanged() {
    let journal = Journal::new();
    journal.writer().hook_ran(&run("a", "no"));
    let text = fs::read_to_string(journal.file("a")).unwrap();
    let line = &journal.read("a").lines[0];
    assert_eq!(line.text, text.trim_end());
    assert_eq!(
        serde_json::from_str::<Value>(&line.text).unwrap(),
        json!({"v": 1, "time": "1970-01-01T00:00:00.000Z", "conversation_id": "a", "event": "before_tool",
               "tool_call_id": "call-1", "tool_name": "bash", "tool_input": {"command": "ls"}, "kind": "run", "hook": "guard", "layer": "user", "hash": "0".repeat(64),
               "spelling": "before_tool_call", "duration_ms": 7, "exit": "exit 0", "decision": "deny", "reason": "no"})
    );
}

#[test]
fn a_subagents_records_are_in_its_parents_file() {
    let journal = Journal::new();
    let mut child = run("child", "no");
    child.scope = Arc::new(scope("child", Some("parent")));
    journal.writer().hook_ran(&child);
    assert_eq!(conversations(&journal.directory()).unwrap(), ["parent"]);
    assert_eq!(journal.read("parent").lines[0].record.conversation_id, "child");
    assert_eq!(journal.read("child"), JournalLines::default());
}

#[test]
fn reading_a_missing_journal_returns_nothing_and_creates_nothing() {
    let journal = Journal::new();
    let writer = journal.writer();
    assert_eq!(journal.read("a"), JournalLines::default());
    assert!(conversations(&journal.directory()).unwrap().is_empty());
    drop(writer);
    assert!(!journal.directory().exists());
}

#[test]
fn only_the_owner_can_read_a_journal() {
    let journal = Journal::new();
    journal.writer().hook_ran(&run("a", "no"));
    let mode = |path: PathBuf| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(journal.file("a")), 0o600);
    assert_eq!(mode(journal.directory()), 0o700);
    assert_eq!(mode(journal.scratch.path().join("state")), 0o700);
}

#[test]
fn an_id_that_looks_like_a_path_stays_in_the_directory() {
    let journal = Journal::new();
    for id in ["../../outside", "/etc/passwd", "a/b", "..", "", "nul\0byte", "ä"] {
        let writer = journal.writer();
        writer.hook_ran(&run(id, "no"));
        assert!(writer.take_trouble().is_none(), "{id:?}");
        assert_eq!(journal.read(id).lines.last().unwrap().record.conversation_id, id);
    }
    let all = fs::read_dir(journal.scratch.path().join("state")).unwrap().count();
    assert_eq!(all, 1, "nothing but the journal's directory was made");
    assert!(
        fs::read_dir(journal.directory()).unwrap().all(|entry| entry.unwrap().path().is_file())
    );
}

#[test]
fn a_truncated_line_affects_no_other_line() {
    let journal = Journal::new();
    journal.writer().hook_ran(&run("a", "before"));
    let long_lived = journal.writer();
    long_lived.hook_ran(&run("a", "before too"));
    // Another process is killed while it writes, while the writer above has the file open.
    journal.append("a", br#"{"v": 1, "time": "2026"#);
    let cut = journal.read("a");
    assert_eq!((cut.lines.len(), cut.unreadable, cut.unfinished), (2, 1, true));
    long_lived.hook_ran(&run("a", "after"));
    journal.append("a", b"\xff\xfe half");
    journal.writer().hook_ran(&run("a", "after too"));
    let lines = journal.read("a");
    assert_eq!(reasons(&lines), ["before", "before too", "after", "after too"]);
    assert_eq!((lines.unreadable, lines.unfinished), (2, false));
}

#[test]
fn concurrent_writers_do_not_mix_their_lines() {
    const WRITERS: usize = 4;
    const EACH: usize = 50;
    let journal = Journal::new();
    // JournalLines far longer than any buffer, so that a write in two pieces would show.
    let long = |writer: usize| format!("{writer}").repeat(15_000);
    thread::scope(|threads| {
        for number in 0..WRITERS {
            let journal = &journal;
            threads.spawn(move || {
                let writer = journal.writer(); // a file description of its own, as another process has
                (0..EACH).for_each(|_| writer.hook_ran(&run("a", &long(number))));
            });
        }
    });
    let lines = journal.read("a");
    assert_eq!((lines.lines.len(), lines.unreadable), (WRITERS * EACH, 0));
    for number in 0..WRITERS {
        assert_eq!(reasons(&lines).iter().filter(|reason| **reason == long(number)).count(), EACH);
    }
}

#[test]
fn records_of_newer_versions_are_kept_and_shown_as_far_as_known() {
    let journal = Journal::new();
    let envelope = r#""time": "T", "conversation_id": "a", "event": "before_tool""#;
    let lines = [
        format!(r#"{{"v": 2, {envelope}, "kind": "budget", "hook": "guard", "left": 3}}"#),
        format!(
            r#"{{"v": 2, {envelope}, "kind": "decision", "decision": "postpone", "hooks_run": 1}}"#
        ),
        format!(
            r#"{{"v": 2, {envelope}, "kind": "decision", "decision": "deny", "hooks_run": 1, "weight": 7}}"#
        ),
        format!(r#"{{"v": 1, {envelope}}}"#),
    ];
    journal.append("a", (lines.join("\n") + "\n[1]\n{}\n").as_bytes());
    let copy = journal.read("a");
    assert_eq!(copy.unreadable, 2, "what lacks what every version writes is no record");
    let texts: Vec<&String> = copy.lines.iter().map(|line| &line.text).collect();
    assert_eq!(texts, lines.iter().collect::<Vec<_>>());
    let kinds: Vec<&RecordKind> = copy.lines.iter().map(|line| &line.record.kind).collect();
    assert!(
        matches!(kinds[0], RecordKind::Other(fields) if fields["left"] == 3 && fields["kind"] == "budget")
    );
    assert!(matches!(kinds[1], RecordKind::Other(fields) if fields["decision"] == "postpone"));
    assert!(
        matches!(kinds[2], RecordKind::Decision(known) if known.decision == DecisionKind::Deny)
    );
    assert!(matches!(kinds[3], RecordKind::Other(fields) if fields.is_empty()));
    assert_eq!(copy.lines.iter().filter(|line| line.record.is_newer()).count(), 3);
}

#[test]
fn a_tail_reads_each_line_once_and_waits_for_the_rest_of_half_a_line() {
    let journal = Journal::new();
    let mut tail = JournalTail::new(&journal.directory(), "a");
    assert_eq!(tail.read().unwrap(), JournalLines::default());
    let writer = journal.writer();
    writer.hook_ran(&run("a", "one"));
    assert_eq!(reasons(&tail.read().unwrap()), ["one"]);
    assert_eq!(tail.read().unwrap(), JournalLines::default());
    let line = fs::read(journal.file("a")).unwrap();
    let (half, rest) = line.split_at(line.len() / 2);
    journal.append("a", half);
    let waiting = tail.read().unwrap();
    assert!(waiting.lines.is_empty() && waiting.unfinished && waiting.unreadable == 0);
    journal.append("a", rest);
    writer.hook_ran(&run("a", "three"));
    assert_eq!(reasons(&tail.read().unwrap()), ["one", "three"]);
    fs::remove_file(journal.file("a")).unwrap();
    assert_eq!(tail.read().unwrap(), JournalLines::default());
}

#[test]
fn a_tail_restarts_when_the_file_is_truncated() {
    let journal = Journal::new();
    let mut tail = JournalTail::new(&journal.directory(), "a");
    journal.writer().hook_ran(&run("a", "a long reason, so that the next file is shorter"));
    tail.read().unwrap();
    fs::remove_file(journal.file("a")).unwrap();
    journal.writer().hook_ran(&run("a", "short"));
    assert_eq!(reasons(&tail.read().unwrap()), ["short"]);
}

#[test]
fn a_write_error_is_reported_once_and_later_records_are_written() {
    let journal = Journal::new();
    fs::create_dir_all(journal.scratch.path().join("state")).unwrap();
    File::create(journal.directory()).unwrap(); // a file where the directory should be
    let writer = journal.writer();
    writer.hook_ran(&run("a", "lost"));
    writer.decided(&decision("b"));
    let trouble = writer.take_trouble().unwrap();
    assert_eq!(trouble.id, "journal-not-written");
    assert_eq!(trouble.path, Some(journal.directory()));
    assert!(writer.take_trouble().is_none());
    writer.hook_ran(&run("a", "lost too"));
    assert!(writer.take_trouble().is_none(), "it was already reported");
    fs::remove_file(journal.directory()).unwrap();
    writer.hook_ran(&run("a", "written"));
    assert_eq!(reasons(&journal.read("a")), ["written"]);
}

#[test]
fn a_full_disk_is_reported_without_a_panic() {
    if !Path::new("/dev/full").exists() {
        needs::skipped("dev-full", "there is no /dev/full");
        return;
    }
    let journal = Journal::new();
    fs::create_dir_all(journal.directory()).unwrap();
    symlink("/dev/full", journal.file("a")).unwrap();
    let writer = journal.writer();
    writer.hook_ran(&run("a", "lost"));
    let trouble = writer.take_trouble().unwrap();
    assert!(trouble.message.contains("No space left"), "{}", trouble.message);
    writer.hook_ran(&run("b", "written"));
    assert_eq!(reasons(&journal.read("b")), ["written"]);
}

/// Every text that a hook, a model or a user can put into a record holds a secret, so a field that is not masked shows.
#[test]
fn secrets_are_kept_out_of_everything_that_a_hook_can_put_into_a_record() {
    let journal = Journal::new();
    let writer = journal.writer();
    let key = "AKIAABCDEFGHIJKLMNOP";
    let text = format!("with {SECRET} and {key}");
    let call = ToolCall { id: text.clone(), ..tool_call(&text, &text) };
    let mut run = run("a", &text);
    run.tool_call = Some(call.clone());
    run.change = Some(RewriteChange {
        before: json!({"command": text, SECRET: [key]}),
        after: json!([[{"x": text}]]),
    });
    (run.stdout, run.stderr_tail) = (text.clone(), text.clone());
    (run.warnings, run.notes) = (vec![text.clone(), text.clone()], vec![text.clone()]);
    writer.hook_ran(&run);
    writer.decided(&decision_with(|decision| {
        decision.tool_call = Some(call.clone());
        decision.reason = Some(text.clone());
    }));
    let mut answer = answer("a");
    (answer.tool_call, answer.reason) = (Some(call), text);
    writer.ask_answered(&answer);
    let new_text = fs::read_to_string(journal.file("a")).unwrap();
    assert!(!new_text.contains(SECRET) && !new_text.contains(key), "{new_text}");
    assert_eq!(new_text.lines().count(), 3);
    let each_line: Vec<usize> =
        new_text.lines().map(|line| line.matches("AKIA[16 redacted]").count()).collect();
    // Id, name and input of the call, and every other text of the record.
    assert_eq!(each_line, [12, 4, 4], "{new_text}");
    assert_eq!(new_text.matches("hunt[11 redacted]").count(), 20, "{new_text}");
}

#[test]
fn an_observer_behind_a_mask_sees_no_secret() {
    let observed = Arc::new(ObservedRuns::default());
    let mask = MaskingObserver::new(Redactor::new([SECRET.to_owned()]), observed.clone());
    mask.hook_ran(&run_with(SECRET, |run| run.notes = vec![SECRET.to_owned()]));
    mask.decided(&decision_with(|decision| decision.reason = Some(SECRET.to_owned())));
    let reports =
        format!("{:?}{:?}", observed.runs.lock().unwrap(), observed.decisions.lock().unwrap());
    assert!(
        !reports.contains(SECRET) && reports.matches("hunt[11 redacted]").count() == 3,
        "{reports}"
    );
}

#[test]
fn a_run_a_decision_and_an_answer_name_the_tool_and_its_input() {
    let journal = Journal::new();
    let writer = JournalWriter::new(journal.directory(), Redactor::default())
        .for_project(Path::new("/home/ada/shop"));
    let long = "x".repeat(100_000);
    writer.hook_ran(&run_with("no", |run| run.tool_call = Some(tool_call("bash", &long))));
    writer.decided(&decision_with(|decision| decision.tool_call = Some(tool_call("bash", "ls"))));
    let mut answer = answer("a");
    "nobody to ask".clone_into(&mut answer.answer);
    (answer.allowed, answer.remembered) = (false, true);
    writer.ask_answered(&answer);
    let lines: Vec<Value> = fs::read_to_string(journal.file("a"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(lines.iter().all(|line| line["tool_name"] == "bash"));
    assert!(lines.iter().all(|line| line["project"] == "/home/ada/shop"));
    let input = lines[0]["tool_input"]["command"].as_str().unwrap();
    assert!(input.ends_with("bytes omitted]") && input.len() < 3_000, "{}", input.len());
    assert_eq!(lines[1]["tool_input"], json!({"command": "ls"}));
    assert_eq!(
        lines[2],
        json!({"v": 1, "time": "1970-01-01T00:00:00.000Z", "conversation_id": "a", "project": "/home/ada/shop",
               "event": "before_tool", "tool_call_id": "call-1", "tool_name": "bash", "tool_input": {"command": "git push"},
               "kind": "answer", "hook": "guard", "reason": "it publishes", "answer": "nobody to ask", "allowed": false,
               "remembered": true})
    );
    let kinds = journal.read("a").lines;
    assert!(matches!(&kinds[2].record.kind, RecordKind::Answer(answer) if answer.remembered));
}

#[test]
fn only_one_of_many_writers_begins_a_new_line_after_half_a_line() {
    for _ in 0..20 {
        let journal = Journal::new();
        journal.append("a", b"{\"half\":");
        let barrier = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let writer = journal.writer();
                    barrier.wait();
                    writer.hook_ran(&run("a", "no"));
                });
            }
        });
        let text = fs::read_to_string(journal.file("a")).unwrap();
        let empty = text.lines().filter(|line| line.is_empty()).count();
        assert_eq!((text.lines().count(), empty), (9, 0), "{text}");
    }
}

/// A line as it was written before records named the tool.
#[test]
fn an_old_record_is_read() {
    let journal = Journal::new();
    let old = r#"{"v": 1, "time": "2025-01-01T00:00:00.000Z", "conversation_id": "a", "event": "before_tool", "tool_call_id": "c", "kind": "run", "hook": "guard", "layer": "user", "hash": "", "spelling": "before_tool_call", "duration_ms": 7, "exit": "exit 0", "decision": "deny", "reason": "no"}"#;
    journal.append("a", format!("{old}\n").as_bytes());
    let lines = journal.read("a");
    assert_eq!((reasons(&lines), lines.unreadable), (vec!["no"], 0));
    let record = &lines.lines[0].record;
    assert!(record.tool_name.is_none() && record.project.is_none());
}

#[test]
fn two_secrets_with_the_same_prefix_are_both_masked() {
    let longer = format!("{SECRET}-and-more");
    let redactor = Redactor::new([SECRET.to_owned(), longer.clone()]);
    assert_eq!(redactor.text(&format!("{longer} {SECRET}")), "hunt[20 redacted] hunt[11 redacted]");
}

#[test]
fn long_texts_are_cut_and_the_record_stays_valid() {
    let journal = Journal::new();
    let long = "x".repeat(1 << 20);
    let change = RewriteChange { before: json!(long), after: json!({"content": long}) };
    journal.writer().hook_ran(&run_with(&long, |run| {
        (run.stderr_tail, run.change) = (long.clone(), Some(change));
    }));
    let lines = journal.read("a");
    assert_eq!(lines.lines.len(), 1);
    assert!(lines.lines[0].text.len() < 100_000, "{}", lines.lines[0].text.len());
    assert_eq!(lines.lines[0].text.matches("bytes omitted]").count(), 4);
}

#[test]
fn a_rewrite_nested_to_the_json_limit_round_trips() {
    let journal = Journal::new();
    let deep: Value = serde_json::from_str(&("[".repeat(127) + &"]".repeat(127))).unwrap();
    let change = RewriteChange { before: Value::Null, after: deep };
    journal.writer().hook_ran(&run_with("no", |run| run.change = Some(change)));
    let lines = journal.read("a");
    assert!(matches!(&lines.lines[..], [line] if matches!(line.record.kind, RecordKind::Run(_))));
    assert!(lines.lines[0].text.contains("nested too deeply"));
}
