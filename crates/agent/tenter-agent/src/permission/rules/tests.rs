//! The calls that rules allow, and the rules that are offered for a call.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::testing::with;
use super::*;
use crate::tools::testing::Bench;

fn rules(rules: &[&str]) -> Rules {
    let rules = rules.iter().map(|rule| (rule.parse().unwrap(), RuleSource::Flag));
    Rules::new(rules.collect(), None)
}

fn allows(bench: &Bench, rules: &Rules, command: &str) -> bool {
    with(bench, "bash", json!({"command": command}), |context| rules.allowing(context).is_some())
}

#[test]
fn a_line_is_allowed_if_a_rule_allows_each_of_its_commands() {
    let bench = Bench::new();
    bench.write("sub/x", "");
    let rules = rules(tenter_base::phrases!(
        "bash(git status *), bash(git log -?), bash(tail *), bash(timeout *), bash(./sub/run.sh),
         file_write(logs/**)"
    ));
    for command in [
        "git status",
        "git  'status'  -s \"a b\" *.rs",
        "git status && git log -3 | tail -20; git status &",
        "(git status) 2>&1 >/dev/null",
        "cd sub && git status",
        "timeout 5 git status",
        "./sub/run.sh",
        "cd sub; ../sub/run.sh",
        "git status > logs/x",
        "if git status; then git log -1; fi",
        "git status # ; rm x",
    ] {
        assert!(allows(&bench, &rules, command), "{command}");
    }
}

#[test]
fn nothing_else_is_allowed_along_with_a_command() {
    let bench = Bench::new();
    fs::create_dir_all(bench.directory.path().join("outside")).unwrap();
    symlink(bench.directory.path().join("outside"), bench.path("link")).unwrap();
    bench.write("sub/x", "");
    bench.write(".git/config", "");
    let rules = rules(tenter_base::phrases!(
        "bash(git status *), bash(tee *), bash(cp *), bash(timeout *), bash(bash *),
         bash(xargs *), bash(export *), bash(env *), bash(run.sh), file_write(logs/**),
         file_write(link/**)"
    ));
    let long = format!("git status {}; rm x", "a".repeat(70_000));
    for command in [
        "git push",
        "git -c core.pager=evil status",
        "git --git-dir=x status",
        "/tmp/git status",
        "./git status",
        "./run.sh",
        "PATH=. git status",
        "PATH=.; git status",
        "PATH=.\ngit status",
        "export PATH=.; git status",
        "env PATH=. git status",
        "git() { rm x; }; git status",
        "alias git=rm; git status",
        "git status; rm x",
        "git status\nrm x",
        "git status & rm x",
        "git status | rm x",
        "git status || rm x",
        "git status $(rm x)",
        "git status `rm x`",
        "git status <(rm x)",
        "git status \"$(rm x)\"",
        "cat <<E\n$(rm x)\nE",
        "git status $HOME",
        "git status > x",
        "git status > logs/../x",
        "git status > link/x",
        "git status > /tmp/x",
        "cd / && git status",
        "cd link && git status",
        "cd .. && git status",
        "cd && git status",
        "cd -; git status",
        "pushd sub; git status",
        "cd sub > x",
        "timeout 5 rm x",
        "bash -c 'rm x'",
        "bash <<'E'\nrm x\nE",
        "echo 'rm x' | bash",
        "xargs rm",
        "git status | tee .git/config",
        "git status | tee /etc/x",
        "git status | tee link/x",
        "cp x ../outside",
        "cd sub",
        "",
        "git status \u{a0}; rm x",
        "git status '",
        "for git in rm; do git status; done",
        "git status; trap 'rm x' EXIT",
        "hash -p /tmp/evil git; git status",
        &long,
    ] {
        assert!(!allows(&bench, &rules, command), "{command}");
    }
}

#[test]
fn a_rule_for_files_is_about_the_file_that_is_changed() {
    let bench = Bench::new();
    fs::create_dir_all(bench.path("src")).unwrap();
    bench.write("other", "");
    symlink("../other", bench.path("src/link")).unwrap();
    let rules = rules(&["file_edit(src/**)", "file_write"]);
    let allows = |tool: &str, file: &str| {
        with(&bench, tool, json!({"file_path": file}), |context| rules.allowing(context).is_some())
    };
    assert!(allows("file_edit", "src/a") && allows("file_edit", "./src/../src/a/b"));
    for file in ["other", "src/../other", "src/link", "/etc/passwd"] {
        assert!(!allows("file_edit", file), "{file}");
    }
    assert!(allows("file_write", "other"));
}

#[test]
fn rules_for_mcp_tools_name_the_server_and_the_tool() {
    let bench = Bench::new();
    let rules = rules(&["mcp__a__*", "mcp__b__read"]);
    let allows =
        |tool: &str| with(&bench, tool, json!({}), |context| rules.allowing(context).is_some());
    assert!(allows("mcp__a__x") && allows("mcp__b__read"));
    assert!(!allows("mcp__b__write") && !allows("mcp__ab__x") && !allows("mcp__b__read2"));
}

#[test]
fn a_rule_for_a_builtin_does_not_allow_what_bash_evaluates() {
    let bench = Bench::new();
    let rules = rules(tenter_base::phrases!(
        "bash(printf *), bash(test *), bash(wait *), bash(jobs *), bash(compgen *), bash(let *),
         bash(read *), bash(unset *), bash(timeout *), bash(bash *), bash(watch *), bash(ls *)"
    ));
    for command in
        ["printf '%s' -v", "test -f x", "ls & wait", "jobs -l", "bash -c 'ls; test -f x'"]
    {
        assert!(allows(&bench, &rules, command), "{command}");
    }
    for command in [
        "printf -v 'a[$(touch ran)]' x",
        "printf -v PATH x; ls",
        "test -v 'a[$(touch ran)]'",
        "test ! -v 'a[$(touch ran)]'",
        "test 'a[$(touch ran)]' -eq 0",
        "test *",
        "printf *",
        "ls & wait -np 'a[$(touch ran)]'",
        "jobs -x touch ran",
        "compgen -W '$(touch ran)'",
        "let 'a[$(touch ran)]'",
        "read 'a[$(touch ran)]' <<< x",
        "unset 'a[$(touch ran)]'",
        "bash -c \"test -v 'a[\\$(touch ran)]'\"",
        "bash -c 'PATH=.; ls'",
        "watch 'PATH=.; ls'",
        "bash -c 'ls $x'",
    ] {
        assert!(!allows(&bench, &rules, command), "{command}");
    }
}

#[test]
fn a_rule_for_git_is_about_the_repository_of_the_project() {
    let bench = Bench::new();
    for file in
        [".git/HEAD", "sub/x", "nested/.git/HEAD", "bare/HEAD", "bare/objects/x", "bare/refs/x"]
    {
        bench.write(file, "");
    }
    let rules = rules(&["bash(git *)", "bash(git --git-dir=x log)", "reads(git status)"]);
    for command in *tenter_base::phrases!(
        "git status, cd sub && git log -1, git -C sub status, git --no-pager log,
         git commit -c HEAD, git --git-dir=x log"
    ) {
        assert!(allows(&bench, &rules, command), "{command}");
    }
    for command in *tenter_base::phrases!(
        "cd nested && git status, cd bare && git status, cd bare/refs && git status,
         git -C bare status, git --git-dir=bare status, git --git-dir bare status,
         git --work-tree=sub status, git -c core.fsmonitor=x status,
         git -C status -c core.fsmonitor=x status, git --exec-path=. status,
         git --config-env=core.pager=X status, GIT_DIR=bare git status,
         env GIT_DIR=bare git status"
    ) {
        assert!(!allows(&bench, &rules, command), "{command}");
    }
}

#[test]
fn a_rule_for_a_known_effect_allows_only_arguments_with_this_effect() {
    let bench = Bench::new();
    bench.write("src/x", "");
    symlink("/etc", bench.path("link")).unwrap();
    let rules =
        rules(&["reads(git log)", "reads(cat)", "reads(kubectl get)", "builds(cargo test)"]);
    for command in *tenter_base::phrases!(
        "git log -5 --oneline -- src, cat -n src/x, cd src && cat x ../src/*,
         kubectl get pods -o yaml, cargo test -p x -- --nocapture, cargo test 2>&1 | cat"
    ) {
        assert!(allows(&bench, &rules, command), "{command}");
    }
    for command in *tenter_base::phrases!(
        "git log --output=src/x, git log -- /etc/passwd, git push, cat /etc/passwd,
         cat ~/.ssh/id_rsa, cat link/passwd, cat ../x, cat *, cat src/x > src/y, xargs cat,
         kubectl get secrets, kubectl delete pod x, cargo test --config x,
         cargo test --manifest-path /tmp/Cargo.toml, cargo run"
    ) {
        assert!(!allows(&bench, &rules, command), "{command}");
    }
}

#[test]
fn rules_are_offered_for_a_known_effect_or_exactly_this_call() {
    let bench = Bench::new();
    bench.write("src/x", "");
    let none = Rules::default();
    let proposed = |tool: &str, input: serde_json::Value| {
        let rules = with(&bench, tool, input, |context| none.proposed(context));
        rules.iter().map(Rule::to_string).collect::<Vec<_>>().join(", ")
    };
    let command = |command: &str| proposed("bash", json!({"command": command}));
    for (line, rules) in [
        ("cargo test -p x", "builds(cargo test)"),
        ("cd src && cargo fmt && cargo fmt --check", "builds(cargo fmt)"),
        ("npm run build -- -x", "bash(cd . && npm run build -- -x)"),
        ("cd src && make 'a b'", "bash(cd src && make 'a b')"),
        ("ls -la", "reads(ls)"),
        ("git log --output=x", "bash(cd . && git log --output=x)"),
        ("git config x y", "bash(cd . && git config x y)"),
        ("az group list", "reads(az group list)"),
        ("crontab -l", "reads(crontab -l)"),
        ("find . -name x", "reads(find)"),
        ("git -C src status", "bash(cd src && git -C src status)"),
        ("make \"it's\"", ""),
        ("make *.c", ""),
        ("find . -delete", ""),
        ("git rm x", ""),
        ("bash -c 'ls'", ""),
        ("python3 x.py", ""),
        ("sudo ls", ""),
        ("env ls", ""),
        ("ls | xargs cat", ""),
        ("npx x", ""),
        ("./x.sh", ""),
        ("rm x", ""),
        ("curl https://x", ""),
        ("cargo test > x", ""),
        ("cargo test $x", ""),
    ] {
        assert_eq!(command(line), rules, "{line}");
    }
    let edit = |file: &str| proposed("file_edit", json!({"file_path": file}));
    assert_eq!(edit("src/a/b.rs"), "file_edit(src/**)");
    assert_eq!(edit("README.md"), "file_edit(README.md)");
    assert_eq!(edit("/etc/passwd"), "");
    assert_eq!(edit(".github/workflows/x.yml"), "file_edit(.github/workflows/x.yml)");
    assert_eq!(proposed("mcp__a__b", json!({"id": 1})), "mcp__a__b");
    assert_eq!(proposed("mcp__a__b", json!({"command": "ls"})), "");
}
