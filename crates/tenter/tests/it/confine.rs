//! Hooks confine calls of the agent (F1, F12), and `tenter confine` is the launcher.

use serde_json::{Value, json};
use tenter_testkit::{Sandbox, assert_fields, skip_unless};

use crate::{filter_kind, headless, sandbox};

/// Returns true if this machine keeps what the profile `standard` promises.
fn is_supported(sandbox: &Sandbox) -> bool {
    sandbox.run("confine -- true").code == Some(0)
}

/// Installs a hook of the user whose reply is this JSON.
fn confining(sandbox: &Sandbox, reply: &str) {
    sandbox.sh_hook("confining", "before_tool_call", &format!("echo '{reply}'"));
}

fn script(command: &str) -> String {
    let call = serde_json::json!({"name": "bash", "input": {"command": command}});
    format!("turns: [{{tool_calls: [{call}]}}, {{text: ok}}]")
}

#[test]
fn a_confined_command_of_the_agent_writes_the_project_only() {
    let sandbox = sandbox();
    skip_unless!(is_supported(&sandbox));
    confining(&sandbox, r#"{"confine": {"write": ["project"]}}"#);
    sandbox.sh_hook("audit", "after_tool_call", r#"printf '%s\n' "$payload" >> ../audit.log"#);
    let outside = sandbox.root().join("outside");
    let command = format!("echo x > inside; echo x > {}; exit 7", outside.display());
    let (lines, _) = headless(&sandbox, &script(&command));
    assert_eq!(sandbox.read("inside"), "x\n");
    assert!(!outside.exists());
    let decision = filter_kind(&lines, "hook").into_iter().find(|run| run["hook"] == "confining");
    assert_eq!(decision.unwrap()["decision"], "confine");
    let audit = std::fs::read_to_string(sandbox.root().join("audit.log")).unwrap();
    let payload: Value = serde_json::from_str(&audit).unwrap();
    let metadata = &payload["tool_output"]["metadata"];
    assert_fields(metadata, &json!({"exitCode": 7, "confined": {"profile": "custom"}}));
    assert_eq!(metadata["confined"]["kept"][0], "write", "{metadata}");
}

#[test]
fn a_rule_confines_what_it_matches_and_no_other_call() {
    let sandbox = sandbox();
    skip_unless!(is_supported(&sandbox));
    let manifest = "---\nname: scripts\ndescription: Confines scripts.\ntrigger: before_tool\nmetadata:\n  match:\n    - program: bash\n      decision: confine\n      confine: {write: [project]}\n      reason: A script.\n---\n";
    sandbox.write("../home/.config/agents/hooks/scripts/HOOK.md", manifest);
    let outside = sandbox.root().join("outside");
    sandbox.write("deploy.sh", format!("echo x > {}\n", outside.display()));
    let check = sandbox.run(["check", "bash deploy.sh"]).expect_code(0);
    assert_eq!(check.stdout.trim(), "confined by scripts, rule 1: A script.", "{check}");
    headless(&sandbox, &script("bash deploy.sh"));
    assert!(!outside.exists());
    let log = sandbox.run("log");
    assert!(log.stdout.contains("→ custom: kept write"), "{log}");
    headless(&sandbox, &script(&format!("echo x > {}", outside.display())));
    assert!(outside.exists());
}

#[test]
fn the_command_line_confines_and_checks() {
    let sandbox = sandbox();
    skip_unless!(is_supported(&sandbox));
    let outside = sandbox.root().join("outside");
    let line = format!("echo x > {}", outside.display());
    let spec = r#"{"write": ["project"]}"#;
    let output = sandbox.run(["confine", "--spec", spec, "--", "sh", "-c", &line]);
    assert!(output.code != Some(0) && !outside.exists(), "{output}");
    let check = sandbox.run("confine --check");
    assert!(check.stdout.starts_with("write          kept"), "{check}");
    let misplaced = sandbox.run("--color never confine -- true");
    assert!(misplaced.stderr.contains("must be the first argument"), "{misplaced}");
    sandbox.fails(125, "confine --profile bild -- true", "there is no profile \"bild\"");
}

/// Returns the names in the first column of the table of promises, each in backticks.
fn documented_promises() -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/confine.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once("\n## What is kept where\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let cells = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    cells
        .flat_map(|cell| cell.split(", "))
        .map(|name| name.replace(['`', ':', '{', '}'], ""))
        .collect()
}

#[test]
fn the_page_lists_the_promises_that_the_check_prints() {
    let sandbox = sandbox();
    let check = sandbox.run("confine --check");
    let names = check.stdout.lines().map(|line| line.chars().take(15).collect::<String>());
    let mut names: Vec<String> = names.map(|name| name.trim().to_owned()).collect();
    let mut documented = documented_promises();
    names.sort();
    documented.sort();
    assert_eq!(names, documented, "{check}");
}

#[test]
fn a_guard_that_confines_lets_scripts_run_with_fewer_rights() {
    let sandbox = sandbox();
    skip_unless!(is_supported(&sandbox));
    let _ = sandbox.run("guard add outside-project --confine").expect_code(0);
    let settings = sandbox.run("guard set outside-project scripts=confine");
    assert!(settings.stdout.contains("scripts = confine"), "{settings}");
    sandbox.write("deploy.sh", "echo x > inside\n");
    let (lines, _) = headless(&sandbox, &script("sh deploy.sh"));
    assert_eq!(sandbox.read("inside"), "x\n");
    let guards = filter_kind(&lines, "hook");
    assert!(guards.iter().any(|run| run["decision"] == "confine"), "{lines:?}");
}

/// Returns a recipe of the user that writes outside of the project and reads a secret.
fn spying_recipe(sandbox: &Sandbox, confine: &str) -> String {
    sandbox.write("../home/.ssh/id_ed25519", "key of ada\n");
    let text = "out: {{bash \"sh\" \"-c\" \"echo x > ../outside && echo wrote\"}}\nkey: {{bash \"cat\" \"../home/.ssh/id_ed25519\"}}\nin: {{bash \"sh\" \"-c\" \"echo x > inside && echo wrote\"}}\n";
    sandbox
        .write("../home/.kodelet/recipes/spy.md", format!("---\nname: Spy\n{confine}---\n{text}"));
    let text = sandbox.run("recipe show spy").expect_code(0).stdout;
    let has_written = std::fs::remove_file(sandbox.root().join("outside")).is_ok();
    assert_eq!(has_written, text.contains("out: wrote"), "{text}");
    text
}

#[test]
fn programs_of_a_recipe_write_and_read_no_more_than_it_says() {
    let sandbox = sandbox();
    skip_unless!(is_supported(&sandbox));
    let results =
        |text: &str| ["out: wrote", "key: key of ada", "in: wrote"].map(|one| text.contains(one));
    for (confine, works) in [
        ("", [true, true, true]),
        ("confine: pure\n", [false, false, false]),
        ("confine: {write: [project], read_not: [secrets], network: none}\n", [false, false, true]),
        ("confine: {write: [project]}\n", [false, true, true]),
        ("confine: mine\n", [true, false, true]),
    ] {
        let profile = "[confine.profiles.mine]\nread_not = [\"~/.ssh\"]\n";
        sandbox.configure(profile);
        let text = spying_recipe(&sandbox, confine);
        assert_eq!(results(&text), works, "{confine}{text}");
    }
}

#[test]
fn programs_of_a_recipe_do_not_run_where_its_confinement_cannot_be_kept() {
    let sandbox = sandbox();
    skip_unless!(is_supported(&sandbox));
    sandbox.write("../home/.ssh/id_ed25519", "key of ada\n");
    for (otherwise, runs) in [("ask", false), ("deny", false), ("run", true)] {
        let fields = format!("{{read_not: [secrets], otherwise: {otherwise}}}");
        let recipe = format!("---\nconfine: {fields}\n---\n{{{{bash \"echo\" \"a door\"}}}}");
        sandbox.write("../home/.kodelet/recipes/door.md", recipe);
        // Nothing can be hidden inside of a confinement that restricts writing: the kernel refuses mounts there.
        let root = sandbox.root();
        let outer = format!("confine --spec '{{\"write\": [{root:?}]}}' -- tenter");
        let output = sandbox.shell(&format!("tenter {outer} recipe show door")).expect_code(0);
        assert_eq!(output.stdout.starts_with("a door\n"), runs, "{output}");
        assert_eq!(output.stdout.contains("cannot be kept here: read_not"), !runs, "{output}");
    }
}

#[test]
fn a_recipe_with_an_unknown_profile_cannot_be_used() {
    let sandbox = sandbox();
    sandbox
        .write("recipes/spy.md", "---\nname: Spy\nconfine: bild\n---\n{{bash \"touch\" \"ran\"}}");
    let output = sandbox.run("recipe show spy");
    assert!(
        output.stderr.contains("recipes/spy.md:3:10: `confine`: there is no profile \"bild\""),
        "{output}"
    );
    let list = sandbox.run("recipe list").stdout;
    assert!(list.contains("spy        project  cannot be used"), "{list}");
}

#[test]
fn listings_and_the_question_about_trust_say_how_a_recipe_is_confined() {
    let sandbox = sandbox();
    let recipe = "---\nname: Spy\nconfine: pure\n---\n{{bash \"touch\" \"ran\"}}";
    sandbox.write("recipes/spy.md", recipe);
    let list = sandbox.run("recipe list").stdout;
    assert!(list.lines().next().unwrap().contains("  confined: pure  "), "{list}");
    let json = sandbox.run("recipe show spy --raw --json").json();
    assert_eq!(json["confine"][0]["profile"], "pure");
    let words = "writes nothing, reads no secrets, has no network";
    sandbox.warns("recipe show spy --raw", &format!("Its programs run confined: {words}."));
    let model = sandbox.script("turns: [{text: ok}]");
    let mut session = sandbox.at_terminal(["run", "-r", "spy", "--model", &model]);
    let question = session.wait_for("[q] quit: ");
    assert!(question.contains(&format!("its programs run confined: {words}")), "{question}");
    session.enter("q");
    assert_eq!(session.end().0, Some(4));
}

#[test]
fn a_pure_hook_decides_and_writes_only_its_private_directory() {
    let sandbox = sandbox();
    skip_unless!(is_supported(&sandbox));
    for (confine, writes) in [("  confine: pure\n", false), ("", true)] {
        let directory = sandbox.home().join(".config/agents/hooks/guard");
        std::fs::create_dir_all(directory.join("scripts")).unwrap();
        let manifest = format!(
            "---\nname: guard\ndescription: A guard.\ntrigger: before_tool\nmetadata:\n  fail: open\n{confine}---\n"
        );
        std::fs::write(directory.join("HOOK.md"), manifest).unwrap();
        let outside = sandbox.root().join("outside");
        let body = format!(
            "cat > /dev/null; echo x > $TENTER_HOOK_STATE/own; [ -s $TENTER_HOOK_STATE/own ] || exit 1; echo x > {}; echo '{{\"decision\": \"deny\", \"reason\": \"guarded\"}}'",
            outside.display()
        );
        std::fs::write(directory.join("scripts/run.sh"), body).unwrap();
        let (lines, _) = headless(&sandbox, &script("ls"));
        let decision = filter_kind(&lines, "hook").into_iter().find(|run| run["hook"] == "guard");
        assert_eq!(decision.unwrap()["decision"], "deny", "{lines:?}");
        assert_eq!(outside.exists(), writes, "{confine}");
    }
}
