//! How fast Tenter is, measured beside the bare system calls in the same run.
//!
//! `cargo bench -p tenter-bench` prints the tables of `docs/performance.md`; with `-- --write` they replace those of the
//! page, and with `-- --smoke` everything is done once, at small sizes, to see that it can be done. With words, as in
//! `-- dispatch memory`, only those parts are measured. It asks no model, opens no network and touches nothing of the person's:
//! everything lies in a scratch folder.

mod agent;
mod catalog;
mod dispatch;
mod hook_run;
mod in_process;
mod measure;
mod memory;
mod messages;
mod processes;
mod report;
mod scene;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use report::Report;

/// A value, or why it could not be measured.
type Measured<T> = Result<T, Box<dyn Error>>;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
struct Plan {
    /// Once and small, to see that everything can be done.
    smoke: bool,
}

/// What measures one part.
type Bench = fn(Plan, &mut Report) -> Measured<()>;

/// Every part, by its word.
const BENCHES: [(&str, Bench); 8] = [
    ("hook", hook_run::run),
    ("dispatch", dispatch::run),
    ("catalog", catalog::run),
    ("in-process", in_process::run),
    ("processes", processes::run),
    ("sessions", agent::run),
    ("conversations", messages::run),
    ("memory", memory::run),
];

impl Plan {
    /// The size above which nothing is done in a smoke run.
    const SMALL: usize = 100;

    /// How often something is done that is done `full` times for a table.
    fn rounds(self, full: usize) -> usize {
        if self.smoke { 1 } else { full }
    }

    /// The sizes at which something is done.
    fn sizes(self, all: &[usize]) -> Vec<usize> {
        all.iter().copied().filter(|size| !self.smoke || *size <= Self::SMALL).collect()
    }

    /// A single size.
    fn size(self, full: usize) -> usize {
        if self.smoke { full.min(Self::SMALL) } else { full }
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [memory::OF_ENGINE, base] => memory::report_engine(base),
        [agent::SESSION, turns, hooks] => agent::report_session(turns, hooks),
        _ => bench(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures everything and shows it. Cargo itself passes `--bench`.
fn bench(args: &[String]) -> Measured<()> {
    let mut plan = Plan { smoke: false };
    let mut write = false;
    let mut parts = Vec::new();
    for arg in args {
        match arg.as_str() {
            "--bench" => {}
            "--smoke" => plan.smoke = true,
            "--write" => write = true,
            part if BENCHES.iter().any(|(name, _)| *name == part) => parts.push(part),
            other => return Err(unknown(other).into()),
        }
    }
    let mut report = Report::default();
    for (name, bench) in BENCHES {
        if parts.is_empty() || parts.contains(&name) {
            writeln!(std::io::stderr(), "measuring: {name}")?;
            bench(plan, &mut report)?;
        }
    }
    if plan.smoke {
        // Figures of a single round mean nothing, so that nobody shall read them.
        return Ok(writeln!(std::io::stdout(), "everything could be measured")?);
    }
    writeln!(std::io::stdout(), "{}", report.markdown())?;
    if write && parts.is_empty() { report.write() } else { Ok(()) }
}

fn unknown(arg: &str) -> String {
    let parts = BENCHES.map(|(name, _)| name).join(", ");
    format!("{arg} is unknown; known are --smoke, --write and the parts {parts}")
}
