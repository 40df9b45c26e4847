//! The keeper under load: many events at once with a runtime hook that all of them call, compared with as many events without hooks.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use crate::bridge::{command, payload, program_itself};
use crate::measure::Times;
use crate::report::{Report, shown};
use crate::scene::Scene;
use crate::{Measured, Plan, runtime};

/// Numbers of simultaneous events.
const CLIENTS: [usize; 2] = [16, 200];

pub(crate) fn run(plan: Plan, report: &mut Report, program: &Path) -> Measured<()> {
    let with_keeper = Scene::new()?;
    with_keeper.script("hook", runtime::PYTHON)?;
    with_keeper.trust_all()?;
    let bare = Scene::new()?;
    for clients in CLIENTS {
        let rounds = plan.rounds(10);
        let (mut with_hook, mut without) = (Vec::new(), Vec::new());
        for _ in 0..=rounds {
            with_hook.extend(at_once(&with_keeper, program, clients)?);
            without.extend(at_once(&bare, program, clients)?);
        }
        // The first round starts the keeper.
        let times_after_start = |times: Vec<Duration>| Times::new(times[clients..].to_vec());
        let (with_hook, without) = (times_after_start(with_hook), times_after_start(without));
        let (slow, slow_without) = (with_hook.percentile(99), without.percentile(99));
        let remark =
            format!("99 of 100 within {}, and {} without hooks", shown(slow), shown(slow_without));
        let row = format!("{clients} events at once, a Python hook that the keeper keeps");
        report.alone(row, &with_hook, &remark);
    }
    Ok(())
}

/// Fires events at once. Returns the time of each, from the start of its process to its end.
fn at_once(scene: &Scene, program: &Path, clients: usize) -> Measured<Vec<Duration>> {
    let file = scene.layout.home.join("payload.json");
    fs::write(&file, payload(scene, "PreToolUse", "cargo test").to_string())?;
    let words = program_itself(scene, program);
    let children: io::Result<Vec<(Instant, Child)>> =
        (0..clients).map(|_| Ok((Instant::now(), start(scene, &words, &file)?))).collect();
    let end = |(start, mut child): (Instant, Child)| {
        move || child.wait().map(|status| (start.elapsed(), status.success()))
    };
    let waiting: Vec<_> = children?.into_iter().map(|child| thread::spawn(end(child))).collect();
    let ends = waiting.into_iter().map(|thread| {
        let (time, is_success) = thread.join().map_err(|_| "a thread failed")??;
        if is_success { Ok(time) } else { Err("an event failed".into()) }
    });
    ends.collect()
}

fn start(scene: &Scene, words: &[PathBuf], payload: &Path) -> io::Result<Child> {
    let mut command = command(scene, &words[0]);
    command
        .args(&words[1..])
        .stdin(fs::File::open(payload)?)
        .stdout(fs::File::create("/dev/null")?);
    command.spawn()
}
