//! From a model's name to a model: whose it is, where it is, how it is to answer, what is known of it.

mod consent;
mod keys;
mod servers;

use insta::assert_snapshot;
use serde_json::Value;
use tenter_testkit::model_server::{Fault, Format, ModelReply, ModelServer, Script};
use tenter_testkit::{Output, Sandbox};

use crate::sandbox;

const USER_FILE: &str = "../home/.config/tenter/config.toml";

fn run(sandbox: &Sandbox, args: &[&str]) -> Output {
    sandbox.run_with_env(&[], [&["run", "--result-only"], args, &["hi"]].concat())
}

/// Configures a server that needs no key, as the provider `lab` of the user's configuration.
fn lab(sandbox: &Sandbox, server: &ModelServer, more: &str) {
    let address = server.base_url(Format::Chat);
    let provider = format!("[providers.lab]\napi = \"chat\"\nbase_url = \"{address}\"\n");
    sandbox.write(USER_FILE, format!("{more}\n{provider}"));
}

fn last(server: &ModelServer, field: &str) -> Value {
    server.requests().last().map(|request| request.body[field].clone()).unwrap_or_default()
}

/// Returns a server that wants a key, as the providers do.
fn server() -> ModelServer {
    ModelServer::start(Script::new([]))
}

/// Returns a server that wants none.
fn keyless() -> ModelServer {
    ModelServer::start(Script::new([]).like_llama_cpp())
}

#[test]
fn the_model_comes_from_flag_conversation_variable_project_and_user_in_this_order() {
    let (sandbox, server) = (sandbox(), keyless());
    let question = |vars: &[(&str, &str)], args: &[&str]| {
        let args = [&["run"], args, &["hi"]].concat();
        let _ = sandbox.run_with_env(vars, &args).expect_code(0);
        last(&server, "model")
    };
    lab(&sandbox, &server, "model = \"lab/persons\"\nweak_model = \"lab/weak\"");
    assert_eq!(question(&[], &[]), "persons");
    sandbox.write("tenter.toml", "model = \"lab/projects\"\n");
    assert_eq!(question(&[], &[]), "projects");
    let variable = &[("TENTER_MODEL", "lab/variables")];
    assert_eq!(question(variable, &[]), "variables");
    assert_eq!(question(variable, &["--model", "lab/flags"]), "flags");
    assert_eq!(question(variable, &["--follow"]), "flags", "the conversation keeps its own model");
    assert_eq!(question(variable, &["--use-weak-model"]), "weak");
    assert_eq!(question(&[("TENTER_WEAK_MODEL", "lab/w2")], &["--use-weak-model"]), "w2");
    assert_eq!(question(&[], &["--use-weak-model", "--weak-model", "lab/w3"]), "w3");
}

#[test]
fn limit_and_effort_come_from_the_nearest_layer() {
    let (sandbox, server) = (sandbox(), keyless());
    let question = |vars: &[(&str, &str)], args: &[&str]| {
        let args = [&["run", "--model", "lab/m"], args, &["hi"]].concat();
        let _ = sandbox.run_with_env(vars, &args).expect_code(0);
        let limit = [last(&server, "max_tokens"), last(&server, "max_completion_tokens")];
        let limit = limit.iter().find_map(Value::as_u64);
        (limit, last(&server, "reasoning_effort").as_str().map(str::to_owned))
    };
    let is = |limit, effort: &str| (Some(limit), Some(effort.to_owned()));
    lab(&sandbox, &server, "");
    assert_eq!(question(&[], &[]), (None, None), "it is left to the server");
    let usual = "max_tokens = 10\nreasoning_effort = \"low\"";
    lab(&sandbox, &server, usual);
    assert_eq!(question(&[], &[]), is(10, "low"));
    let model_values = "[models.\"lab/m\"]\nmax_tokens = 20\nreasoning_effort = \"medium\"";
    lab(&sandbox, &server, &format!("{usual}\n{model_values}"));
    assert_eq!(question(&[], &[]), is(20, "medium"));
    sandbox.write("tenter.toml", "max_tokens = 30\nreasoning_effort = \"high\"");
    assert_eq!(question(&[], &[]), is(30, "high"));
    let vars = &[("TENTER_MAX_TOKENS", "40"), ("TENTER_REASONING_EFFORT", "low")];
    assert_eq!(question(vars, &[]), is(40, "low"));
    assert_eq!(
        question(vars, &["--max-tokens", "50", "--reasoning-effort", "medium"]),
        is(50, "medium")
    );
}

#[test]
fn an_invalid_variable_is_an_error() {
    let sandbox = sandbox();
    let error =
        |name, value| sandbox.run_with_env(&[(name, value)], "models").expect_code(2).stderr;
    assert_eq!(
        error("TENTER_MAX_TOKENS", "0"),
        "error: TENTER_MAX_TOKENS is \"0\"; it must be a whole number above zero\n"
    );
    assert_eq!(
        error("TENTER_REASONING_EFFORT", "hard"),
        "error: TENTER_REASONING_EFFORT is \"hard\"; use one of off, minimal, low, medium, high, xhigh, max\n"
    );
}

#[test]
fn a_base_url_comes_from_flag_variable_configuration_and_the_providers_own_variable() {
    let (sandbox, here) = (sandbox(), server());
    let nowhere = "http://127.0.0.1:1";
    let here_url = here.base_url(Format::Responses);
    let run = |vars: &[(&str, &str)], args: &[&str]| {
        let vars = [&[("OPENAI_API_KEY", "k-1")], vars].concat();
        let before = here.requests().len();
        let args = [&["run", "--model", "openai/gpt-5.2"], args, &["hi"]].concat();
        let _ = sandbox.run_with_env(&vars, &args).expect_code(0);
        assert_eq!(here.requests().len(), before + 1);
    };
    run(&[("OPENAI_BASE_URL", &here_url)], &[]);
    sandbox.write(USER_FILE, format!("[providers.openai]\nbase_url = \"{here_url}/\"\n"));
    run(&[("OPENAI_BASE_URL", nowhere)], &[]);
    sandbox.write(USER_FILE, format!("[providers.openai]\nbase_url = \"{nowhere}\"\n"));
    run(&[("TENTER_BASE_URL", &here_url)], &[]);
    run(&[("TENTER_BASE_URL", nowhere), ("HTTP_PROXY", nowhere)], &["--base-url", &here_url]);
}

#[test]
fn without_a_model_the_first_available_key_selects_one() {
    let (sandbox, server) = (sandbox(), server());
    let tables = [
        ("anthropic", Format::Anthropic),
        ("openai", Format::Responses),
        ("google", Format::Gemini),
    ]
    .map(|(name, format)| {
        format!("[providers.{name}]\nbase_url = \"{}\"\n", server.base_url(format))
    });
    sandbox.write(USER_FILE, tables.concat());
    let keys = [("ANTHROPIC_API_KEY", "k-1"), ("OPENAI_API_KEY", "k-2"), ("GOOGLE_API_KEY", "k-3")];
    let messages = (0..keys.len()).map(|from| {
        let output =
            sandbox.run_with_env(&keys[from..], ["run", "--result-only", "hi"]).expect_code(0);
        output.stderr
    });
    assert_snapshot!(messages.collect::<String>(), @"
    The model is anthropic/claude-sonnet-5-5, because ANTHROPIC_API_KEY is set; --model, TENTER_MODEL or config.toml names another.
    The model is openai/gpt-6.1-sol, because OPENAI_API_KEY is set; --model, TENTER_MODEL or config.toml names another.
    The model is google/gemini-3.8-flash, because GOOGLE_API_KEY is set; --model, TENTER_MODEL or config.toml names another.
    ");
    let headers: Vec<Option<String>> = server
        .requests()
        .iter()
        .map(|request| {
            let names = ["x-api-key", "authorization", "x-goog-api-key"];
            names.iter().find_map(|name| request.header(name)).map(str::to_owned)
        })
        .collect();
    assert_eq!(headers, [Some("k-1".into()), Some("Bearer k-2".into()), Some("k-3".into())]);
}

#[test]
fn an_unknown_model_name_is_an_error_with_help() {
    let sandbox = sandbox();
    sandbox.write(USER_FILE, "[models.\"local/gpt-5.2\"]\n[providers.lab]\napi = \"chat\"\nbase_url = \"http://localhost:1\"\n");
    let error = |name: &str| run(&sandbox, &["--model", name]).expect_code(2).stderr;
    assert_snapshot!(error("antropic/claude-sonnet-5"), @r#"
    error: there is no provider "antropic"
      help: did you mean anthropic? the providers are anthropic, openai, google, local, lab
    "#);
    let error_of_unknown = run(&sandbox, &["--model", "meta/llama"]).expect_code(2);
    assert_snapshot!(error_of_unknown, @r#"
    exit: 2
    --- stderr
    error: there is no provider "meta"
      help: the providers are anthropic, openai, google, local, lab; [providers.meta] in [ROOT]/home/.config/tenter/config.toml adds one
    "#);
    assert_snapshot!(error("claude-sonet-5"), @r#"
    error: no known provider has a model "claude-sonet-5"
      help: did you mean anthropic/claude-sonnet-5, anthropic/claude-sonnet-4-5 or anthropic/claude-sonnet-5-5? a name is PROVIDER/NAME, as `tenter models` lists them; for a server of your own, write local/claude-sonet-5
    "#);
    assert_snapshot!(error("gpt-5.2"), @r#"
    error: more than one provider has a model "gpt-5.2"
      help: write one of: openai/gpt-5.2, local/gpt-5.2
    "#);
    assert_snapshot!(error("openai"), @"
    error: openai is a provider, not a model
      help: name one of its models: openai/gpt-6.1-sol; `tenter models openai` lists them
    ");
    assert_snapshot!(error("openai/"), @r#"
    error: "openai/" is not a valid model name
      help: a name is PROVIDER/NAME, as `tenter models` lists them, or scripted:FILE
    "#);
    assert_snapshot!(run(&sandbox, &["--use-weak-model"]).stderr, @"
    error: no model for small tasks is configured
      help: use --weak-model PROVIDER/NAME, set TENTER_WEAK_MODEL, or write `weak_model = …` into config.toml
    ");
}

#[test]
fn a_name_close_to_a_known_one_is_warned_about() {
    let (sandbox, server) =
        (sandbox(), ModelServer::start(ModelReply::new().fault(Fault::UnknownModel)));
    let base = server.base_url(Format::Anthropic);
    let output = sandbox.run_with_env(
        &[("ANTHROPIC_API_KEY", "k-1")],
        ["run", "--result-only", "--model", "anthropic/claude-sonet-5", "--base-url", &base, "hi"],
    );
    let output = output.expect_code(1).stderr;
    let suggestion = "did you mean anthropic/claude-sonnet-5, ";
    let (before, after) = output.split_once("error: ").unwrap_or_else(|| panic!("{output}"));
    assert!(
        before.contains("warning: the model anthropic/claude-sonet-5 is unknown")
            && before.contains(suggestion),
        "{output}"
    );
    assert!(after.contains("does not know the model") && after.contains(suggestion), "{output}");
}

#[test]
fn the_configuration_of_a_model_applies() {
    let (sandbox, server) = (sandbox(), keyless());
    lab(&sandbox, &server, "");
    let window = |output: &Output| {
        let end = output.json_lines().pop().unwrap();
        end["usage"]["max_context_window"].clone()
    };
    let run = || sandbox.run("run --headless --model lab/m hi").expect_code(0);
    let output = run();
    assert_eq!(window(&output), 128_000);
    assert!(output.stdout.contains("the model lab/m is unknown"), "{output}");

    let text = "context_window = 32000\ninput_price = 3\noutput_price = 5.5\ncache_read_price = 0.5\nimages = false\n";
    lab(&sandbox, &server, &format!("[models.\"lab/m\"]\n{text}"));
    let output = run();
    assert_eq!(window(&output), 32_000);
    assert!(!output.stdout.contains("nothing is known"), "{output}");
    let listing = sandbox.run("models lab --json");
    assert_snapshot!(listing, @r#"
    exit: 0
    --- stdout
    [
      {
        "name": "lab/m",
        "context_window": 32000,
        "input_price": 3.0,
        "output_price": 5.5,
        "cache_read_price": 0.5,
        "cache_write_price": null,
        "images": false,
        "key": "not_needed"
      }
    ]
    "#);
    sandbox.write(USER_FILE, "[models.\"openai/gpt-5.2\"]\ninput_price = 99\n");
    let listing = sandbox.run("models openai --json").json();
    let model = listing.as_array().unwrap().iter().find(|model| model["name"] == "openai/gpt-5.2");
    let model = model.unwrap();
    assert_eq!(model["input_price"], 99.0);
    assert!(model["output_price"].as_f64().is_some(), "the rest stays known: {model}");
}

#[test]
fn an_invalid_model_configuration_is_reported_only_where_it_is_used() {
    let sandbox = sandbox();
    let scripted = sandbox.script("turns: [{text: ok}]");
    let lab = |table: &str| format!("[providers.lab]\n{table}");
    let whole = "api = \"chat\"\nbase_url = \"http://localhost:1\"\n";
    for (file, problem) in [
        (lab("api = \"chat\""), "a provider of your own needs `api` and `base_url`"),
        (lab("base_url = \"http://x\""), "a provider of your own needs `api` and `base_url`"),
        (lab("api = \"chat\"\nbase_url = \"localhost\""), "the URL \"localhost\" must start with"),
        (
            lab("api = \"chat\"\nbase_url = \"http://me:hunter2@x\""),
            "a URL must not contain a password",
        ),
        (
            lab(&format!("{whole}api_key_env = \"hunter2-2\"")),
            "`api_key_env` must be the name of a variable",
        ),
        (
            format!("[models.\"lab/m\"]\ninput_price = 1\n{}", lab(whole)),
            "has only one of the two prices",
        ),
    ] {
        sandbox.write(USER_FILE, &file);
        let output = run(&sandbox, &["--model", "lab/m"]).expect_code(2);
        assert!(output.stderr.contains(problem), "{file}\n{output}");
        assert!(!output.stderr.contains("hunter2"), "{output}");
        assert_eq!(run(&sandbox, &["--model", &scripted]).expect_code(0).stderr, "", "{file}");
    }
    for (file, problem) in [
        ("[models.\"lab/m\"]\ninput_price = -1", "a price must be a number that is not negative"),
        ("[providers.lab]\napi = \"soap\"", "unknown variant `soap`"),
        ("[providers.lab]\napi_key_command = 7", "expected a shell command or a list"),
        ("max_tokens = 0", "nonzero"),
    ] {
        sandbox.write(USER_FILE, file);
        let output = run(&sandbox, &["--model", &scripted]).expect_code(1);
        assert!(output.stderr.contains(problem), "{file}\n{output}");
    }
    sandbox.write(USER_FILE, "[models.\"gpt-5.2\"]\nimages = true\n[models.\"opnai/x\"]\n");
    let strays = sandbox.run("models local").expect_code(0).stderr;
    assert_eq!(strays.matches("names no provider, so it has no effect").count(), 2, "{strays}");
}

#[test]
fn attempts_and_the_system_prompt_can_be_configured() {
    let sandbox = sandbox();
    let server = ModelServer::start(
        Script::new([
            ModelReply::new().fault(Fault::status(529)),
            ModelReply::new().fault(Fault::status(529)),
            ModelReply::text("ok"),
        ])
        .like_llama_cpp(),
    );
    sandbox.write("../home/.config/tenter/prompt.md", "You are a parrot.");
    let config = "system_prompt_file = \"prompt.md\"\n[retry]\nattempts = 2\nfirst_delay_ms = 1\nmax_delay_ms = 1";
    lab(&sandbox, &server, config);
    let _ = run(&sandbox, &["--model", "lab/m"]).expect_code(1);
    assert_eq!(server.requests().len(), 2);
    assert!(last(&server, "messages")[0].to_string().contains("You are a parrot."));
    sandbox.write("owl.md", "You are an owl.");
    let output = run(&sandbox, &["--model", "lab/m", "--system-prompt-file", "owl.md"]);
    assert_eq!(output.expect_code(0).stdout, "ok\n");
    let message = last(&server, "messages")[0].to_string();
    assert!(message.contains("You are an owl.") && !message.contains("parrot"), "{message}");
}

#[test]
fn known_models_are_listed_with_window_and_price() {
    let sandbox = sandbox();
    let output = sandbox
        .run_with_env(&[("OPENAI_API_KEY", "sk-very-secret-indeed")], "models")
        .expect_code(0);
    let row = |name: &str| {
        let row = output.stdout.lines().find(|line| line.split_whitespace().next() == Some(name));
        row.unwrap_or_else(|| panic!("{name}\n{output}")).split_whitespace().collect::<Vec<_>>()
    };
    assert_eq!(
        row("anthropic/claude-opus-4-5"),
        ["anthropic/claude-opus-4-5", "200000", "5", "25", "no"]
    );
    assert_eq!(row("openai/gpt-4o-mini"), ["openai/gpt-4o-mini", "128000", "0.15", "0.6", "yes"]);
    assert!(
        output
            .stderr
            .starts_with("local/NAME is any model of the server at http://localhost:8080/v1"),
        "{output}"
    );
    assert!(!output.stdout.contains("very-secret"));
    sandbox.fails(2, "models opnai", "did you mean openai?");
}
