//! Loading the catalog, cold (every hook is read, hashed and queried) and warm (only file stamps are checked), compared with a
//! directory listing and one stat per file.

use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use crate::measure::{Times, paired, time};
use crate::report::{Report, shown};
use crate::scene::Scene;
use crate::{Measured, Plan};

/// Numbers of hooks, half of them executables and half of them manifest hooks. Before and after an executable is asked for its events, all
/// files beside it are checked, so that thousands of them take minutes.
const SIZES: [usize; 4] = [10, 100, 500, 1_000];
/// Maximum time of a warm load of so many hooks.
const BUDGET: (usize, Duration) = (500, Duration::from_millis(10));

pub(crate) fn run(plan: Plan, report: &mut Report) -> Measured<()> {
    report.section("Loading the catalog");
    for size in plan.sizes(&SIZES) {
        let scene = Scene::new()?;
        scene.fill(size)?;
        cold(plan, report, &scene, size)?;
        warm(plan, report, &scene, size)?;
    }
    Ok(())
}

fn cold(plan: Plan, report: &mut Report, scene: &Scene, size: usize) -> Measured<()> {
    let rounds = plan.rounds(if size > 500 { 2 } else { 5 });
    let load = || {
        if scene.cache().exists() {
            fs::remove_dir_all(scene.cache())?;
        }
        time(|| scene.load(Some(&scene.cache())))
    };
    let times = Times::new((0..rounds).map(|_| load()).collect::<Measured<_>>()?);
    report.alone(format!("{size} hooks, cold"), &times, "half of the hooks start a process");
    Ok(())
}

fn warm(plan: Plan, report: &mut Report, scene: &Scene, size: usize) -> Measured<()> {
    let cache = scene.cache();
    let count = scene.load(Some(&cache))?.hooks().len();
    if count != size {
        return Err(format!("{count} of {size} hooks were loaded").into());
    }
    let rounds = plan.rounds(if size > 500 { 30 } else { 200 });
    let directory = scene.hook("");
    let pair = paired(rounds, || scene.load(Some(&cache)), || Ok(look(&directory)?))?;
    report.pair(format!("{size} hooks, warm"), "stat of each file", &pair);
    let (hook_count, limit) = BUDGET;
    if size == hook_count {
        let median = pair.work.median();
        let what = format!("catalog load, {size} unchanged hooks");
        report.budget(&what, "≤ 10 ms", shown(median), median <= limit);
    }
    Ok(())
}

/// Calls stat for every file, and returns their number.
fn look(directory: &Path) -> io::Result<usize> {
    let mut files = 0;
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        files += if fs::metadata(&path)?.is_dir() { look(&path)? } else { 1 };
    }
    Ok(files)
}
