//! Processes of Tenter, compared with a Rust program that does nothing.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tenter_testkit::nested_cargo;

use crate::measure::paired;
use crate::report::Report;
use crate::scene::{Scene, environment};
use crate::{Measured, Plan};

/// A Rust program that does nothing, built with the profile of the bench.
pub(crate) const EMPTY: &str = env!("CARGO_BIN_EXE_tenter-bench-empty");
/// Number of hooks in the project.
const HOOKS: usize = 50;
/// The commands of a user: the arguments, and the maximum ratio of its time to the time of the empty program.
const COMMANDS: [(&str, &[&str], Option<f64>); 3] = [
    ("`tenter --version`", &["--version"], Some(1.5)),
    ("`tenter hooks list`, 50 hooks", &["hooks", "list"], Some(2.5)),
    (
        "`tenter hooks explain`, 50 hooks",
        &["hooks", "explain", "--event", "before_tool_call", "--tool", "bash"],
        None,
    ),
];
/// The programs, and their maximum sizes in bytes.
const PROGRAMS: [(&str, u64); 2] = [("tenter", 16_000_000), ("tenter-hook", 5_000_000)];

pub(crate) fn run(plan: Plan, report: &mut Report) -> Measured<()> {
    let tenter = program("tenter")?;
    let scene = Scene::new()?;
    scene.fill(HOOKS)?;
    // The first command writes what later ones need not read, once the hooks have not changed for a while.
    plan.let_hooks_age();
    run_to_end(&scene, &tenter, &["hooks", "list"])?;
    report.section("Whole processes");
    for (what, args, budget) in COMMANDS {
        let work = || Ok(run_to_end(&scene, &tenter, args)?);
        let empty = || Ok(run_to_end(&scene, Path::new(EMPTY), &[])?);
        let pair = paired(plan.rounds(500), work, empty)?;
        report.pair(what, "an empty Rust program", &pair);
        let Some(budget) = budget else { continue };
        let limit = format!("≤ {budget} × an empty Rust program");
        report.budget(what, &limit, format!("{:.2} ×", pair.ratio), pair.ratio <= budget);
    }
    for (name, budget) in PROGRAMS {
        let size = std::fs::metadata(program(name)?)?.len();
        let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
        let row = format!("size of `{name}`");
        report.budget(&row, &format!("≤ {}", megabytes(budget)), megabytes(size), size <= budget);
    }
    Ok(())
}

/// Returns a program of the workspace with the name of its package, built with the profile of the bench, which is the release
/// profile for the tables.
pub(crate) fn program(name: &str) -> Measured<PathBuf> {
    program_of(name, name)
}

/// As [`program`], of this package.
pub(crate) fn program_of(package: &str, name: &str) -> Measured<PathBuf> {
    let directory = Path::new(EMPTY).parent().ok_or("a program is in a directory")?;
    // For a smoke run, as the tests built it: of the same parts.
    let of: &[&str] = if directory.ends_with("release") {
        &["--release", "-p", package]
    } else {
        &["--workspace"]
    };
    let mut cargo = nested_cargo();
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--quiet", "--locked"]);
    cargo.args(of).args(["--bin", name]);
    if directory.ends_with("release") && cfg!(all(target_os = "linux", target_env = "gnu")) {
        // Linked as in packages.
        let linker = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../packaging/rustc.sh");
        cargo.env("RUSTC_WORKSPACE_WRAPPER", linker);
        cargo.env("RUSTFLAGS", "-Csymbol-mangling-version=v0");
    }
    if !cargo.status()?.success() {
        return Err(format!("{name} cannot be built").into());
    }
    if !directory.ends_with("release") {
        return Ok(directory.join(name));
    }
    // A package's programs are copied when it is installed, so that the system has them in large pieces, which the linker's file is not.
    let copies = directory.join("installed");
    std::fs::create_dir_all(&copies)?;
    std::fs::copy(directory.join(name), copies.join(name))?;
    Ok(copies.join(name))
}

#[expect(clippy::disallowed_methods, reason = "the process is what is measured")]
pub(crate) fn run_to_end(scene: &Scene, program: &Path, args: &[&str]) -> io::Result<()> {
    let status = Command::new(program)
        .args(args)
        .current_dir(&scene.layout.project)
        .env_clear()
        .envs(environment())
        .env("HOME", &scene.layout.home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{args:?}: {status}"))) }
}
