//! Memory, as reported by the system. Each figure is from a new process.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use tenter_proc::Cancel;

use crate::report::{Report, mib};
use crate::scene::Scene;
use crate::{Measured, Plan};

/// The argument with which this program measures and prints the memory of an engine.
pub(crate) const OF_ENGINE: &str = "--memory-of-engine";
/// Number of hooks of the engine.
const HOOKS: usize = 500;
/// Maximum memory in KiB.
const BUDGET: u64 = 10 * 1024;

pub(crate) fn run(plan: Plan, report: &mut Report) -> Measured<()> {
    let hooks = plan.size(HOOKS);
    report.section("Memory");
    let scene = Scene::new()?;
    scene.fill(hooks)?;
    scene.load(Some(&scene.cache()))?;
    let answer = ask_self(&[OF_ENGINE, &scene.at("").to_string_lossy()])?;
    let [loaded, used] = answer[..] else { return Err("two figures were expected".into()) };
    report.memory(format!("an engine with {hooks} hooks"), loaded, "resident, after the load");
    report.memory(format!("an engine with {hooks} hooks"), used, "resident, after a dispatch");
    let what = format!("memory of the engine with {hooks} hooks");
    report.budget(&what, "≤ 10 MB", mib(loaded.max(used)), loaded.max(used) <= BUDGET);
    Ok(())
}

/// Loads the hooks of a scene and dispatches a tool call. Prints the growth of the memory after each step.
pub(crate) fn report_engine(base: &str) -> Measured<()> {
    let scene = Scene::there(Path::new(base));
    let before = resident_kib()?;
    let engine = scene.engine(scene.load(Some(&scene.cache()))?);
    let kib = resident_kib()?;
    engine.dispatch(scene.tool_call(), &Cancel::new());
    let usage = resident_kib()?;
    let figures = format!("{} {}", kib.saturating_sub(before), usage.saturating_sub(before));
    Ok(writeln!(std::io::stdout(), "{figures}")?)
}

/// Runs this program with other arguments, and returns the figures that it prints.
#[expect(clippy::disallowed_methods, reason = "this program is no hook and needs no limits")]
pub(crate) fn ask_self(args: &[&str]) -> Measured<Vec<u64>> {
    let output = Command::new(std::env::current_exe()?).args(args).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    Ok(text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?)
}

/// Returns the resident memory of this process in KiB.
pub(crate) fn resident_kib() -> Measured<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("the system does not say how much memory a process has")?.parse()?)
}
