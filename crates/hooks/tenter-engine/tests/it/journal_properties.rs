//! The journal under everything that may be written into it, and however its file is cut.

use std::fs;
use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::Value;
use tenter_engine::journal::{JournalTail, Record, RecordKind, Redactor};
use tenter_engine::{
    Decision, DecisionKind, HookRun, Notice, NoticeRecord, Observer as _, RewriteChange,
};
use tenter_protocol::{EventName, ToolCall};

use crate::journal::{Journal, SECRET, decision, reasons, run};

/// Returns any text, with a secret in it now and then.
fn any_text() -> impl Strategy<Value = String> {
    ("(?s:.){0,20}", any::<bool>())
        .prop_map(|(text, secret)| if secret { format!("{text}{SECRET}\n{text}") } else { text })
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any_text(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_decision_kind() -> impl Strategy<Value = DecisionKind> {
    use DecisionKind::*;
    prop::sample::select(vec![
        None, Allow, Context, Continue, Rewrite, Callback, Mutate, Ask, Deny, Failed,
    ])
}

fn any_decisions() -> impl Strategy<Value = Vec<DecisionKind>> {
    prop::collection::vec(any_decision_kind(), 0..3)
}

fn any_call() -> impl Strategy<Value = ToolCall> {
    (any_text(), any_text(), prop::collection::btree_map(any_text(), any_json(), 0..3))
        .prop_map(|(id, name, input)| ToolCall { id, name, input: input.into_iter().collect() })
}

fn any_event() -> impl Strategy<Value = EventName> {
    prop::sample::select(tenter_protocol::lifecycle::TABLE.map(|row| row.event).to_vec())
}

prop_compose! {
    fn any_run()(
        event in any_event(),
        (hook, exit, stderr_tail) in (any_text(), any_text(), any_text()),
        tool_call in prop::option::of(any_call()),
        (stdout, warnings) in (any_text(), prop::collection::vec(any_text(), 0..3)),
        (also, notes) in (any_decisions(), prop::collection::vec(any_text(), 0..3)),
        (second, nanosecond) in (0i64..4_000_000_000, 0i32..1_000_000_000),
        milliseconds in any::<u64>(),
        decision in any_decision_kind(),
        reason in prop::option::of(any_text()),
        change in prop::option::of((any_json(), any_json())),
    ) -> HookRun {
        let mut run = run("a", "");
        (run.event, run.hook, run.end) = (event, hook, exit.into());
        (run.stdout, run.stderr_tail, run.warnings, run.notes) = (stdout, stderr_tail, warnings, notes);
        (run.tool_call, run.decision, run.also, run.reason) = (tool_call, decision, also, reason);
        run.time = Timestamp::new(second, nanosecond).unwrap();
        run.duration = Duration::from_millis(milliseconds);
        run.change = change.map(|(before, after)| RewriteChange { before, after });
        run
    }
}

prop_compose! {
    fn any_decision()(
        event in any_event(),
        tool_call in prop::option::of(any_call()),
        also in any_decisions(),
        (hooks_run, by_failure) in (any::<usize>(), any::<bool>()),
        kind in any_decision_kind(),
        by in prop::option::of(any_text()),
        reason in prop::option::of(any_text()),
        overruled in prop::collection::vec(any_text(), 0..3),
    ) -> Decision {
        let mut decision = decision("a");
        (decision.event, decision.tool_call) = (event, tool_call);
        let record = &mut decision.record;
        (record.hooks_run, record.decision, record.also) = (hooks_run, kind, also);
        (record.by, record.reason) = (by, reason);
        (record.by_failure, record.overruled) = (by_failure, overruled);
        decision
    }
}

/// Returns the record with everything treated that a hook can put into it.
fn redact(mut record: Record) -> Record {
    let redactor = Redactor::new([SECRET.to_owned()]);
    record.tool_call_id = record.tool_call_id.map(|id| redactor.text(&id));
    record.tool_name = record.tool_name.map(|name| redactor.text(&name));
    record.tool_input = record
        .tool_input
        .map(|input| redactor.value(Value::Object(input)).as_object().cloned().unwrap_or_default());
    match &mut record.kind {
        RecordKind::Run(run) => {
            run.reason = run.reason.as_ref().map(|reason| redactor.text(reason));
            run.stdout = redactor.text(&run.stdout);
            run.stderr_tail = redactor.text(&run.stderr_tail);
            for text in run.warnings.iter_mut().chain(&mut run.notes) {
                *text = redactor.text(text);
            }
            run.change = run.change.take().map(|change| RewriteChange {
                before: redactor.value(change.before),
                after: redactor.value(change.after),
            });
        }
        RecordKind::Decision(decision) => {
            decision.reason = decision.reason.as_ref().map(|reason| redactor.text(reason));
        }
        RecordKind::Notice(notice) => notice.text = redactor.text(&notice.text),
        RecordKind::Answer(_) | RecordKind::Permission(_) | RecordKind::Other(_) => {
            unreachable!("none is written here")
        }
    }
    record
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_record_round_trips(run in any_run(), decision in any_decision(), text in any_text()) {
        let journal = Journal::new();
        let writer = journal.writer();
        writer.hook_ran(&run);
        writer.decided(&decision);
        let record = NoticeRecord { hook: None, text };
        let notice = Notice::new(decision.scope.clone(), decision.event, decision.time, record);
        writer.noticed(&notice);
        let lines = journal.read("a");
        let records: Vec<Record> = lines.lines.into_iter().map(|line| line.record).collect();
        let new_text = [Record::from(run), Record::from(decision), Record::from(notice)];
        prop_assert_eq!(records, new_text.map(redact));
        prop_assert_eq!(lines.unreadable, 0);
    }

    #[test]
    fn a_tail_reads_every_complete_line_once_for_any_split(cuts in prop::collection::vec(0usize..2000, 0..6)) {
        let journal = Journal::new();
        let source = Journal::new();
        let writer = source.writer();
        for reason in ["one", "two", "three", "four"] {
            writer.hook_ran(&run("a", reason));
        }
        let bytes = fs::read(source.file("a")).unwrap();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let mut tail = JournalTail::new(&journal.directory(), "a");
        let mut ids = Vec::new();
        for piece in cuts.windows(2) {
            journal.append("a", &bytes[piece[0]..piece[1]]);
            let lines = tail.read().unwrap();
            prop_assert_eq!(lines.unreadable, 0);
            ids.extend(reasons(&lines).into_iter().map(str::to_owned));
        }
        prop_assert_eq!(ids, ["one", "two", "three", "four"]);
    }
}
