//! The same session in all four API formats: conversations, payloads and journals are equal except for ids.

use std::fs;

use serde_json::{Value, json};
use tenter_testkit::model_server::{Fault, Format, ModelReply, ModelServer, Script};
use tenter_testkit::{McpServer, PtySession, Sandbox};

use crate::{sandbox, send_signal};

/// Returns a session with parallel calls, a hook that denies one, a call of broken JSON, a retry and a follow-up.
fn session() -> Vec<ModelReply> {
    vec![
        ModelReply::new()
            .say("I will look around.")
            .call("bash", json!({"command": "echo one"}))
            .call("bash", json!({"command": "rm -rf build"}))
            .usage(1000, 50, 200),
        ModelReply::new().fault(Fault::Status { code: 529, retry_after: None, body: None }),
        ModelReply::text("It is cut he").fault(Fault::CutMidText),
        ModelReply::new()
            .call("file_write", json!({"file_path": "out.txt", "text": "ä\n"}))
            .usage(1200, 30, 1000),
        ModelReply::text("All done: größer 🦀").usage(1300, 20, 1200),
        ModelReply::text("And linted.").usage(1400, 10, 1300),
    ]
}

fn provider(format: Format) -> &'static str {
    match format {
        Format::Anthropic => "anthropic",
        Format::Responses => "openai",
        Format::Chat => "local",
        Format::Gemini => "google",
    }
}

fn configured(server: &ModelServer, format: Format) -> Sandbox {
    let sandbox = sandbox();
    let (name, address) = (provider(format), server.base_url(format));
    sandbox.configure(format!(
            "model = \"{name}/test-model\"\n[retry]\nfirst_delay_ms = 1\n[providers.{name}]\nbase_url = \"{address}\"\n\
             api_key_command = \"echo sk-secret-0123456789\"\n\
             [models.\"{name}/test-model\"]\ncontext_window = 50000\ninput_price = 3\noutput_price = 15\n"
        ));
    let directory = sandbox.home().join("seen");
    fs::create_dir_all(&directory).unwrap();
    for event in ["before_tool_call", "after_tool_call", "user_message_send", "after_turn"] {
        sandbox.sh_hook(
            &format!("audit-{event}"),
            event,
            &format!("printf '%s\\n' \"$payload\" >> \"$HOME/seen/{event}\""),
        );
    }
    sandbox.sh_hook(
        "guard",
        "before_tool_call",
        "case \"$payload\" in *'rm -rf'*) echo '{\"blocked\": true, \"reason\": \"no removing\"}';; esac",
    );
    sandbox.sh_hook(
        "lint",
        "agent_stop",
        "test -e \"$HOME/linted\" || { touch \"$HOME/linted\"; echo '{\"follow_up_messages\": [\"Run the linter.\"]}'; }",
    );
    sandbox
}

/// Removes what always differs: ids, times, paths, durations, names of models.
fn normal(mut value: Value) -> Value {
    strip(&mut value);
    value
}

/// The fields that differ between sessions.
const OWN: &str = "id conv_id session_id conversation_id call_id tool_call_id time timestamp at model duration_ms cwd execution_time \
    created_at updated_at run_id tool_user_id project hash pid file_path path executionTime";

fn strip(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if object.get("kind").is_some_and(|kind| kind == "retry") {
                object.remove("reason"); // in each provider's own words
            }
            // Where the machine is too slow for it, an empty list says so.
            let files = object.get("changed").and_then(|changes| changes["files"].as_array());
            if files.is_some_and(Vec::is_empty) {
                object.remove("changed");
            }
            for (key, value) in object.iter_mut() {
                if OWN.split(' ').any(|own| own == key) {
                    *value = Value::Null;
                } else {
                    strip(value);
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(strip),
        Value::String(text) if text.contains("tenter-test-") => *value = Value::Null,
        _ => {}
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| normal(serde_json::from_str(line).unwrap())).collect()
}

/// Sorts the lines, since parallel calls have no order.
fn unordered(mut lines: Vec<Value>) -> Vec<Value> {
    lines.sort_by_key(Value::to_string);
    lines
}

/// Returns the records of a session: stream, stored conversation, payloads of hooks, journal.
fn traces(format: Format) -> Vec<(&'static str, Vec<Value>)> {
    let server = ModelServer::start(Script::new(session()));
    let sandbox = configured(&server, format);
    let output = sandbox.run(["run", "--headless", "go ahead"]).expect_code(0);
    server.assert_clean();
    assert_eq!(server.unused_replies(), 0, "{format:?}");
    assert!(!output.stdout.contains("sk-secret") && !output.stderr.contains("sk-secret"));
    assert_eq!(sandbox.read("out.txt"), "ä\n");
    let id = output.json_lines()[0]["conversation_id"].as_str().unwrap().to_owned();
    let screen = sandbox.run(["conversation", "show", &id, "--json"]).expect_code(0);
    let content =
        |event: &str| lines(&fs::read_to_string(sandbox.home().join("seen").join(event)).unwrap());
    let mut journal = Vec::new();
    for file in fs::read_dir(sandbox.state().join("journal")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains("sk-secret"));
        journal.extend(lines(&text));
    }
    let stream = output.json_lines().into_iter().map(normal).collect();
    vec![
        ("conversation", vec![normal(screen.json())]),
        ("stream", unordered(stream)),
        ("before tools", unordered(content("before_tool_call"))),
        ("after tools", unordered(content("after_tool_call"))),
        ("after turns", content("after_turn")),
        ("journal", unordered(journal)),
    ]
}

#[test]
fn one_signal_ends_a_response_that_never_ends() {
    for signal in ["INT", "TERM"] {
        for fault in [Fault::EndlessComments, Fault::Silence] {
            let server = ModelServer::start(ModelReply::text("Once upon a time").fault(fault));
            let sandbox = configured(&server, Format::Chat);
            let child = sandbox.start("run --no-save hi");
            server.wait_for_requests(1);
            assert!(send_signal(signal, child.id()));
            let _ = sandbox.finish(child).expect_code(130);
            server.wait_for_hang_ups(1);
        }
    }
}

#[test]
fn a_session_has_the_same_effects_in_every_format() {
    let first = traces(Format::Anthropic);
    for format in [Format::Responses, Format::Chat, Format::Gemini] {
        for ((what, expected), (_, found)) in first.iter().zip(traces(format)) {
            for (expected, found) in expected.iter().zip(&found) {
                assert_eq!(found, expected, "{format:?}: {what}");
            }
            assert_eq!(found.len(), expected.len(), "{format:?}: {what}");
        }
    }
}

#[test]
fn a_conversation_continues_with_another_provider() {
    let server = ModelServer::start([
        ModelReply::new().reasoning("Hm, a file.").call("bash", json!({"command": "echo one"})),
        ModelReply::text("One it is."),
    ]);
    let sandbox = configured(&server, Format::Anthropic);
    let _output = sandbox.run(["run", "--no-hooks", "what is there?"]).expect_code(0);
    let continuing = ModelServer::start(
        Script::from(ModelReply::text("As I said: one.")).ids_from(50).like_llama_cpp(),
    );
    let url = continuing.base_url(Format::Chat);
    let args = ["run", "--no-hooks", "--follow", "--model", "local/other", "--base-url", &url];
    let output = sandbox.run([&args[..], &["again?"]].concat()).expect_code(0);
    assert!(output.stdout.contains("As I said: one."), "{}", output.stdout);
    assert!(
        output.stderr.contains("reasoning"),
        "what is not carried over is said: {}",
        output.stderr
    );
    let body = continuing.requests()[0].body.to_string();
    assert!(body.contains("One it is.") && body.contains("echo one"), "{body}");
}

/// Run by hand, with the address of llama.cpp's own server in `TENTER_TEST_LLAMA` (`http://127.0.0.1:18080`). One whose
/// template makes it call `bash` shows the most: its calls pass through the hook. What a small model says is its own affair.
#[test]
#[ignore = "needs a server"]
#[expect(clippy::disallowed_methods, reason = "the user who runs this names the server")]
fn run_and_chat_work_with_a_real_server() {
    let root =
        std::env::var("TENTER_TEST_LLAMA").expect("TENTER_TEST_LLAMA says where the server is");
    let sandbox = sandbox();
    let config = sandbox.home().join(".config/tenter/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    let provider = |name: &str, api: &str, base: &str| {
        format!(
            "[providers.{name}]\napi = \"{api}\"\nbase_url = \"{base}\"\n[models.\"{name}/m\"]\ncontext_window = 8000\n"
        )
    };
    let v1 = format!("{root}/v1");
    let tables = [
        provider("c", "chat", &v1),
        provider("r", "responses", &v1),
        provider("m", "messages", &root),
    ];
    fs::write(config, tables.concat()).unwrap();
    sandbox.write("system.txt", "Call tools.");
    sandbox.sh_hook("audit", "before_tool_call", "echo x >> \"$HOME/calls\"");
    let flags =
        "--max-tokens 64 --max-turns 2 --allowed-tools bash --system-prompt-file system.txt";
    let flags: Vec<&str> = flags.split(' ').collect();
    for model in ["c/m", "r/m", "m/m"] {
        let output =
            sandbox.run([&["run", "-m", model], &flags[..], &["Run the command ls -la"]].concat());
        assert!(matches!(output.code, Some(0 | 5)), "{model}: {output}");
        let mut command = sandbox.command();
        command.args(["chat", "--permissions", "all", "-m", model]).args(&flags);
        let mut chat = PtySession::start(command);
        chat.answer("\n> ", "Run the command pwd");
        chat.answer("tokens in", "/exit");
        assert_eq!(chat.end().0, Some(0), "{model}");
    }
    let calls = fs::read_to_string(sandbox.home().join("calls")).unwrap_or_default();
    eprintln!("{} calls passed through the hook", calls.lines().count());
}

/// Numbers that 64 bits do not hold as they are written (R88).
const NUMBERS: &str =
    "[12345678901234567890123, 1.10, -0.0, 1e+400, 0.1000000000000000055511151231257827]";

#[test]
fn numbers_reach_hooks_tools_and_the_store_as_the_model_wrote_them() {
    for format in Format::ALL {
        let arguments = format!(r#"{{"text": "a", "numbers": {NUMBERS}}}"#);
        let server = ModelServer::start(Script::new([
            ModelReply::new().raw_call("mcp__test__echo", &arguments).usage(1000, 50, 200),
            ModelReply::text("Done.").usage(1300, 20, 1200),
        ]));
        let sandbox = configured(&server, format);
        let program = McpServer::default().install(&sandbox.root().join("server"));
        let config = sandbox.home().join(".config/tenter/config.toml");
        let table = format!("[mcp.servers.test]\ncommand = {:?}\n", program.display());
        fs::write(&config, fs::read_to_string(&config).unwrap() + &table).unwrap();
        // It writes the input that it read, with another text.
        let rewrite = r#"input=${payload#*'"tool_input": '}; input=${input%%'}'*}'}'; printf '{"input": %s}\n' "$input" | sed 's/"a"/"b"/'"#;
        sandbox.sh_hook("a-rewrite", "before_tool_call", rewrite);
        sandbox.prints(["run", "--headless", "go ahead"], "Done.");
        server.assert_clean();
        let content =
            |event: &str| fs::read_to_string(sandbox.home().join("seen").join(event)).unwrap();
        for event in ["before_tool_call", "after_tool_call"] {
            assert!(
                content(event).contains(&format!(r#""numbers": {NUMBERS}"#)),
                "{format:?}: {}",
                content(event)
            );
        }
        let compact = NUMBERS.replace(' ', "");
        let messages = McpServer::received(&sandbox.root().join("server"));
        assert!(messages.contains(&format!(r#""numbers":{compact}"#)), "{format:?}: {messages}");
        assert!(messages.contains(r#""text":"b""#), "{format:?}: {messages}");
        let conversation = sandbox.run("conversation show last --json").stdout;
        assert!(
            conversation.replace([' ', '\n'], "").contains(&compact),
            "{format:?}: {conversation}"
        );
    }
}
