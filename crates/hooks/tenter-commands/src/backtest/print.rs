//! The report of a backtest for the terminal.

use tenter_backtest::{
    HostCounts, Report, RuleReport, StoppedCommand, UNKNOWN_PROJECT, VerdictDiff,
};
use tenter_base::{one_line, visible};
use tenter_engine::DecisionKind;
use tenter_terminal::ui::short_time;
use tenter_terminal::{FAINT, HEADING, NAME, NOTICE, styled, ui};

/// Maximum number of characters of a command.
const MAX_COMMAND: usize = 160;
/// Maximum number of unknown kinds of records that are named for one agent.
const MAX_KINDS: usize = 5;

pub(super) fn report(report: &Report, is_everywhere: bool) {
    if report.calls == 0 {
        let place = if is_everywhere { "any project" } else { "this project" };
        ui::note(format!("No transcript has tool calls of {place} in this time."));
        if !is_everywhere {
            ui::note("--all replays the calls of all projects.");
        }
    } else {
        ui::out(styled(HEADING, in_short(report)));
    }
    for rule in &report.rules {
        ui::out("");
        print_rule(rule, report.calls);
    }
    if !report.undecided.is_empty() {
        let names: Vec<_> = report.undecided.iter().map(|name| visible(name)).collect();
        let names = names.join(", ");
        ui::note(format!("Not judged, because they need a process or cannot run: {names}."));
    }
    print_notes(&report.hosts);
}

/// Prints which calls change their verdict.
pub(super) fn diff(diff: &VerdictDiff) {
    let verdict = if diff.changed == 1 { "changes its verdict" } else { "change their verdicts" };
    let calls = format_count(diff.calls, "call");
    let count = number(diff.changed);
    ui::out(styled(HEADING, format!("{calls}: {count} {verdict}.")));
    for change in &diff.changes {
        ui::out("");
        ui::out(format!(
            "{} → {}  {} by {}, {}",
            styled(FAINT, change.before.as_str()),
            styled(NOTICE, change.after.as_str()),
            format_count(change.rule.calls, "call"),
            styled(NAME, rule_name(&change.rule)),
            format_count(change.rule.distinct as u64, "distinct command"),
        ));
        print_commands(&change.rule);
    }
    print_notes(&diff.hosts);
}

fn rule_name(rule: &RuleReport) -> String {
    let name = match &rule.rule {
        Some(name) => format!("{}: {}", rule.hook, name),
        None => rule.hook.clone(),
    };
    visible(&name).into_owned()
}

fn print_commands(rule: &RuleReport) {
    rule.commands.iter().for_each(print_command);
    let more = rule.distinct.saturating_sub(rule.commands.len());
    if more > 0 {
        ui::out(styled(FAINT, format!("  … and {} more; --limit shows more", number(more as u64))));
    }
}

/// Returns the sentence that sums a report up.
pub(super) fn in_short(report: &Report) -> String {
    let with_calls = report.hosts.iter().filter(|(_, counts)| counts.calls > 0);
    let hosts: Vec<&str> = with_calls.map(|(host, _)| *host).collect();
    let unknown = match report.unknown {
        0 => String::new(),
        unknown => format!(", {} cannot be judged", number(unknown)),
    };
    format!(
        "{} in {} of {}: {} would be stopped, {} pass{unknown}.",
        format_count(report.calls, "call"),
        format_count(report.sessions as u64, "session"),
        hosts.join(", "),
        number(report.stopped),
        number(report.passed),
    )
}

fn print_rule(rule: &RuleReport, calls: u64) {
    let verb = match rule.decision {
        DecisionKind::Confine => "confine",
        DecisionKind::Ask => "ask about",
        _ => "deny",
    };
    let denials = match rule.denied {
        0 => String::new(),
        1 => "; 1 of them was denied anyway".to_owned(),
        denied => format!("; {} of them were denied anyway", number(denied)),
    };
    ui::out(format!(
        "{}  would {verb} {} of {} in {}, {}{denials}",
        styled(NAME, rule_name(rule)),
        styled(NOTICE, number(rule.calls)),
        format_count(calls, "call"),
        format_count(rule.sessions as u64, "session"),
        format_count(rule.distinct as u64, "distinct command"),
    ));
    ui::out(styled(FAINT, format!("  {}", one_line(&rule.reason, MAX_COMMAND))));
    print_commands(rule);
}

fn print_command(command: &StoppedCommand) {
    let times =
        if command.calls > 1 { format!(" ({} times)", command.calls) } else { String::new() };
    ui::out(format!("  {}{times}", one_line(&command.command, MAX_COMMAND)));
    let time = if command.time.is_empty() {
        "at an unknown time".to_owned()
    } else {
        short_time(&command.time)
    };
    let line = if command.line > 0 { format!(":{}", command.line) } else { String::new() };
    let project = match command.project.as_str() {
        UNKNOWN_PROJECT => "an unknown directory".into(),
        project => visible(project),
    };
    let context = format!(
        "    {time}, {}, in {project}; see {}{line}",
        command.host,
        visible(&command.file),
    );
    ui::out(styled(FAINT, context));
}

/// Notes what was not read, and why.
pub(crate) fn print_notes(hosts: &HostCounts) {
    for (host, counts) in hosts {
        if !counts.unknown.is_empty() {
            let total: u64 = counts.unknown.values().sum();
            let kinds = counts.unknown.iter().take(MAX_KINDS);
            let kinds: Vec<String> =
                kinds.map(|(kind, count)| format!("{} ({count})", visible(kind))).collect();
            ui::note(format!(
                "{host}: {} of kinds that this version does not know: {}.",
                format_count(total, "record"),
                kinds.join(", ")
            ));
        }
        if counts.unreadable_lines + counts.long_lines > 0 {
            let lines = counts.unreadable_lines + counts.long_lines;
            ui::note(format!("{host}: {} could not be read.", format_count(lines, "line")));
        }
        for (file, why) in &counts.unreadable_files {
            ui::note(format!("{host}: cannot read {}: {}", visible(file), visible(why)));
        }
    }
}

/// Returns a number with its noun: `1 call`, `1,204 calls`.
pub(super) fn format_count(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", number(count))
}

/// Returns a number with commas: `1,204`.
pub(super) fn number(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(|group| String::from_utf8_lossy(group)).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        for (value, text) in [(0, "0"), (999, "999"), (1204, "1,204"), (1_234_567, "1,234,567")] {
            assert_eq!(number(value), text);
        }
        assert_eq!(format_count(1, "call"), "1 call");
    }
}
