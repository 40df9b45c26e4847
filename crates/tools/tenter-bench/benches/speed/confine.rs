//! The launcher of confined commands, compared with the bare start of the same command, and with another sandbox.

use std::fs;
use std::path::Path;

use crate::measure::{Pair, paired};
use crate::processes::{EMPTY, program_of, run_to_end};
use crate::report::Report;
use crate::scene::Scene;
use crate::{Measured, Plan};

/// Maximum time that a confined start takes more than a bare one, in milliseconds (F5).
const BUDGET_MS: f64 = 1.0;
/// The specifications that are measured.
const SPECIFICATIONS: [(&str, &str); 3] = [
    ("network: none", r#"{"network": "none"}"#),
    ("write: [project]", r#"{"write": ["project"]}"#),
    (
        "profile standard",
        r#"{"write": ["project", "temp"], "read_not": ["secrets"], "network": "none"}"#,
    ),
];

pub(crate) fn run(plan: Plan, report: &mut Report) -> Measured<()> {
    let scene = Scene::new()?;
    // A copy, as packages install it: the system has it in larger pieces than a file that a linker wrote.
    let launcher = scene.layout.home.join("tenter-launch");
    fs::copy(program_of("tenter-hook", "tenter-launch")?, &launcher)?;
    report.section("A command that starts confined");
    for (name, specification) in SPECIFICATIONS {
        let args = ["confine", "--spec", specification, "--", EMPTY];
        if run_to_end(&scene, &launcher, &args).is_err() {
            report.skip("Landlock and user namespaces");
            return Ok(());
        }
        let pair = over_bare_start(plan, &scene, &launcher, &args)?;
        report.pair(format!("`{name}`"), "the bare start", &pair);
        if specification == SPECIFICATIONS[0].1 {
            let more =
                (pair.work.median().as_secs_f64() - pair.baseline.median().as_secs_f64()) * 1e3;
            let figure = format!("{more:.2} ms more");
            report.budget(
                "a command with `network: none`",
                "≤ 1 ms over its bare start",
                figure,
                more <= BUDGET_MS,
            );
        }
    }
    let bubblewrap = Path::new("bwrap");
    let args = ["--dev-bind", "/", "/", "--unshare-net", "--", EMPTY];
    match run_to_end(&scene, bubblewrap, &args) {
        Ok(()) => {
            let pair = over_bare_start(plan, &scene, bubblewrap, &args)?;
            report.pair("the same by `bwrap --unshare-net`", "the bare start", &pair);
        }
        Err(_) => report.skip("bwrap"),
    }
    Ok(())
}

fn over_bare_start(plan: Plan, scene: &Scene, launcher: &Path, args: &[&str]) -> Measured<Pair> {
    let confined = || Ok(run_to_end(scene, launcher, args)?);
    let bare = || Ok(run_to_end(scene, Path::new(EMPTY), &[])?);
    paired(plan.rounds(500), confined, bare)
}
