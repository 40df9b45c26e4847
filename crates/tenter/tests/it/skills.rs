//! Skills: what the model sees of them and loads, which hooks see it, and what `tenter skill` prints.

use insta::assert_snapshot;
use serde_json::{Value, json};
use tenter_testkit::{Sandbox, assert_fields};

use crate::{filter_kind, headless, sandbox};

/// Writes a skill that can be used into `directory`, which is relative to the project.
fn skill(sandbox: &Sandbox, directory: &str, description: &str) {
    let name = directory.rsplit('/').next().unwrap();
    let text = format!("---\nname: {name}\ndescription: {description}\n---\nFollow {description}.");
    sandbox.write(&format!("{directory}/SKILL.md"), text);
}

/// Checks that a run with these flags goes as the script expects.
fn goes_well(sandbox: &Sandbox, script: &str, flags: &[&str]) {
    let model = sandbox.script(script);
    let output =
        sandbox.run([&["run", "--headless", "--model", &model], flags, &["do it"]].concat());
    assert_eq!(output.code, Some(0), "{flags:?} {output}");
}

#[test]
fn a_model_loads_a_skill_and_hooks_see_the_call() {
    let sandbox = sandbox();
    skill(&sandbox, ".kodelet/skills/pdf", "Fills PDF forms");
    sandbox.write(".kodelet/skills/pdf/forms.md", "Box 7 is for the date.");
    sandbox.sh_hook("watch", "before_tool_call", r#"echo "$payload" >> seen"#);
    sandbox.sh_hook("after", "after_tool_call", r#"echo "$payload" >> seen-after"#);
    let (lines, code) = headless(
        &sandbox,
        "turns:
- tool_calls: [{name: skill, input: {name: pdf}}]
  expect: {contains: ['- pdf: Fills PDF forms', load it with the tool `skill`], lacks: [Follow]}
- tool_calls: [{name: file_read, input: {file_path: .kodelet/skills/pdf/forms.md}}]
  expect: {contains: [Follow Fills PDF forms., .kodelet/skills/pdf, '- forms.md']}
- {text: ok, expect: {contains: [Box 7 is for the date.]}}",
    );
    assert_eq!(code, 0);
    let result = &filter_kind(&lines, "tool-result")[0]["result"];
    assert_eq!((&result["toolName"], &result["metadataType"]), (&json!("skill"), &json!("skill")));
    assert!(sandbox.read("seen").contains(r#""tool_name": "skill""#));
    assert!(sandbox.read("seen-after").contains(r#""skillName": "pdf""#));
}

#[test]
fn files_of_a_user_skill_can_be_read_but_not_changed() {
    let sandbox = sandbox();
    skill(&sandbox, "../home/.kodelet/skills/pdf", "Fills PDF forms");
    sandbox.write("../home/.kodelet/skills/pdf/forms.md", "Box 7.");
    sandbox.write("../home/.kodelet/secret.md", "swordfish");
    let home = sandbox.home();
    let directory = home.join(".kodelet/skills/pdf");
    let file = |name: &str| directory.join(name).display().to_string();
    let script = json!({"turns": [
        {"tool_calls": [{"name": "skill", "input": {"name": "pdf"}}]},
        {"tool_calls": [
            {"name": "file_read", "input": {"file_path": file("forms.md")}},
            {"name": "grep", "input": {"pattern": "Box", "path": directory}},
            {"name": "glob", "input": {"pattern": "*.md", "path": directory}},
            {"name": "file_write", "input": {"file_path": file("forms.md"), "text": "mine"}},
            {"name": "file_edit", "input": {"file_path": file("forms.md"), "old_text": "7", "new_text": "8"}},
            {"name": "file_read", "input": {"file_path": file("../../secret.md")}},
        ], "expect": {"contains": [directory]}},
        {"text": "ok"},
    ]});
    let (lines, code) = headless(&sandbox, &script.to_string());
    assert_eq!(code, 0);
    let results: Vec<&Value> =
        filter_kind(&lines, "tool-result")[1..].iter().map(|line| &line["result"]).collect();
    let of = |tool: &str, success: bool| {
        results
            .iter()
            .filter(|result| result["toolName"] == tool && result["success"] == success)
            .count()
    };
    assert_eq!(
        (of("file_read", true), of("grep", true), of("glob", true)),
        (1, 1, 1),
        "{results:?}"
    );
    assert_eq!(
        (of("file_write", false), of("file_edit", false), of("file_read", false)),
        (1, 1, 1)
    );
    let errors = results.iter().filter_map(|result| result["error"].as_str());
    assert_eq!(errors.filter(|error| error.ends_with("which is read-only")).count(), 2);
    assert_eq!(sandbox.read("../home/.kodelet/skills/pdf/forms.md"), "Box 7.");
}

#[test]
fn without_skills_there_is_no_tool_for_them() {
    let sandbox = sandbox();
    let none = "turns: [{tool_calls: [{name: skill, input: {name: pdf}}], expect: {lacks: [Skills are]}}, {text: ok, expect: {contains: ['there is no tool \"skill\"']}}]";
    goes_well(&sandbox, none, &[]);
    goes_well(&sandbox, none, &["--allowed-tools", "skill,bash"]);
    let message = "There are no skills. A skill is a directory with a SKILL.md in .agents/skills or ~/.agents/skills.\n";
    assert_eq!(sandbox.run("skill list").expect_code(0).stderr, message);
    skill(&sandbox, ".kodelet/skills/pdf", "Fills PDF forms");
    goes_well(&sandbox, none, &["--no-skills"]);
    goes_well(&sandbox, none, &["--allowed-tools", "bash"]);
    goes_well(&sandbox, none, &["--allowed-tools", "none"]);
    let some = "turns: [{text: ok, expect: {contains: ['- pdf: Fills PDF forms']}}]";
    goes_well(&sandbox, some, &["--allowed-tools", "Skill"]);
}

#[test]
fn a_subagent_has_the_same_skills() {
    let sandbox = sandbox();
    skill(&sandbox, ".kodelet/skills/pdf", "Fills PDF forms");
    let (_, code) = headless(
        &sandbox,
        "turns:
- tool_calls: [{name: subagent, input: {question: fill it in}}]
- tool_calls: [{name: skill, input: {name: pdf}}]
  expect: {contains: ['- pdf: Fills PDF forms', fill it in], lacks: [do it]}
- {text: filled in, expect: {contains: [Follow Fills PDF forms.]}}
- {text: done, expect: {contains: [filled in]}}",
    );
    assert_eq!(code, 0);
}

#[test]
fn an_invalid_skill_is_reported_and_hides_no_other() {
    let sandbox = sandbox();
    sandbox.write(".kodelet/skills/bad/SKILL.md", "---\nname: bad\ndescription: a: b\n---\n");
    sandbox.write(".kodelet/skills/odd/SKILL.md", "---\ndescription: Odd\nversion: 2\n---\nx");
    skill(&sandbox, ".kodelet/skills/good", "Fine");
    let (lines, code) = headless(
        &sandbox,
        "turns: [{text: ok, expect: {contains: ['- good: Fine', '- odd: Odd'], lacks: ['- bad']}}]",
    );
    assert_eq!(code, 0);
    let findings = filter_kind(&lines, "diagnostic");
    assert_eq!((findings.len(), &findings[0]["place"]["line"]), (1, &json!(3)), "{findings:?}");
    assert_snapshot!(sandbox.run("skill list"), @"
    exit: 0
    --- stdout
    bad   project  cannot be used  [ROOT]/project/.kodelet/skills/bad/SKILL.md
    good  project  Fine  [ROOT]/project/.kodelet/skills/good/SKILL.md
    odd   project  Odd  [ROOT]/project/.kodelet/skills/odd/SKILL.md
    --- stderr
    error: [ROOT]/project/.kodelet/skills/bad/SKILL.md:3:15: a second `:` is not allowed here
      3 | description: a: b
                        ^
      help: quote a value that contains `: `; indent the keys of one mapping alike
    warning: [ROOT]/project/.kodelet/skills/odd/SKILL.md: the field `name` is missing
      help: write `name: odd`, or rename the directory
    ");
    assert_snapshot!(sandbox.run("skill show bad"), @r#"
    exit: 1
    --- stderr
    error: [ROOT]/project/.kodelet/skills/bad/SKILL.md:3:15: a second `:` is not allowed here
      3 | description: a: b
                        ^
      help: quote a value that contains `: `; indent the keys of one mapping alike
    error: the skill "bad" cannot be used
      help: fix the file; `tenter skill list` shows where it is
    "#);
}

#[test]
fn a_skill_is_shown_with_its_front_matter() {
    let sandbox = sandbox();
    sandbox.write(
        "../home/.kodelet/plugins/acme@docs/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Fills forms\nlicense: MIT\ncompatibility: Needs python3\nmetadata: {version: 1.0}\n\
         allowed-tools: Read Bash(git *)\n---\n# PDF\n\n\u{1b}[2JFollow me.\n",
    );
    assert_snapshot!(sandbox.run("skill show acme@docs/pdf"), @"
    exit: 0
    --- stdout
    name           acme/docs/pdf
    description    Fills forms
    layer          user-plugin
    path           [ROOT]/home/.kodelet/plugins/acme@docs/skills/pdf/SKILL.md
    license        MIT
    compatibility  Needs python3
    allowed-tools  Read Bash(git *)
    metadata       version: 1.0

    # PDF

    Follow me.
    ");
    let value = sandbox.run("skill show acme/docs/pdf --json").expect_code(0).json();
    assert_eq!(value["allowed_tools"], json!(["Read", "Bash(git *)"]));
    assert_fields(&value, &json!({"metadata": {"version": "1.0"}, "layer": "user-plugin"}));
    assert_snapshot!(sandbox.run("skill show pfd"), @r#"
    exit: 2
    --- stderr
    error: there is no skill "pfd"; did you mean "acme/docs/pdf"?
      help: `tenter skill list` lists them
    "#);
}

/// Only Linux has such names.
#[cfg(target_os = "linux")]
#[test]
fn json_has_paths_that_are_no_unicode() {
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;

    let sandbox = sandbox();
    let project = sandbox.root().join(std::ffi::OsStr::from_bytes(b"app\xff"));
    let skill = project.join(".kodelet/skills/pdf");
    fs::create_dir_all(&skill).unwrap();
    fs::write(skill.join("SKILL.md"), "---\nname: pdf\ndescription: Forms\n---\nFill.").unwrap();
    fs::create_dir_all(project.join("recipes")).unwrap();
    fs::write(project.join("recipes/init.md"), "---\nunknown: 1\n---\nGo.").unwrap();
    for args in [
        ["skill", "list", "--json"].as_slice(),
        &["skill", "show", "pdf", "--json"],
        &["recipe", "list", "--json"],
        &["recipe", "show", "init", "--json"],
    ] {
        let output = sandbox.command().current_dir(&project).args(args).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("/app\u{fffd}/"), "{args:?}: {text}");
    }
}
