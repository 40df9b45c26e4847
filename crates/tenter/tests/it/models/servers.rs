//! Statements of a model's server about itself, and the servers whose statements count.

use insta::assert_snapshot;
use tenter_testkit::model_server::{Fault, Format, ModelReply, ModelServer, Script};
use tenter_testkit::tls::{Certificate, TlsFront, authority};
use tenter_testkit::{Output, Sandbox};

use super::{USER_FILE, keyless, lab};
use crate::sandbox;

/// Configures `lab` behind TLS; `more` is the rest of its section.
fn encrypted_lab(sandbox: &Sandbox, server: &ModelServer, more: &str) -> TlsFront {
    let url = server.base_url(Format::Chat);
    let front = TlsFront::start(Certificate::Signed, &url);
    let config =
        format!("[providers.lab]\napi = \"chat\"\nbase_url = \"{}\"\n{more}\n", front.url(&url));
    sandbox.write(USER_FILE, config);
    front
}

fn hello(sandbox: &Sandbox, vars: &[(&str, &str)]) -> Output {
    sandbox.run_with_env(vars, "run --result-only -m lab/m hi")
}

#[test]
fn a_local_server_that_does_not_run_fails_at_once() {
    let sandbox = sandbox();
    let output = sandbox.run("run --model local/m --base-url http://127.0.0.1:9/v1 hi");
    assert_snapshot!(output, @r#"
    exit: 1
    --- stderr
    warning: the model local/m is unknown; its context window is assumed to be 128000 tokens
      help: set `context_window` under [models."local/m"] in [ROOT]/home/.config/tenter/config.toml
    error: nothing listens at http://127.0.0.1:9/v1
      help: start the model server, or pass its address with --base-url or `base_url`
    failed · 0 tokens in, 0 out · conversation [ID]
    "#);
    assert!(!output.stderr.contains("asked again"));
}

#[test]
fn an_unknown_model_lists_those_of_the_server() {
    let served = |names: &[&str]| {
        let unknown = [ModelReply::new().fault(Fault::UnknownModel)];
        ModelServer::start(Script::new(unknown).like_llama_cpp().serves(names))
    };
    for (names, help) in [
        (&["qwen3:8b", "gemma"][..], "help: did you mean local/qwen3:8b?"),
        (&["llama", "gemma"], "help: the server has local/llama, local/gemma;"),
    ] {
        let (sandbox, server) = (sandbox(), served(names));
        let base = server.base_url(Format::Chat);
        let output = sandbox.run(["run", "--model", "local/qwen3:8", "--base-url", &base, "hi"]);
        output.fails(1, help);
    }
}

#[test]
fn the_user_configures_trusted_authorities() {
    let (sandbox, server) = (sandbox(), keyless());
    let path = authority().display().to_string();
    let _front = encrypted_lab(&sandbox, &server, "");
    let output = hello(&sandbox, &[("SSL_CERT_FILE", &path)]).expect_code(0);
    assert_eq!(output.stdout, "Done.\n");

    sandbox.write("../home/.config/tenter/company.pem", std::fs::read(authority()).unwrap());
    let _front = encrypted_lab(&sandbox, &server, "ca_file = \"company.pem\"");
    let _ = hello(&sandbox, &[("SSL_CERT_FILE", "/no/such/file")]).expect_code(0);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn an_untrusted_certificate_fails_at_once_with_help() {
    let (sandbox, server) = (sandbox(), keyless());
    let _front = encrypted_lab(&sandbox, &server, "");
    sandbox.write("company.pem", std::fs::read(authority()).unwrap());
    sandbox.write("tenter.toml", "[providers.lab]\nca_file = \"company.pem\"\n");
    let error = hello(&sandbox, &[]).expect_code(1).stderr;
    assert!(error.contains("a project may not set providers"), "{error}");
    assert!(error.contains("its certificate is not signed by a trusted authority"), "{error}");
    assert!(error.contains("in SSL_CERT_FILE or as `ca_file` under [providers.lab]"), "{error}");
    let other = Certificate::SelfSigned.file().display().to_string();
    let error = hello(&sandbox, &[("SSL_CERT_FILE", &other)]).expect_code(1).stderr;
    assert!(error.contains("SSL_CERT_FILE limits trust to the authorities in"), "{error}");
    assert!(error.contains("self-signed.pem"), "{error}");
    assert!(server.requests().is_empty());
}

#[test]
fn a_servers_context_window_is_used_unless_configured() {
    let sandbox = sandbox();
    let server = ModelServer::start(Script::new([]).like_llama_cpp().reports_window(16_384));
    let window = |config: &str| {
        lab(&sandbox, &server, config);
        let output = sandbox.run("run --headless --model lab/m hi").expect_code(0);
        assert!(!output.stdout.contains("nothing is known"), "{output}");
        output.json_lines().pop().unwrap()["usage"]["max_context_window"].clone()
    };
    assert_eq!(window(""), 16_384);
    assert_eq!(window("[models.\"lab/m\"]\ncontext_window = 8192"), 8192);
}

/// A proxy or another server has its own prices.
#[test]
fn known_prices_do_not_apply_to_other_servers() {
    let sandbox = sandbox();
    let model = "anthropic/claude-opus-4-5";
    let server = ModelServer::start(Script::new(
        [(); 3].map(|()| ModelReply::text("ok").usage(100_000, 0, 0)),
    ));
    let base = server.base_url(Format::Anthropic);
    let cost = |config: &str, args: &[&str]| {
        sandbox.write(USER_FILE, config);
        let args = [&["run", "--headless", "--model", model], args, &["hi"]].concat();
        let output = sandbox.run_with_env(&[("ANTHROPIC_API_KEY", "k-1")], &args).expect_code(0);
        let usage = output.json_lines().pop().unwrap()["usage"].clone();
        assert_eq!(usage["max_context_window"], 200_000, "what it holds stays known");
        usage["cost_usd"].as_f64()
    };
    assert_eq!(cost("", &["--base-url", &base]), None);
    let there = format!("[providers.anthropic]\nbase_url = \"{base}\"\n");
    assert_eq!(cost(&there, &[]), None);
    let list = |vars: &[(&str, &str)]| {
        let rows = sandbox.run_with_env(vars, "models anthropic --json").json();
        let row = rows.as_array().unwrap().iter().find(|row| row["name"] == model).cloned();
        row.unwrap()["input_price"].as_f64()
    };
    assert_eq!(list(&[]), None);
    assert_eq!(cost(&format!("{there}[models.\"{model}\"]\ninput_price = 3\n"), &[]), Some(0.3));
    sandbox.write(USER_FILE, "");
    assert_eq!(list(&[]), Some(5.0));
    assert_eq!(list(&[("ANTHROPIC_BASE_URL", "https://api.anthropic.com/")]), Some(5.0));
    assert_eq!(list(&[("ANTHROPIC_BASE_URL", "https://elsewhere.example.com")]), None);
}
