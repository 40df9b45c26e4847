//! `tenter mcp login`: OAuth with a server behind HTTP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};
use tenter_testkit::Sandbox;
use tenter_testkit::http_server::{HttpRequest, HttpServer, response as http_response};

use crate::sandbox;

/// Returns a server of tools that asks for a login, and its own authorization server. A login gives the token `first` for half a
/// minute, and a renewal gives `second`.
fn server(refuses: bool) -> HttpServer {
    HttpServer::deciding(move |request| {
        let path = request.line.split(' ').nth(1).unwrap_or_default().to_owned();
        let origin = format!("http://{}", request.header("host").unwrap_or_default());
        Some(match path.as_str() {
            "/mcp" => tools(request, &origin),
            "/metadata" => json_response(&json!({
                "resource": format!("{origin}/mcp"),
                "authorization_servers": [origin],
                "scopes_supported": ["tools"],
            })),
            "/.well-known/oauth-authorization-server" => json_response(&json!({
                "issuer": origin,
                "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"),
                "code_challenge_methods_supported": ["S256"],
            })),
            "/register" => json_response(&json!({"client_id": "client-1"})),
            "/token" if refuses => http_response(
                "400 Bad Request",
                &["content-type: application/json"],
                r#"{"error": "invalid_grant", "error_description": "the code is too old"}"#,
            ),
            "/token" => token(request),
            _ => http_response("404 Not Found", &[], ""),
        })
    })
}

fn json_response(body: &Value) -> String {
    http_response("200 OK", &["content-type: application/json"], &body.to_string())
}

fn token(request: &HttpRequest) -> String {
    let is_renewal = request.body.contains("grant_type=refresh_token");
    let (token, seconds) = if is_renewal { ("second", 3600) } else { ("first", 30) };
    json_response(&json!({
        "access_token": token, "token_type": "bearer", "expires_in": seconds, "refresh_token": "again",
    }))
}

/// Answers a message of the protocol if the request has the renewed token.
fn tools(request: &HttpRequest, origin: &str) -> String {
    if request.header("authorization") != Some("Bearer second") {
        let challenge = format!("www-authenticate: Bearer resource_metadata=\"{origin}/metadata\"");
        return http_response("401 Unauthorized", &[&challenge], "");
    }
    let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "docs", "version": "1"},
        }),
        Some("tools/list") => json!({"tools": [{
            "name": "find", "description": "Finds a page.", "inputSchema": {"type": "object"},
        }]}),
        _ => return http_response("202 Accepted", &[], ""),
    };
    json_response(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
}

/// Runs `tenter mcp login docs`; `browse` gets the address that the user opens.
fn login(sandbox: &Sandbox, browse: impl FnOnce(&str)) -> (bool, String) {
    let mut command = sandbox.command();
    command.args(["mcp", "login", "docs"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut login = command.spawn().unwrap();
    let mut address = String::new();
    let _ = BufReader::new(login.stdout.take().unwrap()).read_line(&mut address).unwrap();
    if !address.is_empty() {
        browse(address.trim());
    }
    let output = login.wait_with_output().unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

/// Returns a field of the query of an address.
fn field(address: &str, name: &str) -> String {
    let (_, query) = address.split_once('?').unwrap();
    let prefix = format!("{name}=");
    let value = query.split('&').find_map(|pair| pair.strip_prefix(&prefix)).unwrap();
    value.replace("%3A", ":").replace("%2F", "/")
}

/// Does what the browser does after the user logged in: it returns to the address on this machine.
fn return_with(address: &str, answer: &str) {
    let redirect = field(address, "redirect_uri");
    let (host, path) = redirect.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path}?{answer} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 "), "{text}");
}

#[test]
fn a_login_gives_each_request_a_token_that_is_renewed() {
    let (sandbox, server) = (sandbox(), server(false));
    let url = server.url("/mcp");
    let _ = sandbox.run(["mcp", "add", "docs", &url]).expect_code(0);
    sandbox.fails(1, "mcp test docs", "tenter mcp login");
    let (is_done, stderr) = login(&sandbox, |address| {
        assert_eq!(field(address, "scope"), "tools");
        assert_eq!(field(address, "code_challenge_method"), "S256");
        // Another page on this machine knows no state.
        return_with(address, "code=forged&state=other");
        return_with(address, &format!("code=c1&state={}", field(address, "state")));
    });
    assert!(is_done, "{stderr}");
    let requests = server.requests();
    let exchange = requests.iter().find(|request| request.line.contains("/token")).unwrap();
    assert!(exchange.body.contains("code=c1") && exchange.body.contains("code_verifier="));
    sandbox.prints("mcp test docs", "mcp__docs__find");
    let _ = sandbox.run("mcp logout docs").expect_code(0);
    let _ = sandbox.run("mcp test docs").expect_code(1);
}

#[test]
fn a_login_that_fails_says_why() {
    let (sandbox, server) = (sandbox(), server(true));
    let _ = sandbox.run(["mcp", "add", "docs", &server.url("/mcp")]).expect_code(0);
    let (is_done, stderr) = login(&sandbox, |address| {
        return_with(address, &format!("error=access_denied&state={}", field(address, "state")));
    });
    assert!(!is_done && stderr.contains("access_denied"), "{stderr}");
    let (is_done, stderr) = login(&sandbox, |address| {
        return_with(address, &format!("code=c1&state={}", field(address, "state")));
    });
    assert!(!is_done && stderr.contains("the code is too old"), "{stderr}");
    let open = HttpServer::json("{}");
    let _ = sandbox.run("mcp remove docs").expect_code(0);
    let _ = sandbox.run(["mcp", "add", "docs", &open.url("/mcp")]).expect_code(0);
    let (is_done, stderr) = login(&sandbox, |_| {});
    assert!(!is_done && stderr.contains("asks for no login"), "{stderr}");
    let _ = sandbox.run("mcp add local -- program").expect_code(0);
    sandbox.fails(1, "mcp login local", "it is a program");
}
