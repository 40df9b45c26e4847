//! Calls that are written so that a guard reads something else than the tool does.

use tenter_testkit::model_server::{Format, ModelReply, ModelServer, Script};
use tenter_testkit::{Output, Sandbox};

use crate::sandbox;

/// Returns a sandbox in which nothing may be done to a file whose path ends in `.env`.
fn guarded() -> Sandbox {
    let sandbox = sandbox();
    let manifest = "---\nname: no-env\ndescription: d\ntrigger: before_tool\nmatcher:\n  tool: file\n  pattern: \\.env$\n---\n";
    sandbox.write("../home/.kodelet/hooks/no-env/HOOK.md", manifest);
    sandbox.write("../home/.kodelet/hooks/no-env/scripts/run.sh", "echo no >&2; exit 2\n");
    sandbox
}

#[test]
fn tool_and_guard_see_the_same_file_name() {
    let names = [
        ".env",
        "./.env",
        "a/../.env",
        "/.env",
        ".env/",
        ".env/.",
        ".env//",
        ".env/x/..",
        ".env/./",
        ".env\\0",
        ".env\\n",
        " .env",
        ".env ",
        "~/.env",
        "file:.env",
        "\\u002eenv",
    ];
    let call = |tool: &str, name: &str, more: &str| {
        format!("{{tool_calls: [{{name: {tool}, input: {{file_path: \"{name}\"{more}}}}}]}}, ")
    };
    let calls = names.map(|name| {
        let edit = call("file_edit", name, ", old_text: secret, new_text: stolen");
        call("file_read", name, "") + &edit + &call("file_write", name, ", text: stolen")
    });
    let sandbox = guarded();
    sandbox.write(".env", "KEY=secret\n");
    let output =
        sandbox.play(&format!("turns: [{}{{text: ok}}]", calls.concat()), &["go"]).expect_code(0);
    assert_eq!(output.stderr.matches("● file_").count(), 3 * names.len(), "{output}");
    assert_eq!(sandbox.read(".env"), "KEY=secret\n", "{output}");
    let conversation = sandbox.run("conversation show last --json").stdout;
    assert!(!conversation.contains("KEY=secret"), "{conversation}");
}

/// Returns a sandbox with a user hook against `touch`, with `fail` as its failure mode.
fn no_touch(fail: &str, pattern: &str) -> Sandbox {
    let sandbox = sandbox();
    let manifest = format!(
        "---\nname: no-touch\ndescription: d\ntrigger: before_tool\nmatcher:\n  tool: ^Shell$\n  pattern: '{pattern}'\nmetadata:\n  fail: {fail}\n---\n"
    );
    sandbox.write("../home/.kodelet/hooks/no-touch/HOOK.md", manifest);
    sandbox.write("../home/.kodelet/hooks/no-touch/scripts/run.sh", "echo no >&2; exit 2\n");
    sandbox
}

/// Runs a session with a model's server of one format, whose model calls a tool with `arguments`.
fn plays(sandbox: &Sandbox, (format, api): (Format, &str), arguments: &str) -> Output {
    let call = ModelReply::new().raw_call("bash", arguments);
    let server = ModelServer::start(Script::new([call, ModelReply::text("ok")]));
    let base = server.base_url(format);
    let key = "api_key_command = \"echo k\"";
    let provider = format!("[providers.lab]\napi = \"{api}\"\nbase_url = \"{base}\"\n{key}\n");
    let names = "[models.\"lab/m\"]\ncontext_window = 9000\n";
    sandbox.configure(provider + names);
    let output = sandbox.run("run --model lab/m go");
    assert!(!server.requests().is_empty(), "{output}");
    // What is no input is no history either that a strict server would take.
    let _ = server.take_violations();
    output
}

#[test]
fn tool_and_guard_see_the_same_input() {
    let formats =
        [(Format::Anthropic, "messages"), (Format::Responses, "responses"), (Format::Chat, "chat")];
    for format in formats {
        let sandbox = no_touch("open", "another");
        let output = plays(&sandbox, format, r#"{"command": "touch ran"}"#);
        assert!(sandbox.project().join("ran").exists(), "it would run\n{output}");
    }
    for arguments in [
        r#"{"command": "\u0074ouch ran"}"#,
        r#"{"command": "ls", "command": "touch ran"}"#,
        r#"{"command": "touch ran", "command": "ls"}"#,
        r#"{"comman\u0064": "to\u0075ch ran"}"#,
        r#"{"command": "touch ran", "description": "harmless"}"#,
        r#"{"command": "t\u0000ouch ran"}"#,
        "{\"command\": \"touch ran\"} trailing",
        r#"[{"command": "touch ran"}]"#,
        r#""{\"command\": \"touch ran\"}""#,
    ] {
        for format in formats {
            let sandbox = no_touch("open", "touch");
            let output = plays(&sandbox, format, arguments);
            assert!(!sandbox.project().join("ran").exists(), "{arguments} {format:?}\n{output}");
        }
    }
}

#[test]
fn a_fail_closed_guard_is_not_evaded_by_length_or_file_changes() {
    let long = "a".repeat(100_000);
    // The first is a guard whose pattern takes too many steps on such a text.
    for (pattern, command) in [
        ("(?=.*touch).*ran", format!(": {long} ; touch ran")),
        ("touch", format!(": {long}\\ntouch ran")),
        ("touch ran", "rm -r ~/.kodelet/hooks/no-touch/scripts; echo".to_owned()),
    ] {
        let sandbox = no_touch("closed", pattern);
        let call = |command: &str| {
            format!("{{tool_calls: [{{name: bash, input: {{command: \"{command}\"}}}}]}}")
        };
        let output = sandbox
            .play(
                &format!("turns: [{}, {}, {{text: ok}}]", call(&command), call("touch ran")),
                &["go"],
            )
            .expect_code(0);
        assert!(!sandbox.project().join("ran").exists(), "{pattern}\n{output}");
    }
}

#[test]
fn a_question_shows_everything_or_how_much_is_hidden() {
    for (padding, shown) in [(300, "; touch ran\"}"), (9000, "bytes omitted")] {
        let sandbox = sandbox();
        let manifest = "---\nname: ask\ndescription: d\ntrigger: before_tool\n---\n";
        sandbox.write("../home/.kodelet/hooks/ask/HOOK.md", manifest);
        let answer = "echo '{\"decision\": \"ask\", \"reason\": \"sure?\"}'\n";
        sandbox.write("../home/.kodelet/hooks/ask/scripts/run.sh", answer);
        let line = format!(": {}; touch ran", "x".repeat(padding));
        let model = sandbox.script(&format!(
            "turns: [{{tool_calls: [{{name: bash, input: {{command: \"{line}\"}}}}]}}, {{text: ok}}]"
        ));
        let mut session = sandbox.at_terminal(["run", "--model", &model, "go"]);
        let question = session.wait_for("[n] no: ");
        let question = &question[question.find("sure?").unwrap()..];
        assert!(question.replace(['\r', '\n'], "").contains(shown), "{question}");
        session.enter("n");
        let _ = session.end();
    }
}
