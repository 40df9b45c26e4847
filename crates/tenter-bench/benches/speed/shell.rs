//! Reading shell commands: ordinary ones, and the texts that are slowest to read (C5, C14).

use std::time::Duration;

use tenter_shell::{Surroundings, limits, read};

use crate::measure::alone;
use crate::report::Report;
use crate::{Measured, Plan};

/// A command of 101 bytes, as agents run them.
const ORDINARY: &str = "cd /repo && git commit -m \"fix: a typo\" && git push --force-with-lease origin main 2>&1 | tail -5 # ok";

/// What opens something, or makes many facts of few bytes, and is repeated.
const REPEATED: [&str; 58] = [
    "(",
    "{ ",
    "$(",
    "\"$(",
    "`",
    "<<A ",
    "<<A\n",
    "if ",
    "case x in ",
    "'",
    "\"",
    "${",
    "${x:-",
    "$((",
    "((",
    "[[ ",
    "a|",
    "a&&",
    "a;",
    "ls\n",
    ">",
    "1>",
    "a>b ",
    "<(",
    "f() ",
    "f(){ ",
    "f(){ f;};f;",
    "f(){ g;g;};g(){ f;f;};",
    "coproc ",
    "x=",
    "x=(",
    "x=$x$x;",
    "{a,b}",
    "{1..9}",
    "{,}",
    "\0",
    "a ",
    "-a ",
    "a=b ",
    "cat <<E\nE\n",
    "a$(b)c ",
    "a `b` ",
    "bash -c 'a' ;",
    "eval 'a';",
    "rm a;",
    "tar xzf a;",
    "git -C a ",
    "find . -exec a ",
    "sudo ",
    "cd a;",
    "xargs a ",
    "echo a|sh|",
    "alias a=b;a;",
    "trap a 0;",
    "perl -e '`",
    "os.system('",
    "for i in a b; do ",
    "printf %s a | sh;",
];

/// The limit of the contract for a text of the greatest size.
const LIMIT: Duration = Duration::from_millis(25);

pub(crate) fn run(plan: Plan, report: &mut Report) -> Measured<()> {
    report.section("Shell commands");
    let surroundings = Surroundings {
        cwd: Some("/home/ann/app".to_owned()),
        project: vec!["/home/ann/app".to_owned()],
        home: Some("/home/ann".to_owned()),
        ..Surroundings::default()
    };
    let times = alone(plan.rounds(200), 100, || Ok(read(ORDINARY, &surroundings)))?;
    report.alone(format!("a command of {} bytes", ORDINARY.len()), &times, "limit: 30 µs");
    let size = if plan.smoke { limits::MAX_BYTES / 64 } else { limits::MAX_BYTES };
    let mut slowest = None;
    for repeated in REPEATED {
        let text = repeated.repeat(size / repeated.len());
        let times = alone(plan.rounds(5), 1, || Ok(read(&text, &surroundings)))?;
        if slowest
            .as_ref()
            .is_none_or(|(_, slow): &(_, crate::measure::Times)| slow.minimum() < times.minimum())
        {
            slowest = Some((repeated, times));
        }
    }
    let Some((repeated, times)) = slowest else { return Ok(()) };
    let remark = if times.minimum() > LIMIT { "limit: 25 ms, exceeded" } else { "limit: 25 ms" };
    report.alone(
        format!("64 KiB of the slowest text, `{}`", repeated.escape_debug()),
        &times,
        remark,
    );
    Ok(())
}
