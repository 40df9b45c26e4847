//! The tables of proofs, in Markdown: parts of `docs/hosts.md` and `docs/bridge.md`.

use std::cmp::Reverse;
use std::fmt::Write as _;

use tenter_bridge::host::HostVersion;
use tenter_bridge::hosts;

use crate::check::Check;
use crate::results::{Proof, ProvedCheck};
use crate::verdict::CheckVerdict;

/// Returns the table of the newest version of each agent, one column each. Columns of the page `earlier` stay where `proofs` has nothing
/// as new, so that a machine with one agent does not remove the others.
pub fn table(proofs: &[Proof], earlier: &str) -> String {
    let earlier = read_table(earlier);
    let newest = hosts::ALL.iter().filter_map(|host| {
        let all = earlier.iter().chain(proofs).filter(|proof| proof.agent == host.id);
        all.max_by_key(|proof| HostVersion::parse(&proof.version))
    });
    columns(&newest.cloned().collect::<Vec<_>>())
}

fn columns(proofs: &[Proof]) -> String {
    let mut text = String::from("\n## Proved\n\n");
    if proofs.is_empty() {
        text.push_str("Nothing is proved yet.\n\n");
        return text;
    }
    text.push_str(
        "What `tenter bridge prove` saw of these versions. **yes**: it works; **emulated**: in another way; **no**: it does not, as the \
         sections below say; **BROKEN**: it should; empty: the check is newer than this proof.\n\n",
    );
    row(&mut text, "check", proofs, |proof| format!("`{}`", proof.agent));
    row(&mut text, "---", proofs, |_| "---".to_owned());
    row(&mut text, "version", proofs, |proof| proof.version.clone());
    row(&mut text, "date", proofs, |proof| proof.date().to_owned());
    for check in Check::all() {
        let id = check.id();
        row(&mut text, &check.proves(), proofs, |proof| {
            let check = proof.checks.iter().find(|one| one.id == id);
            check.map_or("", |one| one.verdict.as_str()).to_owned()
        });
    }
    text.push('\n');
    text
}

/// Reads the columns of a table as proofs without evidence.
fn read_table(page: &str) -> Vec<Proof> {
    let rows: Vec<Vec<&str>> = page.lines().filter_map(cells).collect();
    let row = |name: &str| rows.iter().find(|row| row.first() == Some(&name));
    let (Some(agents), Some(versions), Some(dates)) = (row("check"), row("version"), row("date"))
    else {
        return Vec::new();
    };
    let column = |number: usize| {
        let host = hosts::find(agents[number].trim_matches('`'))?;
        let proof = Proof::new(host, versions.get(number)?, dates.get(number)?);
        let checks = Check::all().into_iter().filter_map(|check| {
            let verdict = CheckVerdict::parse(row(&check.proves())?.get(number)?)?;
            Some(ProvedCheck::without_evidence(check, verdict))
        });
        Some(proof.with(checks.collect(), false))
    };
    (1..agents.len()).filter_map(column).collect()
}

/// Returns the cells of a row: `| a |  |` is `["a", ""]`.
fn cells(line: &str) -> Option<Vec<&str>> {
    Some(line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect())
}

/// Returns the table of these proofs, one row each: the counts of every version. Rows of the page `earlier` stay where `proofs` has
/// nothing of the version.
pub fn versions(proofs: &[Proof], earlier: &str) -> String {
    let mut text = String::from(
        "\n| agent | version | proved on | yes | emulated | no | BROKEN |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let lines: Vec<String> = proofs.iter().map(version_row).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).chain(earlier.lines()).collect();
    for host in hosts::ALL {
        let agent = format!("`{}`", host.id);
        let rows = lines.iter().filter_map(|line| Some((cells(line)?, *line)));
        let mut rows: Vec<(Vec<&str>, &str)> =
            rows.filter(|(cells, _)| cells[0] == agent).collect();
        rows.sort_by_key(|(cells, _)| Reverse(cells.get(1).copied().and_then(HostVersion::parse)));
        rows.dedup_by_key(|(cells, _)| cells.get(1).copied());
        for (_, line) in &rows {
            text.extend([*line, "\n"]);
        }
    }
    text.push('\n');
    text
}

fn version_row(proof: &Proof) -> String {
    let count = |verdict| proof.count(verdict);
    let failures = proof.checks.iter().filter(|check| check.verdict == CheckVerdict::Broken);
    let texts: Vec<&str> = failures.map(|check| check.proves.as_str()).collect();
    let texts = if texts.is_empty() { "none".to_owned() } else { texts.join("; ") };
    let (agent, version, date) = (&proof.agent, &proof.version, proof.date());
    let (yes, emulated, no) =
        (count(CheckVerdict::Yes), count(CheckVerdict::Emulated), count(CheckVerdict::No));
    format!("| `{agent}` | {version} | {date} | {yes} | {emulated} | {no} | {texts} |")
}

fn row(text: &mut String, first: &str, proofs: &[Proof], cell: impl Fn(&Proof) -> String) {
    let cells: Vec<String> = proofs.iter().map(cell).collect();
    let _ = writeln!(text, "| {first} | {} |", cells.join(" | "));
}

#[cfg(test)]
mod tests {
    use tenter_bridge::hosts;

    use super::*;
    use crate::results::ProvedCheck;

    #[test]
    fn the_table_has_a_column_for_each_version_and_a_row_for_each_check() {
        let host = hosts::find("claude-code").unwrap();
        let mut proof = Proof::new(host, "2.1.330", "2026-11-22T18:00:00Z");
        let check = Check::Deny;
        proof.checks.push(ProvedCheck {
            id: check.id(),
            proves: check.proves(),
            verdict: CheckVerdict::Broken,
            evidence: "it ran".to_owned(),
            reached_model: true,
        });
        let row = "| `claude-code` | 2.1.330 | 2026-11-22 | 0 | 0 | 0 | a deny denies, the model reads why |";
        let text = versions(std::slice::from_ref(&proof), "");
        assert!(text.lines().any(|line| line == row), "{text}");
        let text = table(&[proof], "");
        for line in [
            "| check | `claude-code` |",
            "| version | 2.1.330 |",
            "| date | 2026-11-22 |",
            "| a deny denies, the model reads why | BROKEN |",
            "| exit code 2 denies |  |",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
    }

    fn proof(agent: &str, version: &str, date: &str, verdict: CheckVerdict) -> Proof {
        let proof = Proof::new(hosts::find(agent).unwrap(), version, date);
        proof.with(vec![ProvedCheck::without_evidence(Check::Deny, verdict)], false)
    }

    #[test]
    fn results_of_other_agents_and_versions_stay_with_their_dates() {
        let old = [
            proof("claude-code", "2.1.100", "2026-11-20", CheckVerdict::Yes),
            proof("codex", "0.129.0", "2026-11-21", CheckVerdict::No),
        ];
        let new = [
            proof("codex", "0.9.0", "2026-11-22", CheckVerdict::Yes),
            proof("claude-code", "2.1.330", "2026-11-22", CheckVerdict::Emulated),
        ];
        let page = table(&new, &table(&old, ""));
        for line in [
            "| check | `claude-code` | `codex` |",
            "| version | 2.1.330 | 0.129.0 |",
            "| date | 2026-11-22 | 2026-11-21 |",
            "| a deny denies, the model reads why | emulated | no |",
        ] {
            assert!(page.lines().any(|one| one == line), "{line}\n{page}");
        }

        let again = proof("codex", "0.129.0", "2026-11-23", CheckVerdict::Yes);
        let page = versions(&[again], &versions(&new, &versions(&old, "")));
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(
            rows,
            [
                "| `claude-code` | 2.1.330 | 2026-11-22 | 0 | 1 | 0 | none |",
                "| `claude-code` | 2.1.100 | 2026-11-20 | 1 | 0 | 0 | none |",
                "| `codex` | 0.129.0 | 2026-11-23 | 1 | 0 | 0 | none |",
                "| `codex` | 0.9.0 | 2026-11-22 | 1 | 0 | 0 | none |",
            ]
        );
    }
}
