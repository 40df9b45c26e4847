//! `configuration.md` and `scripted-models.md`: examples are read by the binary, tables are compared with what it takes.

use std::collections::{BTreeMap, BTreeSet};

use tenter_testkit::{Output, Sandbox, wait_until};

use super::hooks::has_what_it_needs;
use super::markdown::{Table, page, pages, table};
use crate::{filter_kind, headless, sandbox, send_signal};

const USER_FILE: &str = "../home/.config/tenter/config.toml";
const PROJECT_FILE: &str = "tenter.toml";

/// Says hello, under whatever configuration there is.
fn hello(sandbox: &Sandbox) -> Output {
    sandbox.play("turns: [{text: Hello.}]", &["Hello?"])
}

fn keys() -> Table {
    table("configuration.md", "Key")
}

#[test]
fn every_configuration_example_is_valid() {
    for block in super::examples(&pages(), "config") {
        let sandbox = sandbox();
        let file = if block.note.rest == "user" { USER_FILE } else { PROJECT_FILE };
        sandbox.write(file, &block.text);
        let output = hello(&sandbox).expect_code(0);
        for word in ["warning", "error"] {
            assert!(!output.stderr.contains(word), "{}\n{output}", block.place);
        }
    }
}

/// Returns the line before the settings of a table.
fn header(table: &str) -> String {
    match table {
        "" => String::new(),
        "hooks.override" => "[[hooks.override]]\n".to_owned(),
        table => format!("[{table}]\n"),
    }
}

/// Returns a file with all settings of the table, each with its example.
fn all_settings() -> String {
    let mut tables: BTreeMap<&str, String> = BTreeMap::new();
    let keys = keys();
    for row in &keys.rows {
        let (table, key) = row[0].rsplit_once('.').unwrap_or(("", &row[0]));
        let text: &mut String = tables.entry(table).or_default();
        text.extend([key, " = ", &row[1], "\n"]);
    }
    tables.into_iter().map(|(table, text)| header(table) + &text).collect()
}

/// The columns are key, example, default, and who may set it.
#[test]
fn every_key_may_be_set_where_the_table_says() {
    let sandbox = sandbox();
    sandbox.write(USER_FILE, all_settings());
    let output = hello(&sandbox).expect_code(0);
    assert!(!output.stderr.contains("warning"), "{output}");
    sandbox.write(USER_FILE, "");
    sandbox.write(PROJECT_FILE, all_settings());
    let output = hello(&sandbox).expect_code(0);
    for row in &keys().rows {
        // The whole table is refused where the user chooses names in it.
        let name = row[0].split(".NAME").next().unwrap().split(".\"").next().unwrap();
        let refusal = format!("a project may not set {name};");
        assert_eq!(output.stderr.contains(&refusal), row[3] == "no", "{refusal}\n{output}");
    }
}

/// The defaults that are numbers or words are what happens where nothing is said.
#[test]
fn the_defaults_are_those_of_the_table() {
    let sandbox = sandbox();
    sandbox.sh_hook("guard", "agent_stop", r#"echo '{"follow_up_messages": ["again"]}'"#);
    let json = sandbox.run("hooks show guard --json").json();
    let call = "{tool_calls: [{name: todo}]}";
    let (lines, _) = headless(&sandbox, &format!("turns: [{}]", [call; 60].join(", ")));
    let turns = filter_kind(&lines, "usage").len();
    let (lines, _) = headless(&sandbox, "turns: [{text: ok}]");
    let continuations =
        filter_kind(&lines, "text").iter().filter(|text| text["role"] == "user").count();
    for (key, real) in [
        ("max_turns", turns.to_string()),
        ("hooks.timeout_ms", json[0]["timeout_ms"].to_string()),
        ("hooks.fail", json[0]["fail"].to_string()),
        ("hooks.max_continuations", continuations.to_string()),
        ("hooks.enabled", (continuations > 0).to_string()),
    ] {
        let keys = keys();
        let row = keys.rows.iter().find(|row| row[0] == key).unwrap();
        assert_eq!(row[2], real, "{key}");
    }
}

/// The binary lists the keys that it accepts when it reads an unknown one; the table has the same keys.
#[test]
fn no_key_is_missing_from_the_table() {
    let keys = keys();
    for table in [
        "",
        "hooks.",
        "hooks.override.",
        "bridge.",
        "retry.",
        "mcp.",
        "mcp.servers.NAME.",
        "notify.",
        "providers.NAME.",
        "models.\"PROVIDER/NAME\".",
    ] {
        let sandbox = sandbox();
        sandbox.write(USER_FILE, header(table.trim_end_matches('.')) + "zzz = 1\n");
        let error = hello(&sandbox).expect_code(1).stderr;
        let expected = error.split_once("expected").unwrap_or_else(|| panic!("{error}")).1;
        let expected = expected.lines().next().unwrap().split('`').skip(1).step_by(2);
        let expected: BTreeSet<&str> = expected.collect();
        let listing = keys.names().into_iter().filter_map(|key| {
            let rest = key.strip_prefix(table)?;
            rest.split('.').next()
        });
        assert_eq!(listing.collect::<BTreeSet<_>>(), expected, "in [{table}]");
    }
}

/// Every exit code of the table is one that a run ends with, and the other way round.
#[test]
fn the_table_of_exit_codes_is_what_runs_end_with() {
    let codes = table("configuration.md", "Exit code");
    let real = [done(), failed(), misused(), blocked(), untrusted(), limited(), interrupted()];
    let real: Vec<String> = real.iter().map(|output| output.code.unwrap().to_string()).collect();
    assert_eq!(codes.names(), real);
}

fn done() -> Output {
    hello(&sandbox())
}

fn failed() -> Output {
    let sandbox = sandbox();
    sandbox.play("turns: [{fault: {kind: refused}}]", &["Hello?"])
}

fn misused() -> Output {
    sandbox().run("run --no-such-flag")
}

fn blocked() -> Output {
    let sandbox = sandbox();
    sandbox.sh_hook("no", "user_message_send", r#"echo '{"blocked": true}'"#);
    hello(&sandbox)
}

fn untrusted() -> Output {
    let sandbox = sandbox();
    sandbox.hook("new", "#!/bin/sh\n");
    hello(&sandbox)
}

fn limited() -> Output {
    let sandbox = sandbox();
    sandbox.play("turns: [{tool_calls: [{name: todo}]}]", &["--max-turns", "1", "Hello?"])
}

fn interrupted() -> Output {
    let sandbox = sandbox();
    sandbox.sh_hook("slow", "user_message_send", "touch begun; sleep 1000");
    let model = sandbox.script("turns: [{text: Hello.}]");
    let child = sandbox.start(["run", "--model", &model, "Hello?"]);
    wait_until("the hook runs", || sandbox.project().join("begun").exists());
    assert!(send_signal("INT", child.id()));
    sandbox.finish(child)
}

/// The note's `exit: N` is how the run ends, `says: TEXT` what it prints somewhere.
#[test]
fn every_script_plays() {
    for block in super::examples(&pages(), "script") {
        let sandbox = sandbox();
        if !has_what_it_needs(block) {
            continue;
        }
        for (_, line) in block.note.lines.iter().filter(|(key, _)| key == "given") {
            assert_eq!(sandbox.shell(line).code, Some(0), "{}: {line}", block.place);
        }
        let output = sandbox.play(&block.text, &["What is here?"]);
        let exit = block.note.get("exit").unwrap_or("0");
        assert_eq!(
            output.code.map(|code| code.to_string()).as_deref(),
            Some(exit),
            "{}\n{output}",
            block.place
        );
        for (_, text) in block.note.lines.iter().filter(|(key, _)| key == "says") {
            assert!(
                format!("{output}").contains(text.as_str()),
                "{}: {text}\n{output}",
                block.place
            );
        }
    }
}

/// The model lists the keys that it accepts when it reads an unknown one; the table of that place has the same keys.
#[test]
fn every_key_of_a_script_is_listed() {
    let page = page("scripted-models.md");
    for (heading, script) in [
        ("The file", "zzz: 1"),
        ("A turn", "turns: [{zzz: 1}]"),
        ("A tool call", "turns: [{tool_calls: [{zzz: 1}]}]"),
        ("Expectations", "turns: [{expect: {zzz: 1}}]"),
        ("Faults", "turns: [{fault: {zzz: 1}}]"),
    ] {
        let table = page.tables.iter().find(|table| table.heading == heading).unwrap();
        let sandbox = sandbox();
        let error = sandbox.play(script, &["x"]).expect_code(1).stderr;
        for name in table.names() {
            assert!(error.contains(name), "{heading}: {name} is not taken\n{error}");
        }
        let names = error.split_once("expected").unwrap_or_else(|| panic!("{error}")).1;
        let words = names.lines().next().unwrap().split(|c: char| !c.is_alphanumeric() && c != '_');
        let unlisted: Vec<&str> = words
            .filter(|word| {
                !word.is_empty()
                    && !["one", "of", "or"].contains(word)
                    && !table.names().contains(word)
            })
            .collect();
        assert_eq!(unlisted, [] as [&str; 0], "{heading}: {error}");
    }
}
