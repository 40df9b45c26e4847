//! Clients that are refused: other users, other sites, odd clients.

use std::io::Write as _;
use std::net::Shutdown;
use std::time::{Duration, Instant};

use tenter_testkit::with_growing_limits;

use crate::scene::{Scene, answer, run};

#[test]
fn without_the_token_or_with_another_hosts_name_there_is_nothing() {
    let scene = Scene::new();
    scene.record("secret-session", &[run("secret-session", 1, "guard", "deny")]);
    let token = &scene.token;
    let last = if token.ends_with('0') { '1' } else { '0' };
    let wrong = format!("{}{last}", &token[..token.len() - 1]);
    let paths = [
        "/",
        "/hooks",
        "/hosts",
        "/session/secret-session",
        "/inspect.js",
        "/inspect.css",
        "/nowhere",
    ];
    for path in paths {
        for query in ["", "?token=", &format!("?token={wrong}"), &format!("?x={token}")] {
            let answer = scene.request(&format!("{path}{query}"));
            assert_eq!((answer.status, answer.body.as_str()), (403, ""), "{path}{query}");
        }
        for host in
            ["evil.example", &format!("evil.example:{}", scene.port), "127.0.0.1:1", "[::1]"]
        {
            let head = format!("GET {path}?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n");
            let answer = scene.raw(&head);
            assert_eq!((answer.status, answer.body.as_str()), (403, ""), "{path} {host}");
        }
    }
    let none = scene.raw(&format!("GET /?token={token} HTTP/1.1\r\n\r\n"));
    assert_eq!(none.status, 403);
    let request = format!("GET /?token={token} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", scene.port);
    assert!(scene.raw(&request).page().contains("secret-session"));
    let cookie = format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nCookie: token={token}\r\n\r\n",
        scene.port
    );
    assert_eq!(scene.raw(&cookie).status, 403, "another server of this machine gets cookies, too");
}

#[test]
fn only_reading_is_possible() {
    let scene = Scene::new();
    let send = |method: &str| {
        let target = scene.with_token("/");
        let head = "Content-Length: 3\r\n\r\nabc";
        scene
            .raw(&format!("{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{head}", scene.port))
    };
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        let answer = send(method);
        assert_eq!((answer.status, answer.body.as_str()), (405, ""), "{method}");
        assert_eq!(answer.header("allow"), Some("GET, HEAD"));
    }
    let head = send("HEAD");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert!(head.header("content-length").unwrap().parse::<usize>().unwrap() > 100);
}

#[test]
fn every_response_restricts_what_a_browser_may_do_with_it() {
    let scene = Scene::new();
    for path in ["/", "/hooks", "/inspect.js", "/nowhere"] {
        let answer = scene.get(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(
            !policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        for (name, value) in [
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path}");
        }
        assert_eq!(answer.header("access-control-allow-origin"), None);
        assert_eq!(answer.header("set-cookie"), None);
    }
}

#[test]
fn requests_above_the_limits_and_garbage_are_refused() {
    let scene = Scene::new();
    let status = |bytes: &str| scene.raw(bytes).status;
    assert_eq!(status(&format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(5000))), 414);
    assert_eq!(status(&format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(100_000))), 431);
    assert_eq!(status(&format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(200))), 431);
    assert_eq!(status("\u{16}\u{3}\u{1}garbage\r\n\r\n"), 400);
    assert_eq!(status("GET http://127.0.0.1/ HTTP/1.1\r\n\r\n"), 400);
    assert_eq!(scene.get("/").status, 200);
}

#[test]
fn idle_connections_beyond_the_limit_make_room_for_a_request_at_once() {
    // They are closed after three seconds.
    with_growing_limits(|_| a_request_beyond_idle_connections());
}

fn a_request_beyond_idle_connections() {
    let scene = Scene::new();
    let idle: Vec<_> = (0..300).map(|_| scene.connect()).collect();
    let start = Instant::now();
    assert_eq!(scene.get("/").status, 200);
    assert!(start.elapsed() < Duration::from_secs(2), "idle connections held it up");
    drop(idle);
}

#[test]
fn clients_that_send_slowly_or_read_nothing_do_not_block_others() {
    // A client has three seconds for the head of its request.
    with_growing_limits(|_| a_request_beside_slow_clients());
}

fn a_request_beside_slow_clients() {
    let scene = Scene::new();
    let mut slow: Vec<_> = (0..50).map(|_| scene.connect()).collect();
    for stream in &mut slow {
        stream.write_all(b"GET / HT").unwrap();
    }
    let start = Instant::now();
    assert_eq!(scene.get("/").status, 200);
    assert!(start.elapsed() < Duration::from_secs(5), "slow clients held it up");
    let mut one = slow.pop().unwrap();
    let target = format!("TP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", scene.port);
    one.write_all(target.as_bytes()).unwrap();
    assert_eq!(answer(one).status, 403, "a slow client is answered");
    let response = slow.pop().unwrap();
    response.shutdown(Shutdown::Both).unwrap();
    assert_eq!(scene.get("/hooks").status, 200);
}
