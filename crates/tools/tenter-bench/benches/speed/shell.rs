//! Reading shell commands, ordinary ones and the texts that are slowest to read, and matching rules about them (C5, C14).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tenter_engine::inspect::{CHECKS, CallSurroundings, HookRules};
use tenter_protocol::front_matter::Strictness;
use tenter_protocol::manifest::format;
use tenter_protocol::manifest::rule::Rule;
use tenter_protocol::{Body, ToolCall};
use tenter_shell::{Surroundings, read};

use crate::measure::{Times, alone};
use crate::report::{Report, shown};
use crate::{Measured, Plan};

/// A command of 101 bytes, as agents run them.
const ORDINARY: &str = "cd /repo && git commit -m \"fix: a typo\" && git push --force-with-lease origin main 2>&1 | tail -5 # ok";

/// Texts that open something, or make many facts of few bytes, and are repeated.
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

/// Returns rules as guards have them, none of which fits the ordinary command.
fn rules(count: usize) -> Measured<HookRules> {
    let rule = |index: usize| match index % 4 {
        0 => {
            json!({"if": {"program": ["git"], "subcommand": ["push"], "flags": {"any": ["--force", "-f"]}}})
        }
        1 => {
            json!({"if": {"program": ["git"], "subcommand": [format!("sub{index}")], "operands": {"any": ["+?*"]}}})
        }
        2 => {
            json!({"if": {"path": {"op": ["delete", "move"], "glob": [format!("/etc/{index}/**"), "~/.ssh/**", "**/.env"]}}})
        }
        _ => {
            json!({"if": {"program": [format!("program{index}"), "sudo", "doas"], "where": ["local"]}})
        }
    };
    let rules: Vec<Rule> = serde_json::from_value((0..count).map(rule).collect())?;
    HookRules::new(&rules).ok_or_else(|| "there are no rules".into())
}

pub(crate) fn run(plan: Plan, report: &mut Report) -> Measured<()> {
    report.section("Shell commands");
    let surroundings = Surroundings {
        cwd: Some("/home/ann/app".to_owned()),
        project: vec!["/home/ann/app".to_owned()],
        home: Some("/home/ann".to_owned()),
        ..Surroundings::default()
    };
    let times = alone(plan.rounds(200), plan.repeats(100), || Ok(read(ORDINARY, &surroundings)))?;
    let what = format!("reading a command of {} bytes", ORDINARY.len());
    budget(report, &what, "30 µs", Duration::from_micros(30), &times);
    let rules = rules(100)?;
    let input = [("command".to_owned(), ORDINARY.into())].into_iter().collect();
    let call = ToolCall { id: "1".to_owned(), name: "bash".to_owned(), input };
    let directory = Path::new("/home/ann/app");
    let facts = CallSurroundings::new(directory).facts(&Body::BeforeTool(call), None, directory);
    let times = alone(plan.rounds(200), plan.repeats(100), || Ok(rules.judge(&facts)))?;
    let what = "matching 100 rules of which none fits";
    budget(report, what, "20 µs", Duration::from_micros(20), &times);
    guarded(plan, report)?;
    let size = plan.command_bytes();
    let mut slowest = None;
    for pattern in REPEATED {
        let text = pattern.repeat(size / pattern.len());
        let times = alone(plan.rounds(5), 1, || Ok(read(&text, &surroundings)))?;
        if slowest.as_ref().is_none_or(|(_, slow): &(_, Times)| slow.minimum() < times.minimum()) {
            slowest = Some((pattern, times));
        }
    }
    let Some((pattern, times)) = slowest else { return Ok(()) };
    let what = format!("reading 64 KiB of the slowest text, `{}`", in_table(pattern));
    budget(report, &what, "25 ms", LIMIT, &times);
    Ok(())
}

/// Returns texts with many words, in each of which a rule could fit.
fn long_texts(size: usize) -> [(&'static str, String); 9] {
    let many = |unit: &dyn Fn(usize) -> String| {
        let mut text = String::new();
        for index in 0.. {
            let next = unit(index);
            if text.len() + next.len() > size - 64 {
                break;
            }
            text += &next;
        }
        text
    };
    [
        ("`mv a* a* … /x`", format!("mv {} /x", many(&|_| "a* ".to_owned()))),
        ("`mv a1* a2* … /x`", format!("mv {} /x", many(&|index| format!("a{index}* ")))),
        (
            "`rm src/f1.rs src/f2.rs …`",
            format!("rm {}", many(&|index| format!("src/f{index}.rs "))),
        ),
        ("`rm $a/1 $a/2 …`", format!("rm {}", many(&|index| format!("$a/{index} ")))),
        ("`cd a && rm b; …`", many(&|_| "cd a && rm b;".to_owned())),
        ("`$X1 -rf a; $X2 -rf a; …`", many(&|index| format!("$X{index} -rf a;"))),
        (
            "`docker run -v /a1:/b -v /a2:/b …`",
            format!("docker run {} x", many(&|index| format!("-v /a{index}:/b "))),
        ),
        ("`sudo sudo … rm a`", format!("{}rm a", many(&|_| "sudo ".to_owned()))),
        ("`rm f1; rm f2; …`", many(&|index| format!("rm f{index};"))),
    ]
}

/// Returns the directory with the ready-made guards.
pub(crate) fn shipped_guards() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hooks/tenter-commands/src/guard/shipped")
}

/// Returns the ready-made guards.
fn guards() -> Measured<Vec<HookRules>> {
    let mut guards = Vec::new();
    for entry in fs::read_dir(shipped_guards())? {
        let text = fs::read(entry?.path())?;
        let (manifest, _) = format::read(Path::new("HOOK.md"), &text, Strictness::Tolerant, CHECKS);
        let rules = manifest.ok_or("a guard cannot be read")?.extensions.rules;
        guards.extend(HookRules::new(&rules));
    }
    Ok(guards)
}

/// Returns the time of a whole call with all guards: reading the text, looking up its paths, and judging it.
fn guarded(plan: Plan, report: &mut Report) -> Measured<()> {
    let guards = guards()?;
    let directory = Path::new("/home/ann/app");
    let surroundings = CallSurroundings::new(directory);
    let judge = |text: &str| {
        let input = [("command".to_owned(), text.into())].into_iter().collect();
        let call = ToolCall { id: "1".to_owned(), name: "bash".to_owned(), input };
        let facts = surroundings.facts(&Body::BeforeTool(call), None, directory);
        guards.iter().filter(|guard| guard.judge(&facts).is_some()).count()
    };
    let times = alone(plan.rounds(200), plan.repeats(20), || Ok(judge(ORDINARY)))?;
    let what = "a short command with all guards";
    budget(report, what, "0.3 ms", Duration::from_micros(300), &times);
    for (name, text) in long_texts(plan.command_bytes()) {
        let times = alone(plan.rounds(5), 1, || Ok(judge(&text)))?;
        let what = format!("64 KiB of {name} with all guards");
        budget(report, &what, "25 ms", LIMIT, &times);
    }
    Ok(())
}

/// Returns a text in a cell of a table.
fn in_table(text: &str) -> String {
    text.escape_debug().to_string().replace('|', "\\|")
}

/// Reports a time and its budget.
fn budget(report: &mut Report, what: &str, limit_text: &str, limit: Duration, times: &Times) {
    report.alone(what, times, "");
    let is_met = times.minimum() <= limit;
    report.budget(what, &format!("≤ {limit_text}"), shown(times.minimum()), is_met);
}
