//! Benchmarks of Tenter, compared with bare system calls in the same run.
//!
//! `cargo bench -p tenter-bench` prints the tables of `docs/performance.md`. `-- --write` replaces the tables of the page, and
//! `-- --smoke` runs everything once with small sizes. Names, as in `-- dispatch memory`, select parts. No model and no network are
//! used, and all files are in a temporary directory.

mod agent;
mod bridge;
mod catalog;
mod confine;
mod dispatch;
mod hook_run;
mod in_process;
mod journals;
mod keeper;
mod measure;
mod memory;
mod messages;
mod processes;
mod report;
mod runtime;
mod scene;
mod shell;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use report::Report;
use tenter_shell::limits;

/// A value, or the reason why it could not be measured.
type Measured<T> = Result<T, Box<dyn Error>>;

/// The extent of the measurements.
#[derive(Debug, Clone, Copy)]
struct Plan {
    /// Once with small sizes, to check that everything works.
    smoke: bool,
}

/// Measures one part.
type Bench = fn(Plan, &mut Report) -> Measured<()>;

/// Every part, by name.
const BENCHES: [(&str, Bench); 13] = [
    ("hook", hook_run::run),
    ("runtime", runtime::run),
    ("dispatch", dispatch::run),
    ("catalog", catalog::run),
    ("in-process", in_process::run),
    ("commands", shell::run),
    ("processes", processes::run),
    ("journals", journals::run),
    ("bridge", bridge::run),
    ("confine", confine::run),
    ("sessions", agent::run),
    ("conversations", messages::run),
    ("memory", memory::run),
];

impl Plan {
    /// Maximum size in a smoke run.
    const SMALL: usize = 100;
    /// The age from which on the times of a hook's files show that they are unchanged. The content of younger ones is hashed for each run.
    const HOOK_AGE: Duration = Duration::from_secs(11);

    /// Waits until the hooks that were just written are old enough.
    fn let_hooks_age(self) {
        if !self.smoke {
            thread::sleep(Self::HOOK_AGE);
        }
    }

    /// Returns the number of rounds, which is `full` for the tables.
    fn rounds(self, full: usize) -> usize {
        if self.smoke { 1 } else { full }
    }

    /// Returns the number of runs in a round, which is `full` for the tables.
    fn repeats(self, full: u32) -> u32 {
        if self.smoke { 1 } else { full }
    }

    /// Returns the size of a long command in bytes. A smoke run has no optimized code, and a limit of time.
    fn command_bytes(self) -> usize {
        if self.smoke { limits::MAX_BYTES / 64 } else { limits::MAX_BYTES }
    }

    /// Returns the sizes to measure.
    fn sizes(self, all: &[usize]) -> Vec<usize> {
        all.iter().copied().filter(|size| !self.smoke || *size <= Self::SMALL).collect()
    }

    /// Returns a single size.
    fn size(self, full: usize) -> usize {
        if self.smoke { full.min(Self::SMALL) } else { full }
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let result = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [memory::OF_ENGINE, base] => memory::report_engine(base),
        [runtime::OF_IDLE_HOOKS, base] => runtime::report_idle_hooks(base),
        [agent::SESSION, turns, hooks] => agent::report_session(turns, hooks),
        _ => bench(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the benches and prints the tables. Cargo passes `--bench`.
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
        // Figures of a single round mean nothing, so they are not printed.
        return Ok(writeln!(std::io::stdout(), "everything could be measured")?);
    }
    writeln!(std::io::stdout(), "{}", report.markdown())?;
    if write && parts.is_empty() { report.write() } else { Ok(()) }
}

fn unknown(arg: &str) -> String {
    let parts = BENCHES.map(|(name, _)| name).join(", ");
    format!("unknown argument {arg}; use --smoke, --write or the parts {parts}")
}
