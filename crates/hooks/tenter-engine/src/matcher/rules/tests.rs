//! Tests of the results of rules for commands, and of the laws of three-valued logic.

use proptest::prelude::*;
use serde_json::{Value, json};
use tenter_base::versioned;
use tenter_protocol::facts::Facts;
use tenter_protocol::front_matter;
use tenter_protocol::manifest::format;
use tenter_protocol::manifest::rule::Rule;
use tenter_shell::{Class, Command, Flow, FlowRole, FlowSource};

use super::*;
use crate::facts::CallSurroundings;

mod exceptions;
mod help;

/// Returns rules as the cache keeps them.
fn rules(rules: Value) -> HookRules {
    let rules: Vec<Rule> = serde_json::from_value(rules).unwrap();
    HookRules::new(&rules).unwrap()
}

/// Returns rules with these conditions, which ask where they fit perhaps.
fn rule(conditions: &Value) -> HookRules {
    rules(json!([{"if": conditions, "uncertain": "ask"}]))
}

/// Returns the effect of a rule with these conditions.
fn leads_to(conditions: &Value, command: &str) -> &'static str {
    let selection = rule(conditions).select(&CallSurroundings::read_example(command));
    match selection {
        None => "nothing",
        Some(RuleMatch { reply: None, .. }) => "run",
        Some(RuleMatch { reply: Some(_), fit }) => {
            assert!(!fit.is_certain);
            "ask"
        }
    }
}

#[test]
fn commands_are_matched_by_what_they_do() {
    let push =
        json!({"program": ["git"], "subcommand": ["push"], "flags": {"any": ["--force", "-f"]}});
    for (command, expected) in [
        ("git push --force", "run"),
        ("git push -fu origin main", "run"),
        ("g'i't pu\"sh\" -f", "run"),
        ("sudo git -C /x push -f", "run"),
        ("true && (git push -f)", "run"),
        ("/usr/bin/git push -f", "run"),
        ("git push", "nothing"),
        ("git push --force-with-lease", "nothing"),
        ("git push -- -f", "nothing"),
        ("git commit -m 'git push --force'", "nothing"),
        ("echo git push --force", "nothing"),
        ("# git push --force", "nothing"),
        ("git push $OPTIONS", "ask"),
        ("\"$GIT\" push --force", "ask"),
    ] {
        assert_eq!(leads_to(&push, command), expected, "{command}");
    }
}

#[test]
fn an_unknown_program_counts_only_beside_a_certain_option_or_path() {
    let sudo = json!({"program": ["sudo"]});
    assert_eq!(leads_to(&sudo, "$CC -c x.c"), "nothing");
    let remove = json!({"program": ["rm"], "flags": {"any": ["-r"]}, "operands": {"any": ["/"]}});
    assert_eq!(leads_to(&remove, "\"$TOOL\" -rf /"), "ask");
    assert_eq!(leads_to(&remove, "\"$TOOL\" -f /"), "nothing");
}

#[test]
fn of_many_commands_with_unknown_programs_each_different_one_counts() {
    let push = json!({"program": ["git"], "flags": {"any": ["--force"]}});
    let many = "$GIT status; ls; ".repeat(40);
    for (last, expected) in
        [("$GIT push --force", "ask"), ("git push --force", "run"), ("$GIT status", "nothing")]
    {
        assert_eq!(leads_to(&push, &format!("{many}{last}")), expected, "{last}");
    }
    // Equal commands are looked at once.
    let call = CallSurroundings::read_example(&many);
    assert_eq!(call.index().unknown_programs().len(), 1);
}

#[test]
fn of_many_commands_a_rule_looks_at_its_programs_once_each() {
    let many: Vec<String> = (0..150).map(|name| format!("x{name} a; date; pip3 list")).collect();
    let call = CallSurroundings::read_example(&many.join("; "));
    for (conditions, count) in [
        (json!({"program": ["pip", "pip[0-9]*"]}), 1),
        (json!({"program": ["mkfs*", "*.sh"]}), 0),
        (json!({"program": ["x1", "x1?"]}), 11),
        (json!({"flags": {"any": ["-r"]}}), 152),
    ] {
        let rule = serde_json::from_value(json!({"if": conditions})).unwrap();
        let subjects = CompiledRule::new(rule, false).subjects(&call).count();
        assert_eq!(subjects, count, "{conditions}");
    }
    // A rule about other programs is not even compiled.
    let gates = |rule: Value| RuleGates::new(&[serde_json::from_value(rule).unwrap()]);
    for (program, is_open) in [("git", false), ("mkfs*", false), ("pip*", true), ("date", true)] {
        let is_admitted = gates(json!({"if": {"program": [program]}})).admit(&call);
        assert_eq!(is_admitted, is_open, "{program}");
    }
}

#[test]
fn operands_are_matched_by_patterns_number_and_place() {
    let operands = |operands: Value| json!({"program": ["git"], "operands": operands});
    for (conditions, command, expected) in [
        (json!({"any": ["+*"]}), "git push origin +refs/heads/main", "run"),
        (json!({"any": ["+*"]}), "git push origin main", "nothing"),
        (json!({"all": ["a", "b"]}), "git push b a", "run"),
        (json!({"all": ["a", "b"]}), "git push a", "nothing"),
        (json!({"none": ["a"]}), "git push b", "run"),
        (json!({"none": ["a"]}), "git push a", "nothing"),
        (json!({"none": ["a"]}), "git push $X", "ask"),
        (json!({"count": [0, 0]}), "git stash", "run"),
        (json!({"count": [0, 0]}), "git stash x", "nothing"),
        (json!({"any": ["x"], "after_dashes": true}), "git checkout x -- y", "nothing"),
        (json!({"any": ["y"], "after_dashes": true}), "git checkout x -- y", "run"),
        (json!({"any": ["y"], "after_dashes": true}), "git checkout y", "nothing"),
    ] {
        assert_eq!(
            leads_to(&operands(conditions.clone()), command),
            expected,
            "{conditions} {command}"
        );
    }
}

#[test]
fn paths_are_matched_by_pattern_place_and_operation() {
    let secrets =
        json!({"path": {"op": ["read"], "glob": ["**/.env", "~/.ssh/**"], "not": ["**/*.pub"]}});
    let outside = json!({"path": {"op": ["write", "create"], "outside": ["project", "temp"]}});
    let system =
        json!({"path": {"op": ["delete"], "covers": ["/", "~", "/etc"], "recursive": true}});
    let sources = json!({"path": {"op": ["delete"], "glob": ["src/**"]}});
    for (conditions, command, expected) in [
        (&secrets, "cat .env", "run"),
        (&secrets, "cat ../other/.env", "run"),
        (&secrets, "cat ~/.ssh/id_rsa", "run"),
        (&secrets, "cat ~/.ssh/id_rsa.pub", "nothing"),
        (&secrets, "cat ~/.ssh/*", "run"),
        (&secrets, "cat ~/.ssh/$KEY", "ask"),
        (&secrets, "cat $FILE", "nothing"),
        (&secrets, "cat .env.example", "nothing"),
        (&outside, "echo x > ../x", "run"),
        (&outside, "echo x > x", "nothing"),
        (&outside, "echo x > /tmp/x", "nothing"),
        (&outside, "echo x > $FILE", "nothing"),
        (&system, "rm -rf /", "run"),
        (&system, "rm -rf /home", "run"),
        (&system, "rm -rf /*", "run"),
        (&system, "rm -rf ~/*", "run"),
        (&system, "rm -rf /e*", "run"),
        (&system, "rm -rf ~/project/build", "nothing"),
        (&system, "rm -rf build/*", "nothing"),
        (&system, "rm -rf \"$DIR\"", "nothing"),
        (&sources, "rm src/lib.rs", "run"),
        (&sources, "cd src && rm lib.rs", "run"),
        (&sources, "rm -r src", "run"),
        (&sources, "rm /src/lib.rs", "nothing"),
    ] {
        assert_eq!(leads_to(conditions, command), expected, "{conditions} {command}");
    }
}

#[test]
fn statements_of_sql_are_matched_by_kind_and_condition() {
    let drop = json!({"sql": {"statement": ["drop table *", "truncate *"]}});
    let every = json!({"sql": {"statement": ["delete *"], "where": false}});
    for (conditions, command, expected) in [
        (&drop, "psql app -c 'DROP TABLE IF EXISTS users'", "run"),
        (&drop, "mysql app <<E\nselect 1;\ntruncate users;\nE", "run"),
        (&drop, "psql app -c 'select 1'; echo 'drop table users'", "nothing"),
        (&drop, "git commit -m 'drop table users'", "nothing"),
        (&every, "sqlite3 a.db 'delete from b'", "run"),
        (&every, "sqlite3 a.db 'delete from b where c = 1'", "nothing"),
        (&every, "sqlite3 a.db 'delete from b where 1 = 1'", "run"),
    ] {
        assert_eq!(leads_to(conditions, command), expected, "{command}");
    }
}

#[test]
fn the_value_of_an_unknown_option_can_be_the_next_argument() {
    let mode = json!({"program": ["tool"], "flags": {"any": ["--mode=bypass*"]}});
    for (command, expected) in [
        ("tool --mode=bypassAll", "run"),
        ("tool --mode bypassAll", "run"),
        ("tool --mode plan bypassAll", "nothing"),
        ("tool --mode --bypass", "nothing"),
        ("tool bypassAll", "nothing"),
    ] {
        assert_eq!(leads_to(&mode, command), expected, "{command}");
    }
}

/// The index of a long call changes nothing.
#[test]
fn a_command_among_many_is_found() {
    let conditions = json!({"program": ["rm"], "path": {"op": ["delete"], "glob": ["/etc/**"]}});
    let filler = "ls src; git status; cat a > b;".repeat(20);
    for (command, expected) in [
        (format!("{filler} rm /etc/x"), "run"),
        (format!("rm /etc/x; {filler}"), "run"),
        (format!("{filler} \"$TOOL\" /etc/x; rm /etc/x"), "run"),
        (format!("{filler} rm x; cat /etc/x"), "nothing"),
    ] {
        assert_eq!(leads_to(&conditions, &command), expected, "{command}");
    }
}

#[test]
fn data_that_reaches_an_interpreter_is_code_only_if_it_runs_it() {
    let download = json!({"flow": {"from": ["download"], "into": ["interpreter"], "as": ["code"]}});
    let command = |classes: &[Class]| Command { classes: classes.to_vec(), ..Command::default() };
    let fits = |role: FlowRole, from: Class, into: Class| {
        let commands = vec![command(&[from]), command(&[Class::PassThrough]), command(&[into])];
        let flow = |from, into| Flow { from: FlowSource::Command(from), into, role };
        let call = tenter_shell::Facts {
            commands,
            flows: vec![flow(0, 1), flow(1, 2)],
            ..Default::default()
        };
        let facts = Facts { call, ..Facts::default() };
        rule(&download).select(&CallFacts { facts, ..CallFacts::default() }).is_some()
    };
    assert!(fits(FlowRole::Code, Class::Download, Class::Interpreter));
    assert!(!fits(FlowRole::Data, Class::Download, Class::Interpreter));
    assert!(!fits(FlowRole::Code, Class::Decode, Class::Interpreter));
    assert!(!fits(FlowRole::Code, Class::Download, Class::Network));
}

#[test]
fn exceptions_count_only_if_they_are_certain() {
    let rules = rules(json!([{
        "if": {"program": ["git"], "subcommand": ["clean"], "flags": {"any": ["-f"]}},
        "except": [{"flags": {"any": ["-n", "--dry-run"]}}],
    }]));
    let stops = |command: &str| rules.stops(0, &CallSurroundings::read_example(command));
    assert!(stops("git clean -f"));
    assert!(!stops("git clean -nf"));
    assert!(stops("git clean -f $OPTIONS"));
    assert!(!stops("git clean -f --dry-run=yes"));
    assert!(stops("git clean -f --dry-run=false"));
    assert!(stops("git clean -f --dry-run=$X"));
}

#[test]
fn an_exception_about_sql_fits_all_statements_of_the_rule() {
    let rules = rules(json!([{
        "if": {"sql": {"statement": ["drop *"]}},
        "except": [{"sql": {"statement": ["drop table tmp*"]}}],
    }]));
    let stops = |command: &str| rules.stops(0, &CallSurroundings::read_example(command));
    assert!(!stops("psql app -c 'drop table tmp_a; select 1; drop table tmp_b'"));
    assert!(stops("psql app -c 'drop table tmp_a; drop table users'"));
}

#[test]
fn a_denial_comes_before_a_question_and_says_what_is_unclear() {
    let decision = |verdict: &str| json!({"verdict": verdict, "reason": "No."});
    let rules = rules(json!([
        {"name": "a", "if": {"program": ["a"]}, "decision": decision("ask")},
        {"name": "b", "if": {"program": ["b"]}, "decision": decision("deny")},
        {"name": "c", "if": {"program": ["c"], "operands": {"any": ["x"]}}, "decision": decision("deny"), "uncertain": "ask"},
    ]));
    let decided = |command: &str| {
        let selection = rules.select(&CallSurroundings::read_example(command)).unwrap();
        let verdict = selection.reply.unwrap().verdict.unwrap();
        (selection.fit.rule, verdict.kind, verdict.reason.unwrap())
    };
    let expected = |rule: &str, kind| (rule.to_owned(), kind, "No.".to_owned());
    assert_eq!(decided("a; b"), expected("b", VerdictKind::Deny));
    assert_eq!(decided("a"), expected("a", VerdictKind::Ask));
    assert_eq!(decided("c x"), expected("c", VerdictKind::Deny));
    let (rule, kind, reason) = decided("c $X");
    assert_eq!((rule.as_str(), kind), ("c", VerdictKind::Ask));
    assert!(reason.starts_with("No. It is not certain that this applies to `c $X`"), "{reason}");
}

#[test]
fn an_explanation_names_the_command_and_what_does_not_hold() {
    let rules =
        rule(&json!({"program": ["git"], "subcommand": ["push"], "flags": {"any": ["-f"]}}));
    let explained = rules.explain(&CallSurroundings::read_example("ls && git push"));
    let holds: Vec<_> =
        explained[0].conditions.iter().map(|result| (result.condition, result.holds)).collect();
    assert_eq!((explained[0].fits, explained[0].command.as_str()), (Truth::No, "git push"));
    assert_eq!(holds, [("program", Truth::Yes), ("subcommand", Truth::Yes), ("flags", Truth::No)]);
}

fn truths() -> impl Strategy<Value = Truth> {
    prop_oneof![Just(Truth::No), Just(Truth::Perhaps), Just(Truth::Yes)]
}

/// Returns a list of at most two of these texts, without the condition if it is empty.
fn some_of(texts: &'static [&'static str]) -> impl Strategy<Value = Value> {
    prop::collection::vec(prop::sample::select(texts), 0..3).prop_map(Value::from)
}

/// Returns conditions that examples such as [`commands`] fit now and then.
fn conditions() -> impl Strategy<Value = Value> {
    const PATTERNS: &[&str] = tenter_base::words!(
        "**/.ssh/** ~/.config/a/** /etc/passwd /etc/** **/*.pem ~/*_rsa src/** *.toml ~ / ** .
         **/.e[n]v ~/**/.env ./a/*/b **/a/b .git ~/.ssh ./src/a /etc"
    );
    const PLACES: &[&str] = &["project", "home", "temp", "system"];
    let path = (
        some_of(&["read", "write", "delete", "move", "mode", "list"]),
        (some_of(PATTERNS), some_of(PATTERNS), some_of(PATTERNS)),
        (some_of(PLACES), some_of(PLACES)),
        prop::option::of(any::<bool>()),
    );
    let path = path.prop_map(|(op, (glob, not, covers), (place, outside), recursive)| {
        json!({"op": op, "glob": glob, "not": not, "covers": covers, "place": place, "outside": outside, "recursive": recursive})
    });
    let command = (
        some_of(&["git", "rm", "cat", "ch*", "?v", "[cm]p"]),
        some_of(&["push", "c*"]),
        some_of(&["sudo", "xargs"]),
        some_of(&["A", "B=1"]),
        [some_of(&["-r", "--m*", "-c=gc.*"]), some_of(&["-f", "-[ru]"])],
        [some_of(&["main", "*.t*", "[.]e*", "a*x*"]), some_of(&["~/*", "pu*"])],
    );
    (command, prop::option::of(path), prop::option::of(any::<bool>())).prop_map(
        |((program, subcommand, via, env, [flag, all_flags], [operand, all_operands]), path, unparsed)| {
            let mut conditions = json!({"program": program, "subcommand": subcommand, "via": via, "env": env, "path": path, "unparsed": unparsed});
            let lists = [("flags", [flag, all_flags]), ("operands", [operand, all_operands])];
            for (name, [any, all]) in lists.into_iter().filter(|(_, lists)| *lists != [json!([]), json!([])]) {
                conditions[name] = json!({"any": any, "all": all});
            }
            conditions
        },
    )
}

/// Returns commands of which parts may be unknown.
fn commands() -> impl Strategy<Value = String> {
    const WORDS: &str = "git push clean rm -rf cat chmod cp mv sudo xargs $X r''m > >> | ; A=1 / /etc /etc/passwd ~ ~/.ssh \
        ~/.ssh/k.pem ~/.config ~/id_rsa .env src/a a/x/b a.toml * .e* $D/.env /$D ../x /home /tmp/x . ( a/ -c=gc.x --mirror main -$X .git";
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    prop::collection::vec(prop::sample::select(words), 1..8).prop_map(|words| words.join(" "))
}

/// Returns the rules and the examples of each guard that comes with Tenter.
fn guards() -> Vec<(HookRules, Vec<String>)> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../tenter-commands/src/guard/shipped");
    let files = std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path());
    let guard = |file: std::path::PathBuf| {
        let text = std::fs::read(&file).unwrap();
        let checks = crate::static_action::CHECKS;
        let (manifest, _) = format::read(&file, &text, front_matter::Strictness::Tolerant, checks);
        let rules = manifest.unwrap().extensions.rules;
        let examples =
            rules.iter().flat_map(|rule| [&rule.examples.stopped, &rule.examples.passed]);
        // Ready-made hooks without rules have none.
        Some((HookRules::new(&rules)?, examples.flatten().cloned().collect()))
    };
    files.filter_map(guard).collect()
}

fn select_without_gates(rules: &HookRules, call: &CallFacts) -> Option<RuleMatch> {
    let all: Vec<usize> = (0..rules.gates().count()).collect();
    rules.select_among(&all, call)
}

#[test]
fn the_gates_of_guards_only_save_time() {
    let guards = guards();
    assert!(guards.len() > 6);
    let mut count = 0;
    for command in guards.iter().flat_map(|(_, examples)| examples) {
        let call = CallSurroundings::read_example(command);
        for (rules, _) in &guards {
            let expected = select_without_gates(rules, &call);
            assert_eq!(rules.select(&call), expected, "{command}");
            count += rules.gates().count() - rules.gates().open(&call).len();
        }
    }
    assert!(count > 100_000, "gates are worth their while only if they are closed: {count}");
}

#[test]
fn a_rule_that_cannot_be_read_denies() {
    let mut rules = rule(&json!({"program": ["git"]}));
    rules.rules = LazyRules::from(r#"{"if": 7}"#.to_owned());
    let selection = rules.select(&CallSurroundings::read_example("git push")).unwrap();
    assert_eq!(selection.reply.unwrap().verdict.unwrap().kind, VerdictKind::Deny);
}

/// Returns the truth values that an unknown can have.
fn outcomes(truth: Truth) -> Vec<bool> {
    match truth {
        Truth::No => vec![false],
        Truth::Perhaps => vec![false, true],
        Truth::Yes => vec![true],
    }
}

proptest! {
    /// Whatever the unknown parts turn out to be, a result that is certain is right.
    #[test]
    fn certain_results_are_right_whatever_is_unknown(left in truths(), right in truths()) {
        for one in outcomes(left) {
            for other in outcomes(right) {
                prop_assert!(outcomes(left.and(right)).contains(&(one && other)));
                prop_assert!(outcomes(left.or(right)).contains(&(one || other)));
                prop_assert!(outcomes(left.not()).contains(&!one));
            }
        }
    }

    #[test]
    fn gates_only_save_time(
        conditions in prop::collection::vec(conditions(), 1..4),
        command in commands(),
        (is_over_limit, home) in (prop::bool::weighted(0.1), any::<bool>()),
    ) {
        let rule = |conditions: &Value| json!({"if": conditions, "uncertain": "ask"});
        let rules = rules(conditions.iter().map(rule).collect());
        let mut call = CallSurroundings::read_example(&command);
        call.facts.call.over_limit = is_over_limit;
        call.home = call.home.filter(|_| home);
        prop_assert_eq!(rules.select(&call), select_without_gates(&rules, &call));
        let bytes = versioned::to_bytes("", &rules).unwrap();
        let copy: HookRules = versioned::from_bytes("", &bytes).unwrap();
        prop_assert_eq!(rules.select(&call), copy.select(&call));
    }

    #[test]
    fn several_are_as_strong_as_one_after_another(all in prop::collection::vec(truths(), 0..6)) {
        let any = all.iter().copied().fold(Truth::No, Truth::or);
        prop_assert_eq!(Truth::any(all.clone()), any);
        let every = all.iter().copied().fold(Truth::Yes, Truth::and);
        prop_assert_eq!(Truth::all(all.clone()), every);
        prop_assert_eq!(any.not(), Truth::all(all.iter().map(|truth| truth.not())));
    }

    /// A rule that stops a command also stops it in a longer one.
    #[test]
    fn a_rule_fits_a_command_wherever_it_is(
        before in "(ls; |cd a && |true \\|\\| |\\( ?)?",
        options in "( -[fuq]| --force| origin| \\$X){0,4}",
    ) {
        let push = json!({"program": ["git"], "subcommand": ["push"], "flags": {"any": ["--force", "-f"]}});
        let close = if before.starts_with('(') { ")" } else { "" };
        let alone = leads_to(&push, &format!("git push{options}"));
        prop_assert_eq!(alone, leads_to(&push, &format!("{before}git push{options}{close}")));
    }
}

#[test]
fn rules_can_depend_on_the_agents_process() {
    let rules = rules(json!([{
        "if": {"program": ["sudo"]},
        "except": [{"agent": ["root", "container"]}],
    }]));
    let mut call = CallSurroundings::read_example("sudo ls");
    assert!(rules.stops(0, &call));
    call.agent = vec![tenter_base::AgentState::Root];
    assert!(!rules.stops(0, &call));
    assert_eq!(leads_to(&json!({"agent": ["root"]}), "ls"), "nothing");
}
