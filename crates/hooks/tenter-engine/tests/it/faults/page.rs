//! The tables of `docs/reliability.md`: generated from the results of the matrix, and compared with the page.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tenter_engine::{DecisionKind, FailMode};
use tenter_protocol::lifecycle::{Power, TABLE};

use super::fault::Fault;
use super::stage::{Effect, Row};
use super::{Means, UPDATE, Way};

/// The markers around the tables in the page.
const BEGIN: &str = "<!-- begin: tables of the matrix -->\n";
const END: &str = "<!-- end: tables of the matrix -->\n";

/// Compares the page with the results, or updates it if the user asked for that.
#[expect(clippy::disallowed_methods, reason = "the user may ask to update the page")]
pub(super) fn compare(faults: &[Fault], rows: &[Row], asynchronous: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reliability.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (table, after) = rest.split_once(END).unwrap();
    let rows_text =
        format!("\n{}\n{}\n{asynchronous}\n", write_faults(faults, rows), write_events(rows));
    if std::env::var_os(UPDATE).is_some() {
        fs::write(&path, format!("{before}{BEGIN}{rows_text}{END}{after}")).unwrap();
        return;
    }
    assert!(
        table == rows_text,
        "docs/reliability.md is not what was found; {UPDATE}=1 writes it anew:\n{rows_text}"
    );
}

/// Returns the table of faults and their results, which are the same at every event.
fn write_faults(faults: &[Fault], rows: &[Row]) -> String {
    let mut table = "| A hook that … | executable | manifest hook | runtime hook, called | left running |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for fault in faults {
        let [executable, manifest, runtime] = Way::ALL.map(|way| words(fault, way, rows));
        let survivors = if fault.survivors(Way::Manifest) > 0 {
            "what it started, by design; nothing that a called hook started"
        } else {
            "nothing"
        };
        let _ = writeln!(
            table,
            "| {} | {executable} | {manifest} | {runtime} | {survivors} |",
            fault.name
        );
    }
    table
}

/// Returns the result of a fault, the same at every event at which a reply has an effect.
fn words(fault: &Fault, way: Way, rows: &[Row]) -> String {
    if !fault.is_possible(way) {
        return "does not apply".to_owned();
    }
    let is_meant =
        |row: &&Row| row.fault == fault.name && row.way == way && row.event.may(Power::AddContext);
    let rows_text: BTreeSet<String> =
        rows.iter().filter(is_meant).map(|row| in_words(row, fault.means(way))).collect();
    assert_eq!(rows_text.len(), 1, "{}: {rows_text:?}", fault.name);
    rows_text.into_iter().collect()
}

/// Returns the recorded result of the run and its reason, which the stage has checked.
fn in_words(row: &Row, means: Means) -> String {
    match (row.decision, means) {
        (_, Means::Unusable { reason }) => {
            format!("decides nothing, with a warning; set to fail closed, it fails: {reason}")
        }
        (DecisionKind::Failed, Means::Fails { reason, .. }) => format!("fails: {reason}"),
        (DecisionKind::Deny, _) => "denies".to_owned(),
        (DecisionKind::None, Means::Silent { warning }) if !warning.is_empty() => {
            "decides nothing, with a warning".to_owned()
        }
        (DecisionKind::None, _) => "decides nothing".to_owned(),
        _ => "takes effect".to_owned(),
    }
}

/// Returns the table of events and the effect of a failure, which is the same for every fault.
fn write_events(rows: &[Row]) -> String {
    let mut table =
        "| At | a failure, fail open | a failure, fail closed | a trusted hook that changed |\n| --- | --- | --- | --- |\n".to_owned();
    for lifecycle in &TABLE {
        let kinds = [(FailMode::Open, false), (FailMode::Closed, false), (FailMode::Open, true)];
        let [open, closed, changed] = kinds.map(|(fail, has_changed)| {
            let is_meant = |row: &&Row| {
                row.decision == DecisionKind::Failed
                    && row.event == lifecycle.event
                    && (row.fail, row.has_changed) == (fail, has_changed)
            };
            let rows_text: BTreeSet<&str> = rows.iter().filter(is_meant).map(effect).collect();
            assert_eq!(rows_text.len(), 1, "{}: {rows_text:?}", lifecycle.name);
            rows_text.into_iter().collect::<String>()
        });
        let _ = writeln!(table, "| `{}` | {open} | {closed} | {changed} |", lifecycle.name);
    }
    table
}

fn effect(row: &Row) -> &'static str {
    match row.effect {
        Effect::Told => "is reported, and the agent continues",
        Effect::Denied => "denies",
        Effect::Withheld => "withholds the tool's output",
    }
}
