//! The content of the pages.

use std::collections::BTreeSet;

use serde_json::json;

use crate::scene::{Scene, decided, run, with};
use tenter_testkit::assert_contains;

/// Records a session with one of everything.
fn busy(scene: &Scene) {
    let before = json!({"event": "before_agent", "tool_call_id": null, "tool_name": null, "tool_input": null, "decision": "context"});
    let rewrite = json!({"rewrite": {"before": {"command": "npm i"}, "after": {"command": "pnpm i"}}, "also": ["allow"],
        "rule": {"name": "npm", "command": "npm i", "certain": false}, "warnings": ["odd reply"], "notes": ["a note"], "stderr": "to stderr"});
    let redaction = json!({"event": "after_tool", "rewrite":
        {"before": {"metadata": {"output": "key: hunter2 end"}}, "after": {"metadata": {"output": "key: [GONE] end"}}}});
    let answer = json!({"v": 1, "time": "2026-03-01T09:00:07.000Z", "conversation_id": "a", "event": "before_tool", "tool_call_id": "call-7",
        "tool_name": "bash", "kind": "answer", "hook": "asker", "reason": "Sure?", "answer": "no", "allowed": false});
    let notice = json!({"v": 1, "time": "2026-03-01T09:00:08.000Z", "conversation_id": "a", "event": "session_end", "kind": "notice", "text": "Look here."});
    let newer = json!({"v": 2, "time": "2026-03-01T09:00:09.000Z", "conversation_id": "a", "event": "session_end", "kind": "dream", "hook": "sleepy", "reason": "zzz"});
    let subagent = json!({"conversation_id": "a/child", "parent_conversation_id": "a"});
    scene.record(
        "a",
        &[
            with(run("a", 1, "greet", "none"), &before),
            with(run("a", 2, "pnpm", "rewrite"), &rewrite),
            with(run("a", 3, "redact", "rewrite"), &redaction),
            with(
                run("a", 4, "guard", "deny"),
                &json!({"reason": "no <b>way</b>", "exit": "exit 2"}),
            ),
            decided("a", 4, "deny", "guard"),
            with(
                run("a", 5, "broken", "failed"),
                &json!({"reason": "it exited with code 3", "stdout": "half"}),
            ),
            with(run("a", 6, "guard", "none"), &subagent),
            answer,
            notice,
            newer,
        ],
    );
}

#[test]
fn sessions_are_listed_with_their_counts_and_filtered() {
    let scene = Scene::new();
    assert!(scene.get("/").page().contains("No hook has run in this project yet."));
    busy(&scene);
    let elsewhere = json!({"project": "/elsewhere", "host": "codex", "tool_name": "apply_patch", "tool_input": {"x": "unusual words"}});
    scene.record("b", &[with(run("b", 1, "other", "allow"), &elsewhere)]);
    let list = |path: &str| {
        let page = scene.get(path).page();
        ["a", "b"].map(|id| page.contains(&format!("<code>{id}</code>")))
    };
    assert_eq!(list("/"), [true, false]);
    for (query, sessions) in [
        ("", [true, true]),
        ("host=codex", [false, true]),
        ("host=tenter", [true, false]),
        ("tool=file_edit", [false, true]),
        ("tool=Shell", [true, false]),
        ("hook=guard", [true, false]),
        ("decision=allow", [false, true]),
        ("q=UNUSUAL+words", [false, true]),
        ("q=shop", [true, false]),
        ("q=nowhere", [false, false]),
    ] {
        assert_eq!(list(&format!("/?all=1&{query}")), sessions, "{query}");
    }
    let page = scene.get("/").page();
    for cell in ["data-label=\"Runs\">6<", "data-label=\"Denied\">1<", "data-label=\"Failed\">1<"] {
        assert!(page.contains(cell), "{cell}\n{page}");
    }
}

#[test]
fn a_session_is_a_timeline_of_calls_with_all_that_hooks_did() {
    let scene = Scene::new();
    busy(&scene);
    let page = scene.get("/session/a").page();
    for part in [
        "<h2>Turn</h2>",
        "<h3>before agent</h3>",
        "<code>ls 2</code>",
        "<del>npm</del>",
        "<ins>pnpm</ins>",
        "rule <strong>npm</strong> perhaps fits: <code>npm i</code>",
        "odd reply",
        "a note",
        "to stderr",
        "[GONE]",
        "7 characters, not shown",
        "class=\"item blocked\"",
        "no &lt;b&gt;way&lt;/b&gt;",
        "<strong>before_tool</strong> is denied by <span class=\"hook\">guard</span>",
        "Hook failed",
        "it exited with code 3",
        "half",
        "subagent</span>",
        "answer: <strong>no</strong>; the call does not run",
        "Look here.",
        "sleepy",
        "A newer version of Tenter wrote some of these records",
        "/source/aa?name=guard",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("hunter2") && !page.contains("<b>way"), "{page}");
    assert_eq!(page.matches("<h2>Turn</h2>").count(), 1);
}

#[test]
fn a_timeline_is_filtered_by_tool_hook_decision_agent_and_text() {
    let scene = Scene::new();
    busy(&scene);
    let count = |query: &str| {
        scene.get(&format!("/session/a?{query}")).page().matches("<li class=\"item ").count()
    };
    for (query, items) in [
        ("hook=guard", 2),
        ("hook=sleepy", 1),
        ("decision=deny", 1),
        ("decision=rewrite", 2),
        ("tool=Shell", 6),
        ("host=codex", 0),
        ("host=tenter", 8),
        ("q=NO+%3Cb%3Eway", 1),
        ("q=zzz&hook=sleepy", 1),
        ("decision=ask", 1),
        ("q=nowhere", 0),
        ("decision=nonsense", 0),
    ] {
        assert_eq!(count(query), items, "{query}");
    }
    let page = scene.get("/session/a?decision=deny").page();
    assert_contains(&page, &["<option value=\"deny\" selected>", "2 records match on this page."]);
}

#[test]
fn the_page_of_hooks_has_figures_charts_and_what_needs_attention() {
    let scene = Scene::new();
    let guard = |number, decision| {
        with(run("a", number, "guard", decision), &json!({"duration_ms": number * 100}))
    };
    scene.record("a", &[guard(1, "deny"), guard(2, "none"), guard(3, "none")]);
    let builtin = with(run("a", 9, "builtin:compact-trigger", "none"), &json!({"hash": ""}));
    scene.record(
        "a",
        &[builtin, with(run("a", 9, "old", "failed"), &json!({"project": "/elsewhere"}))],
    );
    let page = scene.get("/hooks").page();
    assert_contains(
        &page,
        &[
            "The p95 of <strong>guard</strong> is 300 ms; its budget is 20 ms.",
            "<strong>guard</strong> slows down every tool call: half of its runs take 200 ms or more.",
            "data-label=\"Runs\">3<",
            "data-label=\"p50\">200 ms<",
            "data-label=\"Share\">100 %<",
            "aria-label=\"3 runs over time, 1 denied, 0 failed\"",
            "<code>idle</code>",
            "over budget",
        ],
    );
    assert!(!page.contains("builtin:") && !page.contains(">old<"), "{page}");
    assert!(scene.get("/hooks?all=1").page().contains(">old<"));
    let hour = scene.get("/hooks?since=1h").page();
    assert!(
        hour.contains("No hook ran in this period.") && hour.contains("<code>guard</code>"),
        "{hour}"
    );
    assert!(scene.get("/hooks?since=1d").page().contains("data-label=\"Runs\">3<"));
}

#[test]
fn the_pages_of_hosts_and_sources_show_what_the_program_knows() {
    let scene = Scene::new();
    let hosts = scene.get("/hosts").page();
    assert_contains(
        &hosts,
        &[
            "Codex ran a denied call",
            "incomplete: install it again",
            "<strong>0.169.0</strong>",
            "30 checks hold",
            "the file was written",
            "<li>Pi</li>",
        ],
    );
    let source = scene.get("/source/aa?name=guard").page();
    assert!(
        source.contains("echo &#39;&lt;b&gt;&#39;") || source.contains("echo '&lt;b&gt;'"),
        "{source}"
    );
    assert!(source.contains("As it was trusted.") && source.contains("not text, or too long"));
    let response = scene.get("/source/cc?name=guard");
    assert_eq!(response.status, 404);
    assert!(response.body.contains("This version of the hook is not kept."), "{}", response.body);
}

#[test]
fn every_link_of_every_page_works_and_none_leads_elsewhere() {
    let scene = Scene::new();
    busy(&scene);
    let mut open = vec![scene.with_token("/"), scene.with_token("/?all=1")];
    let mut paths = BTreeSet::new();
    while let Some(target) = open.pop() {
        if !paths.insert(target.clone()) {
            continue;
        }
        let answer = scene.request(&target);
        let is_kept = !target.contains("/source/") || target.contains("/source/aa");
        assert_eq!(answer.status, if is_kept { 200 } else { 404 }, "{target}");
        if !answer.header("content-type").unwrap().starts_with("text/html") {
            continue;
        }
        for attribute in ["href=\"", "src=\"", "action=\""] {
            for rest in answer.body.split(attribute).skip(1) {
                let link = rest.split('"').next().unwrap().replace("&amp;", "&");
                match link.strip_prefix('#') {
                    Some(id) => assert!(answer.body.contains(&format!("id=\"{id}\"")), "{link}"),
                    None if attribute == "action=\"" => assert!(link.starts_with('/'), "{link}"),
                    None => {
                        assert!(link.starts_with('/') && link.contains(&scene.token), "{link}");
                        open.push(link);
                    }
                }
            }
        }
        for forbidden in ["http://", "https://", " style=\"", " onclick", "<style"] {
            assert!(!answer.body.contains(forbidden), "{target} has {forbidden}");
        }
        for header in ["<main id=\"content\"", "<html lang=\"en\">", "<h1>", "aria-label=\"Pages\""]
        {
            assert!(answer.body.contains(header), "{target} lacks {header}");
        }
    }
    assert!(paths.len() > 10, "{paths:?}");
    assert_eq!(scene.get("/nowhere").status, 404);
    assert_eq!(scene.get("/session/none").status, 404);
    assert_eq!(scene.get("/session/..%2Fx").status, 404);
}

#[test]
fn stopped_calls_have_a_page_with_search_and_export() {
    let scene = Scene::new();
    assert!(scene.get("/stopped").page().contains("No call was denied or asked about."));
    busy(&scene);
    let question = json!({"reason": "Sure?", "tool_call_id": "call-7",
        "rule": {"name": "push", "command": "git push", "certain": true}});
    scene.record("a", &[with(run("a", 7, "asker", "ask"), &question)]);
    let page = scene.get("/stopped").page();
    assert_contains(&page, &["no &lt;b&gt;way", "Sure?", "push", "it exited with code 3"]);
    assert!(!page.contains("redact</span>"), "{page}");
    let page = scene.get("/stopped?q=sure").page();
    assert!(page.contains("Sure?") && !page.contains("it exited with code 3"), "{page}");
    assert!(scene.get("/stopped?since=1h").page().contains("No call was denied"));
    let file = scene.get("/stopped.csv?decision=ask");
    assert!(file.header("content-type").is_some_and(|kind| kind.starts_with("text/csv")));
    let text = file.page();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[1].contains(",asker,push,ask,no,Sure?"), "{text}");
}
