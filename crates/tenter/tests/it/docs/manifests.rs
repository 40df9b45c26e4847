//! `manifest-hooks.md`: its hooks are played, its payloads and answers compared with real ones, its tables with the code.
//!
//! | kind | what is done with the block |
//! | --- | --- |
//! | `manifest NAME` | it is a `HOOK.md`; it must be valid by every rule |
//! | `entry NAME` | it is that hook's script; its lines are as for `hook` |
//! | `matcher` | `fires:` and `rests:` are calls that it matches and does not match |
//! | `told EVENT` | it is compared with what a hook really reads |
//! | `says EVENT => DECISION` | it is read as a hook's answer, and each of its fields must count |
//! | `toml NAMES` | it is read as `hooks.toml` where hooks of these names are |

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;
use tenter_engine::DecisionKind;
use tenter_engine::inspect::{CHECKS, Matcher};
use tenter_protocol::front_matter::Strictness;
use tenter_protocol::lifecycle::{self, TABLE};
use tenter_protocol::manifest::{Manifest, actions_at, format, parse_reply};
use tenter_protocol::{EventName, Object, ToolCall, json, tool_names};
use tenter_testkit::Sandbox;

use super::hooks::{carry_out, has_what_it_needs};
use super::markdown::{Block, pages, table};
use crate::sandbox;

const DIRECTORY: &str = ".config/agents/hooks";
const RECORD: &str = "#!/bin/sh\ncat >> payloads.jsonl\n";

const PAGE: &str = "manifest-hooks.md";

/// Writes a user hook.
fn install(sandbox: &Sandbox, name: &str, manifest: &str, script: &str) {
    let directory = sandbox.home().join(DIRECTORY).join(name);
    fs::create_dir_all(directory.join("scripts")).unwrap();
    fs::write(directory.join("HOOK.md"), manifest).unwrap();
    let is_python = script.lines().next().is_some_and(|line| line.ends_with("python3"));
    let file = directory.join("scripts").join(if is_python { "run.py" } else { "run.sh" });
    fs::write(&file, script).unwrap();
    if script.contains("from tenter_hook import") {
        let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/python/tenter_hook.py");
        fs::copy(sdk, directory.join("scripts/tenter_hook.py")).unwrap();
    }
    fs::set_permissions(file, Permissions::from_mode(0o755)).unwrap();
}

/// Reads a manifest by every rule; it must keep them all, and give no cause for remarks but for a slow expression.
fn strict(place: &str, name: &str, text: &str) -> Manifest {
    let path = Path::new("/hooks").join(name).join("HOOK.md");
    let (manifest, mut findings) = format::read(&path, text.as_bytes(), Strictness::Strict, CHECKS);
    findings.retain(|finding| finding.id != "manifest-pattern-remark");
    assert!(findings.is_empty(), "{place}: {findings:#?}");
    manifest.unwrap()
}

#[test]
fn every_manifest_example_is_valid() {
    let pages = pages();
    for block in super::examples(&pages, "manifest") {
        strict(&block.place, &block.note.rest, &block.text);
    }
    let files =
        super::examples(&pages, "file").filter(|block| block.note.rest.ends_with("/HOOK.md"));
    for block in files {
        let name = Path::new(&block.note.rest).parent().unwrap().file_name().unwrap();
        strict(&block.place, name.to_str().unwrap(), &block.text);
    }
}

#[test]
fn every_script_example_decides_as_stated() {
    let pages = pages();
    for block in super::examples(&pages, "entry") {
        let sandbox = sandbox();
        if !has_what_it_needs(block) {
            continue;
        }
        let name = &block.note.rest;
        let manifest =
            super::examples(&pages, "manifest").find(|manifest| manifest.note.rest == *name);
        install(&sandbox, name, &manifest.unwrap().text, &block.text);
        for (key, value) in &block.note.lines {
            carry_out(&sandbox, block, key, value);
        }
    }
}

#[test]
fn every_matcher_example_matches_as_stated() {
    for block in super::examples(&pages(), "matcher") {
        let front =
            format!("---\nname: x\ndescription: d\ntrigger: before_tool\n{}---\n", block.text);
        let matcher = Matcher::new(&strict(&block.place, "x", &front).matcher);
        for (key, call) in &block.note.lines {
            let (name, input) = call.split_once(' ').unwrap();
            let input = serde_json::from_str(input).unwrap();
            let call = ToolCall { id: "1".into(), name: name.into(), input };
            let is_match = matcher.matches(&call).unwrap().is_some();
            assert_eq!(is_match, key == "fires", "{}: {call:?}", block.place);
        }
    }
}

#[test]
fn every_misleading_matcher_has_the_documented_warning() {
    for row in &table(PAGE, "Matcher").rows {
        let line = row[0].trim_matches('`');
        let front = format!(
            "---\nname: x\ndescription: d\ntrigger: before_tool\nmatcher:\n  {line}\n---\n"
        );
        let path = Path::new("/hooks/x/HOOK.md");
        let (_, diagnostics) = format::read(path, front.as_bytes(), Strictness::Tolerant, CHECKS);
        let [finding] = &diagnostics[..] else { panic!("{line}: {diagnostics:?}") };
        assert!(row[1].ends_with(&finding.severity.to_string()), "{line}");
    }
}

#[test]
fn every_payload_is_what_a_manifest_hook_reads() {
    for block in super::examples(&pages(), "told") {
        let documented: Value = serde_json::from_str(&block.text).unwrap();
        assert_eq!(documented["event_type"], block.note.rest.as_str(), "{}", block.place);
        let sandbox = sandbox();
        sandbox.configure(super::WITHOUT_CHANGED);
        let note = |key, before: &str, after: &str| {
            block.note.get(key).map_or(String::new(), |value| format!("{before}{value}{after}\n"))
        };
        let front = format!(
            "name: record\ndescription: d\ntrigger: {}\n{}{}",
            block.note.rest,
            note("matcher", "matcher: {tool: ", "}"),
            note("metadata", "metadata: ", "")
        );
        install(&sandbox, "record", &format!("---\n{front}---\n"), RECORD);
        sandbox.write("README.md", "# The shop\n");
        let output =
            sandbox.play(block.note.get("script").unwrap(), &[block.note.get("message").unwrap()]);
        let normal = |payload: &Value| {
            let mut payload = payload.clone();
            // It depends on the machine.
            payload
                .as_object_mut()
                .unwrap()
                .entry("duration_seconds")
                .and_modify(|value| *value = 0.into());
            let text = output.normal(&json::to_string(&payload));
            let text = text
                .replace("[ROOT]/project", "/home/ada/shop")
                .replace("[ROOT]/home", "/home/ada");
            text.replace("[ROOT]/", "/home/ada/")
        };
        let read = |line: &str| normal(&serde_json::from_str(line).unwrap());
        let real: Vec<String> = sandbox.read("payloads.jsonl").lines().map(read).collect();
        let documented = normal(&documented);
        assert!(real.contains(&documented), "{}\n{documented}\nis none of\n{real:#?}", block.place);
    }
}

#[test]
fn every_reply_of_a_manifest_hook_is_read_completely() {
    for block in super::examples(&pages(), "says") {
        let (event, decision) = said(block);
        let answer: Object = serde_json::from_str(&block.text).unwrap();
        let reply = parse_reply(event, block.text.as_bytes()).unwrap();
        let messages = [reply.warnings.clone(), reply.defects.clone()].concat();
        assert_eq!(messages, [] as [String; 0], "{}", block.place);
        assert_eq!(
            DecisionKind::most_important(&reply.reply).as_str(),
            decision,
            "{}",
            block.place
        );
        for key in answer.keys() {
            let mut without = answer.clone();
            without.shift_remove(key);
            let without = parse_reply(event, json::to_string(&without).as_bytes());
            assert_ne!(Ok(reply.clone()), without, "{}: {key} changes nothing", block.place);
        }
    }
}

fn said(block: &Block) -> (EventName, &str) {
    let (event, decision) = block.note.rest.split_once(" => ").unwrap();
    (lifecycle::by_any_spelling(event)[0], decision)
}

/// The fields that an event takes are those that it names where it is given something else; each is shown in an example.
#[test]
fn every_field_of_an_answer_is_listed_with_its_events() {
    let pages = pages();
    let output: BTreeSet<String> = super::examples(&pages, "says")
        .flat_map(|block| serde_json::from_str::<Object>(&block.text).unwrap())
        .map(|(key, _)| key)
        .collect();
    let documented = table(PAGE, "Reply");
    assert_eq!(output, documented.names().into_iter().map(str::to_owned).collect());
    for row in &TABLE {
        let warning = &parse_reply(row.event, b"{\"zzz\": 1}").unwrap().defects[0];
        let names: BTreeSet<&str> =
            warning.split_once("it may have ").unwrap().1.split(", ").collect();
        let is_for = |events: &str| {
            events == "every event"
                || events == row.name
                || events.contains(&format!("`{}`", row.name))
        };
        let fields = documented.rows.iter().filter(|field| is_for(&field[2]));
        assert_eq!(
            fields.map(|field| field[0].as_str()).collect::<BTreeSet<_>>(),
            names,
            "{}",
            row.name
        );
    }
}

#[test]
fn every_hooks_toml_example_is_valid() {
    for block in super::examples(&pages(), "toml") {
        let sandbox = sandbox();
        for name in block.note.rest.split(", ") {
            let front = format!("---\nname: {name}\ndescription: d\ntrigger: before_agent\n---\n");
            install(&sandbox, name, &front, "#!/bin/sh\n");
        }
        sandbox.write(&format!("../home/{DIRECTORY}/hooks.toml"), &block.text);
        let output = sandbox.run("hooks list --json").expect_code(0);
        assert!(output.stderr.is_empty(), "{}\n{output}", block.place);
        let list = output.json();
        let of = |name: &str| {
            let hook = list.as_array().unwrap().iter().find(|hook| hook["name"] == name).unwrap();
            (hook["active"] == true, hook["priority"].as_u64(), hook["timeout_ms"].as_u64())
        };
        assert_eq!(of("quick"), (true, Some(100), Some(10000)));
        assert_eq!(of("tidy-python"), (true, Some(10), Some(60000)));
        assert!(!of("notify").0);
    }
}

#[test]
fn the_table_of_triggers_is_the_codes() {
    let code: Vec<Vec<String>> = TABLE
        .iter()
        .map(|row| {
            let powers: Vec<&str> = row.may.iter().map(|(power, _)| power.as_str()).collect();
            let powers = if powers.is_empty() { "nothing".to_owned() } else { powers.join(", ") };
            vec![row.name.to_owned(), row.manifest[1..].join(", "), row.fires.to_owned(), powers]
        })
        .collect();
    let mut documented = table(PAGE, "Trigger").rows;
    documented.sort_by_key(|row| TABLE.iter().position(|one| one.name == row[0]));
    assert_eq!(documented, code);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "TENTER_UPDATE asks the test to update the file")]
fn the_schema_of_front_matter_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/hook-manifest.schema.json");
    let schema = serde_json::to_string_pretty(&format::front_matter_schema()).unwrap() + "\n";
    if std::env::var_os("TENTER_UPDATE").is_some() {
        fs::write(&file, &schema).unwrap();
    }
    let is_equal = fs::read_to_string(&file).unwrap() == schema;
    assert!(is_equal, "docs/hook-manifest.schema.json is stale; update it with TENTER_UPDATE=1");
}

#[test]
fn the_tables_of_front_matter_are_the_schemas() {
    let schema = format::front_matter_schema();
    let keys = |schema: &Value| -> Vec<String> {
        schema["properties"].as_object().unwrap().keys().cloned().collect()
    };
    let documented = table(PAGE, "Key");
    assert_eq!(documented.names(), keys(&schema));
    for row in &documented.rows {
        let default = &schema["properties"][&row[0]]["default"];
        assert!(default.is_null() || *default == row[2].parse::<Value>().unwrap(), "{row:?}");
    }
    let metadata = &schema["properties"]["metadata"];
    let extensions = table(PAGE, "Extension");
    assert_eq!(
        extensions.names().into_iter().collect::<BTreeSet<_>>(),
        keys(metadata).iter().map(String::as_str).collect()
    );
    for row in &extensions.rows {
        let words = metadata["properties"][&row[0]]["enum"].as_array().into_iter().flatten();
        assert!(words.clone().all(|word| row[1].contains(word.as_str().unwrap())), "{row:?}");
    }
}

#[test]
fn the_table_of_actions_is_the_codes() {
    let documented = table("static-hooks.md", "Action");
    for row in &TABLE {
        let possible: BTreeSet<&str> = actions_at(row.event).into_iter().collect();
        let names = |cell: &str| cell == row.name || cell.contains(&format!("`{}`", row.name));
        let actions = documented.rows.iter().filter(|action| names(&action[1]));
        let headings: BTreeSet<&str> = actions.map(|action| action[0].as_str()).collect();
        assert_eq!(headings, possible, "{}", row.name);
    }
}

/// The keys that a test may expect are those that are named where it is given something else.
#[test]
fn the_table_of_expectations_is_the_codes() {
    let sandbox = sandbox();
    let front = "---\nname: x\ndescription: d\ntrigger: before_agent\n---\n";
    install(&sandbox, "x", front, "#!/bin/sh\n");
    let test = "{\"event\": {}, \"expect\": {\"zzz\": 1}}";
    sandbox.write(&format!("../home/{DIRECTORY}/x/tests/zzz.json"), test);
    let output = sandbox.run("hooks test x").expect_code(1);
    let names = output.stdout.split_once("zzz").unwrap_or_else(|| panic!("{output}")).1;
    for name in table("testing.md", "Expected").names() {
        assert!(names.contains(name), "{name} is not known\n{output}");
    }
    for word in
        names.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.contains('_'))
    {
        assert!(
            table("testing.md", "Expected").names().contains(&word),
            "{word} is not listed\n{output}"
        );
    }
}

#[test]
fn the_table_of_tools_names_is_the_codes() {
    let code: Vec<Vec<String>> = super::every_tool()
        .iter()
        .map(|tool| {
            let others = tool_names::spellings(tool.name()).skip(1);
            let others: Vec<String> = others.map(|name| format!("`{name}`")).collect();
            vec![tool.name().to_owned(), others.join(", ")]
        })
        .collect();
    let mut documented = table("tools.md", "Tool").rows;
    let place = |row: &Vec<String>| code.iter().position(|one| one[0] == row[0]);
    documented.sort_by_key(place);
    assert_eq!(documented, code);
}
