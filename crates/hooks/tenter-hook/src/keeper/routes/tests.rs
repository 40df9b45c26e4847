//! Tests of the routes of a hook's process.

use proptest::prelude::*;
use serde_json::json;
use tenter_protocol::runtime::{event_request, read_message};

use super::*;

fn message(text: &str) -> Message {
    read_message(text.as_bytes()).unwrap().unwrap()
}

fn event(id: u64) -> Message {
    message(&event_request(id, "before_tool_call", "{}"))
}

#[expect(clippy::needless_pass_by_value, reason = "calls are shorter")]
fn response(id: i64, result: Value) -> Message {
    message(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
}

fn value(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

/// Routes of a hook that answered `initialize` and can have this many requests open.
fn ready(concurrency: usize) -> Routes {
    let mut routes = Routes::default();
    let first = routes.of_peer(0, message(&request(7, INITIALIZE, &json!({"hook": "h"}))), 0);
    let [Action::ToHook(line)] = first.as_slice() else { panic!("{first:?}") };
    assert_eq!((&value(line)["id"], &value(line)["params"]), (&json!(1), &json!({"hook": "h"})));
    let answered = routes.of_hook(response(1, json!({"concurrency": concurrency})), 0);
    let [Action::ToPeer(0, line)] = answered.as_slice() else { panic!("{answered:?}") };
    assert_eq!(value(line)["id"], 7);
    routes.leave(0, 0);
    routes
}

/// The id under which the hook reads the only request among the actions.
fn sent(actions: &[Action]) -> i64 {
    let [Action::ToHook(line)] = actions else { panic!("{actions:?}") };
    value(line)["id"].as_i64().unwrap()
}

#[test]
fn initialize_is_sent_once_and_every_connection_gets_the_answer() {
    let mut routes = Routes::default();
    assert_eq!(routes.join(1), [Action::Grant(1)]);
    assert_eq!(routes.join(2), []);
    let initialize = |id| message(&request(id, INITIALIZE, &json!({})));
    assert_eq!(sent(&routes.of_peer(1, initialize(1), 0)), 1);
    assert_eq!(routes.of_peer(2, initialize(5), 0), []);
    let actions = routes.of_hook(response(1, json!({"concurrency": 2})), 0);
    let [Action::ToPeer(1, _), Action::ToPeer(2, second), Action::Grant(2)] = actions.as_slice()
    else {
        panic!("{actions:?}")
    };
    assert_eq!(value(second)["id"], 5);
    let again = routes.of_peer(3, initialize(9), 0);
    assert!(matches!(again.as_slice(), [Action::ToPeer(3, _)]), "{again:?}");
}

#[test]
fn a_hook_that_cannot_be_initialized_is_killed() {
    for answer in [
        json!({"jsonrpc": "2.0", "id": 1, "result": {"protocol": 7}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}),
    ] {
        let mut routes = Routes::default();
        routes.of_peer(1, message(&request(1, INITIALIZE, &json!({}))), 0);
        let actions = routes.of_hook(message(&answer.to_string()), 0);
        assert!(
            matches!(actions.as_slice(), [Action::ToPeer(1, _), Action::Kill(_)]),
            "{actions:?}"
        );
    }
}

#[test]
fn two_connections_use_the_same_id_and_each_gets_its_own_answer() {
    let mut routes = ready(2);
    let (first, second) =
        (sent(&routes.of_peer(1, event(2), 10)), sent(&routes.of_peer(2, event(2), 20)));
    assert_ne!(first, second);
    let to = |actions: &[Action]| match actions {
        [Action::Respond { peer, line, stderr_from }] => (*peer, value(line), *stderr_from),
        other => panic!("{other:?}"),
    };
    let (peer, line, stderr) = to(&routes.of_hook(response(second, json!({"b": 2})), 30));
    assert_eq!((peer, &line["id"], &line["result"], stderr), (2, &json!(2), &json!({"b": 2}), 20));
    let (peer, line, stderr) = to(&routes.of_hook(response(first, json!(null)), 30));
    assert_eq!((peer, &line["id"], stderr), (1, &json!(2), 10));
    assert!(routes.is_idle() && routes.answered == 2);
    assert_eq!(routes.of_hook(response(first, json!(null)), 0), [], "it is late");
    let unknown = routes.of_hook(response(99, json!(null)), 0);
    assert!(matches!(unknown.as_slice(), [Action::Kill(_)]), "{unknown:?}");
}

#[test]
fn a_service_goes_to_the_connection_of_its_request_and_back() {
    let mut routes = ready(2);
    let ask = |id: Value, params: Value| {
        message(
            &json!({"jsonrpc": "2.0", "id": id, "method": "state.get", "params": params})
                .to_string(),
        )
    };
    let none = routes.of_hook(ask(json!("s0"), json!({"key": "k"})), 0);
    let [Action::ToHook(line)] = none.as_slice() else { panic!("{none:?}") };
    assert_eq!(value(line)["error"]["data"]["name"], "no_request");
    let first = sent(&routes.of_peer(1, event(4), 0));
    let only = routes.of_hook(ask(json!("s1"), json!({"key": "k"})), 0);
    let [Action::ToPeer(1, line)] = only.as_slice() else { panic!("{only:?}") };
    assert_eq!(value(line)["params"], json!({"key": "k", "request": 4}));
    let second = sent(&routes.of_peer(2, event(5), 0));
    let named = routes.of_hook(ask(json!(7), json!({"key": "k", "request": second})), 0);
    let [Action::ToPeer(2, line)] = named.as_slice() else { panic!("{named:?}") };
    assert_eq!((&value(line)["id"], &value(line)["params"]["request"]), (&json!(7), &json!(5)));
    let unclear = routes.of_hook(ask(json!(8), json!({"key": "k"})), 0);
    assert!(matches!(unclear.as_slice(), [Action::ToHook(_)]), "two are open: {unclear:?}");
    // Only the connection that was asked answers.
    assert_eq!(routes.of_peer(1, response(7, json!(1)), 0), []);
    let answered = routes.of_peer(2, response(7, json!(1)), 0);
    assert_eq!(sent(&answered), 7);
    assert_eq!(routes.of_peer(2, response(7, json!(1)), 0), [], "once");
    let _ = first;
}

#[test]
fn what_a_connection_leaves_behind_is_cancelled() {
    let mut routes = ready(1);
    let id = sent(&routes.of_peer(1, event(2), 0));
    let ask = r#"{"jsonrpc": "2.0", "id": 9, "method": "ask", "params": {"question": "?"}}"#;
    routes.of_hook(message(ask), 0);
    assert_eq!(routes.join(2), []);
    let actions = routes.leave(1, 0);
    let [Action::ToHook(cancel), Action::ToHook(service)] = actions.as_slice() else {
        panic!("{actions:?}")
    };
    assert_eq!(
        (&value(cancel)["method"], &value(cancel)["params"]["id"]),
        (&json!("cancel"), &json!(id))
    );
    assert_eq!(value(service)["error"]["data"]["name"], "cancelled");
    assert!(routes.has_abandoned());
    assert_eq!(routes.of_hook(response(id, json!(null)), 0), [Action::Grant(2)]);
    assert!(!routes.has_abandoned() && !routes.is_idle());
}

#[test]
fn a_connection_cancels_its_own_requests_only() {
    let mut routes = ready(2);
    let first = sent(&routes.of_peer(1, event(2), 0));
    let cancel = |id: u64| message(&notification(CANCEL, Some(&Cancelled { id })));
    assert_eq!(routes.of_peer(2, cancel(2), 0), []);
    let actions = routes.of_peer(1, cancel(2), 0);
    let [Action::ToHook(line)] = actions.as_slice() else { panic!("{actions:?}") };
    assert_eq!(value(line)["params"]["id"], first);
    let shutdown = message(&notification::<()>("shutdown", None));
    assert_eq!(routes.of_peer(1, shutdown, 0), [], "others still use the hook");
}

proptest! {
    /// Never more requests than fit, every answer goes to its own connection, and none waits while there is room.
    #[test]
    fn requests_keep_within_the_concurrency_and_are_all_answered(
        concurrency in 1_usize..4,
        steps in prop::collection::vec((0_u64..4, any::<prop::sample::Index>()), 0..60),
    ) {
        let mut routes = ready(concurrency);
        let mut open: Vec<(i64, u64, u64)> = Vec::new();
        let mut queued: VecDeque<(u64, u64)> = VecDeque::new();
        let (mut next, mut expected) = (1, 0);
        for (peer, index) in steps {
            let answers = index.index(2) == 0 && !open.is_empty();
            let actions = if answers {
                let (id, peer, own) = open.remove(index.index(open.len()));
                let actions = routes.of_hook(response(id, json!({"for": own})), 0);
                let Some(Action::Respond { peer: to, line, .. }) = actions.first() else { panic!() };
                prop_assert_eq!((*to, value(line)["id"].as_u64()), (peer, Some(own)));
                expected += 1;
                actions[1..].to_vec()
            } else {
                next += 1;
                queued.push_back((peer, next));
                routes.of_peer(peer, event(next), 0)
            };
            for action in actions {
                let Action::ToHook(line) = action else { panic!("{action:?}") };
                let (peer, own) = queued.pop_front().unwrap();
                open.push((value(&line)["id"].as_i64().unwrap(), peer, own));
            }
            prop_assert!(open.len() <= concurrency);
            prop_assert!(queued.is_empty() || open.len() == concurrency);
            prop_assert_eq!(routes.answered, expected);
        }
    }
}
