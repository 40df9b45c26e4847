//! Replies as real programs write them (R82): the decision stands, whatever else is in them.

use tenter_proc::{Cancel, Invocation, Limits};
use tenter_protocol::reply::VerdictKind;
use tenter_protocol::{EventName, executable, manifest};
use tenter_testkit::needs;

use crate::scene::{Scene, USER, reason};

/// Prints replies of every kind: the bytes in hex, a tab, and the decision.
const RANDOM_REPLIES: &str = r#"
import json, random, sys
random.seed(82)
TEXTS = ["", "no", "\udcff", "a\ud800b", "\ud83d\ude00", "\U0001f600", "é\x00\x1b\x7f\u2028", 'q"\\/\n\r\t', "NaN", "-Infinity"]
NUMBERS = [0, -1, 1.5, 1e308, float("nan"), float("inf"), float("-inf"), 2**70, 10**400, True, None]

def text():
    return "".join(random.choice(TEXTS) for _ in range(random.randint(0, 4)))

def value(depth):
    kind = random.randint(0, 4 if depth else 2)
    if kind < 2: return text()
    if kind == 2: return random.choice(NUMBERS)
    if kind == 3: return [value(depth - 1) for _ in range(random.randint(0, 3))]
    return {text(): value(depth - 1) for _ in range(random.randint(0, 3))}

def written(reply):
    separators = random.choice([(",", ":"), (", ", ": "), None])
    if random.random() < 0.5:
        data = json.dumps(reply, separators=separators, indent=random.choice([None, 1])).encode()
    else:
        errors = "surrogatepass"
        data = json.dumps(reply, ensure_ascii=False, separators=separators).encode("utf-8", errors)
        # What `surrogateescape` makes of the name of a file.
        data = data.replace(b"\xed\xb3\xbf", b"\xff") if random.random() < 0.5 else data
    return random.choice([b"", b"\xef\xbb\xbf"]) + data + random.choice([b"", b"\n", b"\r\n", b"\n\n", b"\0"])

for _ in range(1000):
    word = random.choice(["allow", "deny", "ask"])
    reply = [("decision", word), ("reason", text()), ("log", text()), ("extra", value(3))]
    random.shuffle(reply)
    print(written(dict(reply)).hex(), word, sep="\t")
"#;

fn python(script: &str) -> String {
    let invocation = Invocation {
        program: "python3".into(),
        args: vec!["-c".into(), script.into()],
        cwd: "/".into(),
        env: vec![("PATH".into(), needs::search_path())],
        limits: Limits { keep: 64 << 20, ..Limits::default() },
        ..Invocation::default()
    };
    let completion = tenter_proc::run(&invocation, &Cancel::new());
    assert_eq!(completion.stderr.text(), "");
    completion.stdout.text().clone()
}

#[test]
fn every_reply_that_python_writes_keeps_its_decision() {
    tenter_testkit::skip_unless!(needs::has("python3"));
    let replies = python(RANDOM_REPLIES);
    assert_eq!(replies.lines().count(), 1000);
    for line in replies.lines() {
        let (hex, word) = line.split_once('\t').unwrap();
        let bytes: Vec<u8> = (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect();
        let text = String::from_utf8_lossy(&bytes);
        let reply = manifest::parse_reply(EventName::BeforeTool, &bytes);
        let verdict = reply.unwrap_or_else(|error| panic!("{error}: {text}")).reply.verdict;
        let kind = match verdict.unwrap().kind {
            VerdictKind::Allow => "allow",
            VerdictKind::Confine => "confine",
            VerdictKind::Ask => "ask",
            VerdictKind::Deny => "deny",
        };
        assert_eq!(kind, word, "{text}");
        // The same reply in the executable protocol has unknown fields only.
        assert!(executable::parse_reply(EventName::BeforeTool, &bytes).is_ok(), "{text}");
    }
}

/// Returns the reason of a denial by a hook that prints this, in each form in which a hook may be written.
fn reasons(printf: &str, specific: &str, reply_text: &str) -> [String; 3] {
    let script = |text: &str| format!("#!/bin/sh\nprintf '{text}'\n");
    let manifest = |dialect: &str, text: &str| {
        let scene = Scene::new();
        scene.manifest(USER, "guard", dialect);
        scene.file(&format!("{USER}/guard/scripts/run"), &script(text), 0o755);
        reason(&scene.dispatch()).to_owned()
    };
    let executable = {
        let scene = Scene::new();
        let text = format!(
            "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call && exit\nprintf '{reply_text}'\n"
        );
        scene.hook(USER, "guard", &text);
        reason(&scene.dispatch()).to_owned()
    };
    let claude_code = "metadata:\n  dialect: claude-code\n  matcher: Bash\n";
    [manifest("", printf), manifest(claude_code, specific), executable]
}

#[test]
fn a_denial_is_read_in_every_protocol_whatever_is_in_its_reason() {
    for text in [r"\\udcff", r"\\ud83d.", r"\377", r"a\nb", r"a\000b", r"\033[1m", r"\\d"] {
        let manifest =
            format!(r#"\357\273\277{{"decision": "deny", "x": NaN, "reason": "no {text}"}}\r\n\n"#);
        let specific = format!(
            r#"{{"hookSpecificOutput": {{"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no {text}", "x": -Infinity}}}}\r\n"#
        );
        let reply_text =
            format!(r#"{{"blocked": true, "x": Infinity, "reason": "no {text}"}}\000\n"#);
        for reason in reasons(&manifest, &specific, &reply_text) {
            assert!(reason.starts_with("no "), "{text}: {reason:?}");
        }
    }
}

#[test]
fn a_denial_among_repeated_values_denies_in_every_protocol() {
    for (one, other) in [("deny", "allow"), ("allow", "deny")] {
        let manifest = format!(r#"{{"decision": "{one}", "reason": "no", "decision": "{other}"}}"#);
        let specific = format!(
            r#"{{"hookSpecificOutput": {{"permissionDecision": "{one}", "permissionDecision": "{other}", "permissionDecisionReason": "no"}}}}"#
        );
        let (first, second) = (one == "deny", other == "deny");
        let text = format!(r#"{{"blocked": {first}, "blocked": {second}, "reason": "no"}}"#);
        for reason in reasons(&manifest, &specific, &text) {
            assert_eq!(reason, "no", "{one}, {other}");
        }
    }
}
