//! The requests of a page's script for news.

use serde_json::json;

use crate::scene::{Scene, run, with};

/// Returns the cursor in a page.
fn cursor(page: &str) -> String {
    page.split("data-cursor=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

#[test]
fn new_records_come_once_and_only_when_they_are_complete() {
    let scene = Scene::new();
    scene.record("a", &[run("a", 1, "guard", "none")]);
    let page = scene.get("/session/a").page();
    let first = cursor(&page);
    let news = |cursor: &str| scene.get(&format!("/session/a?part=1&cursor={cursor}"));
    assert_eq!(news(&first).status, 204);
    let line = format!("{}\n", run("a", 2, "guard", "deny"));
    scene.append("a", &line[..30]);
    assert_eq!(news(&first).status, 204);
    scene.append("a", &line[30..]);
    let answer = news(&first);
    assert!(answer.body.starts_with("<li class=\"item blocked\""), "{}", answer.body);
    assert!(!answer.body.contains("ls 1"), "{}", answer.body);
    let second = answer.header("x-cursor").unwrap().to_owned();
    assert_eq!(news(&second).status, 204);
    scene.write("a", b"");
    assert_eq!(news(&second).status, 404);
    scene.record("a", &[with(run("a", 3, "guard", "none"), &json!({"hook": "x"}))]);
    assert_eq!(news("99999.before_tool").status, 410, "the page has to be loaded again");
}

#[test]
fn news_are_filtered_and_a_turn_begins_once() {
    let scene = Scene::new();
    scene.record("a", &[run("a", 1, "guard", "none")]);
    let first = cursor(&scene.get("/session/a?decision=deny").page());
    let before_agent = json!({"event": "before_agent", "tool_call_id": null, "tool_name": null});
    scene.record("a", &[with(run("a", 2, "greet", "none"), &before_agent)]);
    let news = |query: &str| scene.get(&format!("/session/a?part=1&{query}"));
    let events = news(&format!("decision=deny&cursor={first}"));
    assert_eq!((events.status, events.body.as_str()), (200, ""));
    let all = news(&format!("cursor={first}"));
    assert!(all.body.contains("<h2>Turn</h2>"), "{}", all.body);
    let second = all.header("x-cursor").unwrap().to_owned();
    scene.record("a", &[with(run("a", 3, "hello", "none"), &before_agent)]);
    let same = news(&format!("cursor={second}")).page();
    assert!(same.contains("hello") && !same.contains("<h2>Turn</h2>"), "{same}");
}

#[test]
fn lists_and_figures_are_sent_again_if_they_changed() {
    let scene = Scene::new();
    scene.record("a", &[run("a", 1, "guard", "none")]);
    for path in ["/", "/hooks", "/hosts"] {
        let version = cursor(&scene.get(path).page());
        let part = |cursor: &str| scene.get(&format!("{path}?part=1&cursor={cursor}"));
        assert_eq!(part(&version).status, 204, "{path}");
        scene.record("a", &[run("a", 2, "guard", "deny")]);
        let response = part(&version);
        if path == "/hosts" {
            assert_eq!(response.status, 204);
            continue;
        }
        assert_eq!(response.status, 200, "{path}");
        assert!(!response.body.contains("<html"), "{path}");
        assert_eq!(part(response.header("x-cursor").unwrap()).status, 204, "{path}");
    }
}
