//! The tables of proofs, in Markdown: parts of `docs/hosts.md` and `docs/bridge.md`.

use std::fmt::Write as _;

use crate::check::Check;
use crate::results::Proof;
use crate::verdict::Verdict;

/// Returns the table of these proofs, one column each.
pub fn table(proofs: &[Proof]) -> String {
    let mut text = String::from("\n## Proved\n\n");
    if proofs.is_empty() {
        text.push_str("Nothing is proved yet.\n\n");
        return text;
    }
    text.push_str(
        "What `tenter bridge prove` saw of these versions. **yes**: it works; **emulated**: in another way; **no**: it does not, as the \
         sections below say; **BROKEN**: it should.\n\n",
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

/// Returns the table of these proofs, one row each: what was counted of every version.
pub fn versions(proofs: &[Proof]) -> String {
    let mut text = String::from(
        "\n| agent | version | proved on | yes | emulated | no | BROKEN |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for proof in proofs {
        let count = |verdict| proof.count(verdict);
        let broken = proof.checks.iter().filter(|check| check.verdict == Verdict::Broken);
        let broken: Vec<&str> = broken.map(|check| check.proves.as_str()).collect();
        let (agent, version, date) = (&proof.agent, &proof.version, proof.date());
        let (yes, emulated, no) =
            (count(Verdict::Yes), count(Verdict::Emulated), count(Verdict::No));
        let broken = if broken.is_empty() { "none".to_owned() } else { broken.join("; ") };
        let _ = writeln!(
            text,
            "| `{agent}` | {version} | {date} | {yes} | {emulated} | {no} | {broken} |"
        );
    }
    text.push('\n');
    text
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
            verdict: Verdict::Broken,
            evidence: "it ran".to_owned(),
            reached_model: true,
        });
        let row = "| `claude-code` | 2.1.330 | 2026-11-22 | 0 | 0 | 0 | a deny denies, the model reads why |";
        let text = versions(std::slice::from_ref(&proof));
        assert!(text.lines().any(|line| line == row), "{text}");
        let text = table(&[proof]);
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
}
