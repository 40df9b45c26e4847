//! Several events at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tenter_testkit::with_growing_limits;

use super::stage::{DENY, Script, Stage, is_served, until};

fn fire_twice(stage: &Stage) -> Vec<String> {
    thread::scope(|scope| {
        let firing = [0, 1].map(|_| scope.spawn(|| stage.reason()));
        firing.map(|firing| firing.join().unwrap()).to_vec()
    })
}

#[test]
fn requests_go_one_at_a_time() {
    let event = r#"if [ -e "$TENTER_PROJECT_DIR/busy" ]; then respond '{"decision": "deny", "reason": "two at once"}'; else
        : > "$TENTER_PROJECT_DIR/busy"; sleep 0.1; rm "$TENTER_PROJECT_DIR/busy"; respond '{"decision": "deny", "reason": "served"}'; fi"#;
    let stage = Stage::new(&Script::event(event));
    assert_eq!(fire_twice(&stage), ["served", "served"]);
    assert_eq!(stage.pids().len(), 1);
}

#[test]
fn time_in_the_queue_does_not_count_against_the_timeout() {
    with_growing_limits(takes_most_of_its_time_twice);
}

fn takes_most_of_its_time_twice(factor: u32) {
    let tenths = 7 * factor;
    let (whole, tenths) = (tenths / 10, tenths % 10);
    let event = format!("sleep {whole}.{tenths}; {DENY}").leak();
    let manifest = format!("timeout: {}\n", 1300 * factor).leak();
    let stage = Stage::new(&Script { manifest, event, ..Script::default() });
    assert_eq!(fire_twice(&stage), ["served", "served"]);
}

#[test]
fn a_hook_that_says_so_gets_several_requests_at_once() {
    let script = Script {
        initialize: r#"respond '{"concurrency": 2}'"#,
        // Answers the first request only when it has the second.
        event: r#"if [ -n "$first" ]; then respond '{"decision": "deny", "reason": "served"}'; id=$first; first=; respond '{"decision": "deny", "reason": "served"}'; else first=$id; fi"#,
        ..Script::default()
    };
    let stage = Stage::new(&script);
    assert_eq!(fire_twice(&stage), ["served", "served"]);
    assert_eq!(stage.pids().len(), 1);
}

#[test]
fn one_crashing_call_does_not_take_the_guard_from_a_parallel_one() {
    let script = Script {
        initialize: r#"respond '{"concurrency": 2}'"#,
        event: r#"if [ -n "$first" ]; then exit 3; else first=$id; fi"#,
        ..Script::default()
    };
    let stage = Stage::new(&script);
    assert_eq!(fire_twice(&stage), ["one-shot", "one-shot"]);
    assert_eq!((stage.pids().len(), stage.one_shot_runs()), (1, 2));
}

#[test]
fn a_request_in_the_queue_of_a_process_that_dies_is_sent_to_the_next() {
    let event = r#"if [ -e "$TENTER_PROJECT_DIR/died" ]; then respond '{"decision": "deny", "reason": "served"}'; else
        : > "$TENTER_PROJECT_DIR/begun"; while [ ! -e "$TENTER_PROJECT_DIR/queued" ]; do sleep 0.01; done; : > "$TENTER_PROJECT_DIR/died"; exit 3; fi"#;
    let stage = Stage::new(&Script::event(event));
    let is_begun = AtomicBool::new(false);
    thread::scope(|scope| {
        let first = scope.spawn(|| stage.reason());
        until("the first runs", || stage.file("begun").exists());
        let second = scope.spawn(|| {
            is_begun.store(true, Ordering::SeqCst);
            stage.reason()
        });
        until("the second begins", || is_begun.load(Ordering::SeqCst));
        // It is in the queue soon. The hook has half a minute.
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(20) {
            thread::yield_now();
        }
        std::fs::write(stage.file("queued"), "").unwrap();
        assert_eq!(first.join().unwrap(), "");
        assert_eq!(second.join().unwrap(), "served", "{:?}", stage.runs());
    });
    assert!(stage.runs().iter().all(is_served));
    assert_eq!(stage.one_shot_runs(), 0);
}
