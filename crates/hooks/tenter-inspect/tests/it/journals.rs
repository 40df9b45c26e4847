//! Journals that are long, broken, or from another version.

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::scene::{Scene, decided, run, with};

/// Returns the numbers of the calls that a page shows.
fn calls(page: &str) -> Vec<usize> {
    let calls = page.split("<code>ls ").skip(1);
    calls.map(|rest| rest.split('<').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn a_hundred_thousand_records_are_shown_by_the_hundred_and_at_once() {
    let mut text = String::new();
    for number in 0..50_000 {
        let decision = if number % 1000 == 0 { "deny" } else { "none" };
        writeln!(text, "{}", run("long", number, "guard", decision)).unwrap();
        writeln!(text, "{}", decided("long", number, decision, "guard")).unwrap();
    }
    let took = |path: &str| {
        // A new server each time: nothing is read yet. The best of several, because the machine does other things.
        let measure = || {
            let scene = Scene::new();
            scene.write("long", text.as_bytes());
            let start = Instant::now();
            let page = scene.get_once(path).page();
            (start.elapsed(), page)
        };
        let all: Vec<(Duration, String)> = (0..3).map(|_| measure()).collect();
        all.into_iter().min_by_key(|(took, _)| *took).unwrap()
    };
    // Without optimisation everything takes several times as long.
    let limit = Duration::from_millis(if cfg!(debug_assertions) { 2000 } else { 200 });
    for path in
        ["/session/long", "/", "/hooks", "/session/long?q=nowhere", "/session/long?decision=deny"]
    {
        let (took, page) = took(path);
        assert!(took < limit, "{path} took {took:?}");
        if path == "/session/long" {
            assert_eq!(calls(&page), (49_950..50_000).collect::<Vec<_>>());
        }
    }
}

#[test]
fn older_records_follow_by_the_hundred_down_to_the_first() {
    let scene = Scene::new();
    let records: Vec<_> = (0..950).map(|number| run("a", number, "guard", "none")).collect();
    scene.record("a", &records);
    let mut path = "/session/a".to_owned();
    let mut pages = Vec::new();
    loop {
        let page = scene.get(&path).page();
        pages.push(calls(&page));
        let Some(rest) = page.split("before=").nth(1) else { break };
        path = format!("/session/a?before={}", rest.split('&').next().unwrap());
    }
    assert_eq!(
        pages.iter().map(Vec::len).collect::<Vec<_>>(),
        [[100; 9].as_slice(), &[50]].concat()
    );
    let all: Vec<usize> = pages.into_iter().rev().flatten().collect();
    assert_eq!(all, (0..950).collect::<Vec<_>>());
    assert_eq!(scene.get("/session/a?before=99999999999999999999").status, 200);
    assert_eq!(calls(&scene.get("/session/a?before=0").page()), [] as [usize; 0]);
}

#[test]
fn a_list_of_many_sessions_has_pages() {
    let scene = Scene::new();
    for number in 0..120 {
        let id = format!("s{number:03}");
        scene.record(&id, &[run(&id, number, "guard", "none")]);
    }
    let sessions = |path: &str| scene.get(path).page().matches("data-label=\"Agent\"").count();
    assert_eq!((sessions("/"), sessions("/?page=2"), sessions("/?page=9")), (100, 20, 0));
    let page = scene.get("/?page=2").page();
    assert!(page.contains("101–120 of 120") && page.contains("<code>s000</code>"), "{page}");
}

#[test]
fn damaged_journals_are_shown_as_far_as_they_can_be_read() {
    let scene = Scene::new();
    let good = |number| format!("{}\n", run("a", number, "guard", "none"));
    let newer = with(
        run("a", 5, "guard", "none"),
        &json!({"v": 7, "duration_ms": "soon", "decision": {"x": 1}}),
    );
    let mut bytes = [good(1), "{\"v\":1,\"time\":\n\n".to_owned(), good(2)].concat().into_bytes();
    bytes.extend(b"\xff\xfe\x00 not text\n");
    bytes.extend(format!("{newer}\n{}", good(3)).bytes());
    bytes.extend(good(4)[..50].bytes());
    scene.write("a", &bytes);
    let page = scene.get("/session/a").page();
    assert_eq!(calls(&page), [1, 2, 5, 3]);
    assert!(page.contains("2 lines of the journal cannot be read."), "{page}");
    assert!(page.contains("A newer version of Tenter"), "{page}");
    let list = scene.get("/").page();
    assert!(list.contains("2 lines cannot be read"), "{list}");
    scene.append("a", &good(4)[50..]);
    assert_eq!(calls(&scene.get("/session/a").page()), [1, 2, 5, 3, 4]);
}

#[test]
fn odd_files_do_not_disturb_the_others() {
    let scene = Scene::new();
    scene.record("good", &[run("good", 1, "guard", "none")]);
    scene.write("empty", b"");
    scene.write("blank", b"\n\n");
    fs::create_dir(scene.file("directory")).unwrap();
    let list = scene.get("/").page();
    assert!(list.contains("<code>good</code>"), "{list}");
    assert!(list.contains("The journal of <code>directory</code> cannot be read"), "{list}");
    assert_eq!(scene.get("/session/directory").status, 404);
    assert_eq!(scene.get("/session/blank").status, 200);
    assert_eq!(scene.get("/hooks").status, 200);
}
