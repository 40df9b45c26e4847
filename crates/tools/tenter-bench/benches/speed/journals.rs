//! Commands that read journals, with a million records in ten thousand sessions.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use crate::measure::alone;
use crate::processes::{program, run_to_end};
use crate::report::{Report, shown};
use crate::scene::Scene;
use crate::{Measured, Plan};

/// Number of sessions.
const SESSIONS: usize = 10_000;
/// Number of records of a session.
const RECORDS: usize = 100;
/// Number of sessions of one day.
const SESSIONS_A_DAY: u64 = 100;
/// Maximum time of a command that shows the newest records.
const BUDGET: Duration = Duration::from_millis(50);

pub(crate) fn run(plan: Plan, report: &mut Report) -> Measured<()> {
    let tenter = program("tenter")?;
    let scene = Scene::new()?;
    let sessions = plan.size(SESSIONS);
    write(&scene, sessions)?;
    report.section("Large journals");
    let commands: [(&[&str], bool); 4] = [
        (&["log", "-n", "20", "--no-pager"], true),
        (&["log", "--session", "last", "--no-pager"], true),
        (&["hooks", "stats", "--since", "1d"], true),
        (&["hooks", "stats"], false),
    ];
    for (args, has_budget) in commands {
        let times =
            alone(plan.rounds(10), plan.repeats(1), || Ok(run_to_end(&scene, &tenter, args)?))?;
        let row = format!("`tenter {}`, {} records", args.join(" "), sessions * RECORDS);
        report.alone(row.clone(), &times, "");
        if has_budget {
            let minimum = times.minimum();
            report.budget(&row, "≤ 50 ms", shown(minimum), minimum <= BUDGET);
        }
    }
    Ok(())
}

/// Writes the journals of this many sessions, the last of which ends now.
#[expect(clippy::disallowed_methods, reason = "commands compare ages with the present time")]
fn write(scene: &Scene, sessions: usize) -> Measured<()> {
    let directory = scene.layout.home.join(".local/state/tenter/journal");
    fs::create_dir_all(&directory)?;
    let now = SystemTime::now();
    let project = scene.layout.project.display();
    for session in 0..sessions {
        let age = Duration::from_secs(86_400 / SESSIONS_A_DAY * (sessions - session) as u64);
        let end = now - age;
        let time = tenter_time(end)?;
        let mut text = String::new();
        for number in 0..RECORDS {
            writeln!(
                text,
                r#"{{"v":1,"time":"{time}","conversation_id":"s{session}","project":"{project}","event":"before_tool","tool_call_id":"call-{number}","tool_name":"bash","tool_input":{{"command":"cargo test --workspace -- --nocapture","description":"Runs the tests"}},"kind":"run","hook":"guard-{}","layer":"user","hash":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","spelling":"before_tool_call","duration_ms":{},"exit":"exit 0","decision":"none"}}"#,
                number % 5,
                number % 40
            )?;
        }
        let path = directory.join(format!("s{session}.jsonl"));
        fs::write(&path, text)?;
        File::options().write(true).open(path)?.set_modified(end)?;
    }
    Ok(())
}

fn tenter_time(time: SystemTime) -> Measured<String> {
    Ok(format!("{:.3}", Timestamp::try_from(time)?))
}
