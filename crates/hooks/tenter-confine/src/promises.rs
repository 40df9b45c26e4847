//! The promises of a confinement, and the report of which ones hold.

use std::fmt;

use tenter_protocol::confinement::ConfinedFact;

/// A promise and how it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromiseReport {
    /// The name, such as `write`.
    pub name: &'static str,
    /// The state.
    pub state: PromiseState,
    /// The layer that keeps it, or the reason why it is not kept.
    pub why: String,
}

/// The state of a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromiseState {
    /// It holds.
    Kept,
    /// It holds with exceptions.
    Partly,
    /// It does not hold.
    NotKept,
}

impl PromiseReport {
    pub(crate) fn kept(name: &'static str, why: impl Into<String>) -> Self {
        Self { name, state: PromiseState::Kept, why: why.into() }
    }

    pub(crate) fn partly(name: &'static str, why: impl Into<String>) -> Self {
        Self { name, state: PromiseState::Partly, why: why.into() }
    }

    pub(crate) fn not_kept(name: &'static str, why: impl Into<String>) -> Self {
        Self { name, state: PromiseState::NotKept, why: why.into() }
    }

    /// Returns true if a confinement demands it: `otherwise` applies if it is not kept. The others are additions.
    pub fn is_demanded(&self) -> bool {
        matches!(self.name, "write" | "read_not") || self.name.starts_with("network ")
    }

    /// Returns true if it is demanded and does not hold at all.
    pub fn is_broken(&self) -> bool {
        self.is_demanded() && self.state == PromiseState::NotKept
    }
}

impl fmt::Display for PromiseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            PromiseState::Kept => "kept",
            PromiseState::Partly => "partly",
            PromiseState::NotKept => "not kept",
        };
        write!(f, "{:<14} {state:<9} {}", self.name, self.why)
    }
}

/// Returns the fact about a call that ran with these promises.
pub(crate) fn fact(profile: String, promises: &[PromiseReport]) -> ConfinedFact {
    let (intact, failures): (Vec<_>, Vec<_>) =
        promises.iter().partition(|promise| promise.state != PromiseState::NotKept);
    ConfinedFact {
        profile,
        kept: intact.iter().map(|promise| promise.name.to_owned()).collect(),
        not_kept: failures.iter().map(|one| format!("{}: {}", one.name, one.why)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::landlock_layer;

    /// The lines around the table of promises.
    const MARKS: (&str, &str) = ("<!-- promises: begin -->\n", "<!-- promises: end -->\n");

    /// Returns the promises of `tenter confine --check` as the page about confinements lists them: the names, what keeps them,
    /// and what happens without it.
    fn rows() -> [[String; 3]; 8] {
        const NOT_KEPT: &str = "not kept";
        const RUNS: &str = "not kept; the command runs";
        let (write, scope, service) =
            (landlock_layer::MIN_ABI, landlock_layer::SCOPE_ABI, landlock_layer::SERVICE_ABI);
        let row =
            |names: &str, layers: &str, without: &str| [names, layers, without].map(str::to_owned);
        [
            row("`write`", &format!("Landlock, ABI {write} and later (Linux 6.2)"), NOT_KEPT),
            row(
                "`protected`",
                "read-only mounts in a user namespace. Files that do not exist yet can be created",
                "the launcher waits, puts back what the command changed, renames what it created to `*.refused`, and says so",
            ),
            row("`read_not`", "mounts over what exists when the command starts", NOT_KEPT),
            row("`network: none`", "seccomp: only Unix sockets, no io_uring", NOT_KEPT),
            row(
                "`network: {allow}`",
                "a network namespace and a proxy; seccomp: only Unix and IP sockets, no io_uring",
                NOT_KEPT,
            ),
            row("`network: local`", "a network namespace; seccomp as above", NOT_KEPT),
            row(
                "`signals`, `sockets`",
                &format!(
                    "Landlock, ABI {scope} and later (Linux 6.12): no signals to processes outside, no abstract sockets of them"
                ),
                RUNS,
            ),
            row(
                "`services`",
                &format!(
                    "Landlock, ABI {service}; before, mounts over the sockets of Docker, Podman, systemd, D-Bus, tmux and the SSH agent"
                ),
                RUNS,
            ),
        ]
    }

    fn table() -> String {
        let header = ["promise", "kept by", "without it"].map(str::to_owned);
        let line = ["---"; 3].map(str::to_owned);
        let rows = [header, line].into_iter().chain(rows());
        let lines: Vec<String> = rows.map(|cells| format!("| {} |\n", cells.join(" | "))).collect();
        lines.concat()
    }

    /// `TENTER_UPDATE=1` writes the table.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the author's request to write the page")]
    fn the_table_of_promises_in_the_page_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/confine.md");
        let old = std::fs::read_to_string(&path).unwrap();
        let (begin, end) = MARKS;
        let (before, rest) = old.split_once(begin).unwrap();
        let (_, after) = rest.split_once(end).unwrap();
        let page = format!("{before}{begin}{}{end}{after}", table());
        if std::env::var_os("TENTER_UPDATE").is_some() {
            std::fs::write(&path, &page).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text == page, "docs/confine.md is out of date; write it with TENTER_UPDATE=1");
    }
}
