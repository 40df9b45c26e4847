//! `headless.md`: each documented line is one that `tenter run --headless` prints, and no kind and no field is left out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tenter_protocol::{Object, json};
use tenter_testkit::Sandbox;

use super::as_documented;
use super::markdown::{page, pages};
use crate::manifests::hook as manifest_hook;
use crate::sandbox;

/// A conversation in which everything happens that the stream tells of.
const SCRIPT: &str = r"
context_window: 128000
turns:
  - reasoning: The user wants to know what is here.
    text: I will look.
    tool_calls:
      - {id: call-1, name: bash, input: {command: cat README.md}}
      - {id: call-2, name: bash, input: {command: sudo ls /root}}
      - {id: call-3, name: subagent, input: {question: Who wrote this?}}
    usage: {input_tokens: 900, output_tokens: 30, cached_input_tokens: 600}
    cost_usd: 0.0042
    fault: {kind: cut, retry_after_ms: 20}
  - text: Ada did.
    usage: {input_tokens: 100, output_tokens: 5}
  - text: A shop.
    usage: {input_tokens: 950, output_tokens: 12}
  - text: It has no test.
    usage: {input_tokens: 980, output_tokens: 8}
";

/// A conversation that a hook has summarised, with a call that another hook asks about, and a template that does not fit.
const SUMMARISED: &str = r"
turns:
  - text: I publish it.
    tool_calls: [{id: call-4, name: bash, input: {command: npm publish}}]
  - text: There is no one to ask.
recipes: {compact: [{text: A shop that is not published.}]}
";

/// A call that needs the permission of a user, and there is none.
const UNPERMITTED: &str = r"
turns:
  - tool_calls: [{id: call-5, name: file_write, input: {file_path: new.txt, text: x}}]
  - text: I may not.
";

/// Returns every line that is printed, with what varies replaced.
fn print_lines() -> Vec<String> {
    let sandbox = sandbox();
    let main = r#"case "$payload" in *'"invoked_by": "main"'*) ;; *) exit ;; esac; "#;
    sandbox.sh_hook("no-sudo", "before_tool_call", r#"case "$payload" in *'"command": "sudo '*) echo '{"blocked": true, "reason": "no sudo here"}' ;; esac"#);
    let mutate = r#"[ -e tidied ] || { touch tidied; echo '{"result": "mutate", "messages": [{"role": "user", "content": "What is here? So far: a shop."}]}'; }"#;
    sandbox.sh_hook("tidy", "after_turn", &format!("{main}{mutate}"));
    sandbox.sh_hook(
        "has-tests",
        "agent_stop",
        &format!("{main}echo '{{\"follow_up_messages\": [\"Is there a test?\"]}}'"),
    );
    let script = "#!/bin/sh\necho agent-stop\n";
    sandbox.write_program("../home/.config/agents/hooks/broken", script);
    sandbox.configure("[hooks]\nmax_continuations = 1\n[retry]\nfirst_delay_ms = 1\n");
    sandbox.write("README.md", "# The shop\n");
    std::fs::rename(
        sandbox.script(SCRIPT).strip_prefix("scripted:").unwrap(),
        sandbox.home().join("shop.yaml"),
    )
    .unwrap();
    let model = format!("scripted:{}/shop.yaml", sandbox.home().display());
    let args = ["run", "--headless", "--stream-deltas", "--model", &model, "What is here?"];
    let mut lines = normal_lines(&sandbox, &args, 0);
    let ask = r#"echo '{"decision": "ask", "reason": "it publishes"}'"#;
    manifest_hook(&sandbox, "careful", "before_tool", "", ask);
    let compact = r#"case "$payload" in *"no one to ask"*) [ -e short ] || { touch short; echo '{"result": "callback", "callback": "compact"}'; } ;; esac"#;
    manifest_hook(&sandbox, "shorten", "after_turn", "", compact);
    loop_breaker(&sandbox);
    let model = sandbox.script(UNPERMITTED);
    let asks =
        ["run", "--headless", "--no-hooks", "--permissions", "ask", "--model", &model, "Go."];
    lines.extend(normal_lines(&sandbox, &asks, 0));
    let model = sandbox.script(SUMMARISED);
    lines.extend(normal_lines(&sandbox, &["run", "--headless", "--model", &model, "Publish."], 0));
    sandbox.hook("lint", "#!/bin/sh\n");
    lines.extend(normal_lines(&sandbox, &args, 4));
    lines
}

/// Adds a runtime hook that notifies the user.
fn loop_breaker(sandbox: &Sandbox) {
    let directory = "../home/.config/agents/hooks/loop-breaker";
    let manifest = "---\nname: loop-breaker\ndescription: Notices loops.\ntrigger: before_stop\nmetadata:\n  runtime: serve\n  services: [notify]\n---\n";
    sandbox.write(&format!("{directory}/HOOK.md"), manifest);
    let script = r#"#!/bin/sh
respond() { echo "{\"jsonrpc\": \"2.0\", \"id\": $id, \"result\": $1}"; }
while read -r line; do
    id=$(echo "$line" | sed 's/^[^,]*, *"id": *\([0-9]*\).*/\1/')
    case $line in
    *'"method": "initialize"'*) respond '{}' ;;
    *'"method": "before_stop"'*)
        echo '{"jsonrpc": "2.0", "id": 1, "method": "notify", "params": {"text": "cargo test failed three times in a row"}}'
        read -r noticed
        respond null
        ;;
    esac
done
"#;
    sandbox.write_program(&format!("{directory}/scripts/run"), script);
}

fn normal_lines(sandbox: &Sandbox, args: &[&str], code: i32) -> Vec<String> {
    let output = sandbox.run(args).expect_code(code);
    output.stdout.lines().map(|line| as_documented(&output, line)).collect()
}

#[test]
fn every_documented_line_is_printed() {
    let text = print_lines().join("\n");
    let sandbox = sandbox();
    let any = sandbox.shell("true");
    for block in super::examples(&pages(), "line") {
        let documented: Value = serde_json::from_str(&block.text).unwrap();
        let documented = as_documented(&any, &json::to_string(&documented));
        assert!(
            text.lines().any(|line| line == documented),
            "{}\n{documented}\nis none of\n{text}",
            block.place
        );
    }
}

/// A kind has a heading of its own, a line, and a table of its fields; the fields that all kinds have stand at the top.
#[test]
fn every_kind_and_every_field_is_listed() {
    let page = page("headless.md");
    let mut fields: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in print_lines() {
        let object: Object = serde_json::from_str(&line.replace("[N]", "0")).unwrap();
        let kind = object["kind"].as_str().unwrap().to_owned();
        fields.entry(kind).or_default().extend(object.keys().cloned());
    }
    for (kind, found) in &fields {
        let listing = &page.fields("Every object") | &page.fields(kind);
        let unlisted: Vec<&String> =
            found.iter().filter(|field| !listing.contains(field.as_str())).collect();
        assert_eq!(unlisted, [] as [&String; 0], "of {kind}");
        assert!(page.blocks.iter().any(|block| block.heading == *kind), "{kind} has no example");
    }
    let headings: BTreeSet<&str> = page.tables.iter().map(|table| table.heading.as_str()).collect();
    let kinds: BTreeSet<&str> = fields.keys().map(String::as_str).chain(["Every object"]).collect();
    assert_eq!(headings, kinds);
}
