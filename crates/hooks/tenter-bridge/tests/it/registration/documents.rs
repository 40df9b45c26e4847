//! Texts: realistic ones, and generated ones.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tenter_bridge::host::HostVersion;
use tenter_bridge::registration::Options;

use super::{User, newest, parse};

/// Settings as users have them.
const SETTINGS: &[&str] = &[
    "",
    "\n\n",
    "// nothing yet\n",
    "// nothing yet",
    "{}",
    "{}\n",
    "{ }\n",
    "{\n}\n",
    "{\n  // only a comment\n}\n",
    "{ /* only a comment */ }",
    "{\"model\":\"opus\"}",
    "{ \"model\": \"opus\" }\n",
    "{\n  \"model\": \"opus\"\n}\n",
    "{\n\t\"model\": \"opus\",\n\t\"env\": {\n\t\t\"A\": \"1\"\n\t}\n}",
    "\u{feff}{\r\n    \"model\": \"opus\" // mine\r\n}\r\n",
    "{\n  \"model\": \"opus\", // trailing comma\n}\n",
    "{\n  \"model\": \"opus\" // last\n  // \"other\": 1\n}\n",
    "{\"hooks\":{}}",
    "{\n  \"hooks\": {\n    \"PreToolUse\": []\n  },\n  \"model\": \"opus\"\n}\n",
    r#"{
  "permissions": {"allow": ["Bash(git *)"]},
  "hooks": {
    // format what was written
    "PostToolUse": [
      {
        "matcher": "Write|Edit",
        "hooks": [
          { "type": "command", "command": "prettier --write \"$FILE\"", "timeout": 30 }
        ]
      }, // keep
    ],
    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
    "Notification": [
      {"hooks": [{"type": "command", "command": "notify-send Claude"}]}
    ]
  },
  "statusLine": {"type": "command", "command": "~/.claude/line.sh"},
}
"#,
];

#[test]
fn removal_restores_the_bytes() {
    for text in SETTINGS {
        let user = User::with_settings(text);
        user.install().unwrap();
        assert_eq!(user.count(), user.known_events(), "{text:?}\n{}", user.text());
        let text_after = user.text();
        user.install().unwrap();
        assert_eq!(user.text(), text_after, "{text:?}: a second installation changes nothing");
        user.remove().unwrap();
        assert_eq!(user.text(), *text);
    }
}

#[test]
fn removal_without_the_record_leaves_at_most_whitespace() {
    let blank = |text: &str| text.replace(['\n', '\r', ' '], "").replace("{}", "");
    for text in SETTINGS {
        let user = User::with_settings(text);
        user.install().unwrap();
        user.lose_record();
        user.remove().unwrap();
        let remaining = user.text();
        let has_nothing =
            blank(text).is_empty() || text.contains("nothing") || text.contains("only");
        let had_empty_hooks = text.contains("{}") || text.contains("[]");
        let is_same = blank(&remaining) == blank(text);
        assert!(is_same || has_nothing || had_empty_hooks, "{text:?}\n{remaining:?}");
        assert!(remaining.contains("only") == text.contains("only"));
    }
}

#[test]
fn an_installation_adds_one_line_per_event_in_the_style_of_the_file() {
    let user = User::with_settings("{\n    \"hooks\": {\n        \"Stop\": []\n    }\n}\n");
    user.install().unwrap();
    let (home, text) = (user.home.path().display().to_string(), user.text());
    let id = user.registry.registered(&user.target).unwrap()[0].command.id.clone().unwrap();
    assert_eq!(id.len(), 16);
    let lines: Vec<String> = text.lines().take(5).map(|line| line.replace(&home, "~")).collect();
    let command = |event| {
        format!(
            r#"{{ "hooks": [{{ "type": "command", "command": "'~/.local/share/tenter/bin/tenter-hook' claude-code {event} --home '~' --id {id}", "timeout": 600 }}] }}"#
        )
        .replace('\'', "")
    };
    let expected = [
        "{".to_owned(),
        "    \"hooks\": {".to_owned(),
        format!("        \"Stop\": [{}],", command("Stop")),
        format!("        \"SessionStart\": [{}],", command("SessionStart")),
        format!("        \"UserPromptSubmit\": [{}],", command("UserPromptSubmit")),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn fail_closed_sets_the_hosts_switch_where_blocking_is_possible() {
    let user = User::with_settings("{}");
    user.install().unwrap();
    user.install_with(Options { fail_closed: true, ..newest() });
    let settings = user.json();
    let blocking: Vec<&str> = settings["hooks"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, groups)| groups[0]["hooks"][0]["onFailure"] == "block")
        .map(|(event, _)| event.as_str())
        .collect();
    assert_eq!(blocking, ["UserPromptSubmit", "PreToolUse", "PreSkillShellCommand"]);
    assert_eq!(user.count(), user.target.host.events.len(), "the first registration is replaced");
    assert!(user.registry.records()[0].fail_closed);
    let text = user.text();
    user.install_with(Options::default());
    assert_eq!(user.text(), text, "it stays so");
    user.remove().unwrap();
    assert_eq!(user.text(), "{}");
}

#[test]
fn the_form_of_the_command_stays_if_the_version_of_the_host_is_unknown() {
    let user = User::with_settings("{}");
    let command = |user: &User| user.json()["hooks"]["Stop"][0]["hooks"][0].clone();
    let version = HostVersion::parse;
    for (version, has_args) in
        [(None, false), (version("2.1.330"), true), (None, true), (version("2.1.285"), false)]
    {
        let plan = user.plan(Options { version, ..Options::default() }).unwrap();
        user.registry.install(&plan, &user.program(), super::NOW).unwrap();
        assert_eq!(command(&user).get("args").is_some(), has_args, "{version:?}");
        assert!(user.registry.registered(&user.target).unwrap().iter().all(|one| one.is_intact));
    }
    user.remove().unwrap();
    assert_eq!(user.text(), "{}");
}

#[test]
fn the_users_edits_around_a_registration_stay() {
    let user = User::with_settings("{\n  \"model\": \"opus\"\n}\n");
    user.install().unwrap();
    let edit = user
        .text()
        .replace(
            "\"model\": \"opus\",",
            "\"model\": \"sonnet\", // cheaper\n  \"theme\": \"dark\",",
        )
        .replace(
            "\"Stop\": [{ \"hooks\": [{",
            "\"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }, {",
        )
        .replace("\"SessionEnd\": [", "// my own\n    \"SessionEnd\": [\n      { \"hooks\": [] },");
    std::fs::write(user.file(), &edit).unwrap();
    user.remove().unwrap();
    let expected = r#"{
  "model": "sonnet", // cheaper
  "theme": "dark",
  "hooks": {
    "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }],
    // my own
    "SessionEnd": [
      { "hooks": [] }]
  }
}
"#;
    assert_eq!(user.text(), expected);
}

#[test]
fn entries_of_other_programs_are_not_touched() {
    let other = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "tenter-hook codex PreToolUse"}]}]}}"#;
    let user = User::with_settings(other);
    user.remove().unwrap();
    assert_eq!(user.text(), other);
    user.install().unwrap();
    assert_eq!(user.json()["hooks"]["PreToolUse"].as_array().unwrap().len(), 2);
}

#[test]
fn a_registration_that_was_edited_is_repaired() {
    let user = User::with_settings("{}");
    user.install().unwrap();
    let text = user.text();
    std::fs::write(user.file(), text.replace("600", "5").replace("\"Stop\"", "\"Sotp\"")).unwrap();
    let handlers = user.registry.registered(&user.target).unwrap();
    assert!(handlers.iter().all(|handler| !handler.is_intact));
    user.install().unwrap();
    assert!(
        user.registry.registered(&user.target).unwrap().iter().all(|handler| handler.is_intact)
    );
    assert_eq!(without_empty_hooks(user.json()), parse(&text));
}

#[test]
fn texts_that_cannot_be_edited_are_located_and_left_alone() {
    let deep = format!("{{\"a\": {}", "[".repeat(100_000));
    for (text, line, column, message) in [
        ("{\n  \"model\": opus\n}", 2, 12, "not valid JSON"),
        ("{\n  'model': 1\n}", 2, 3, "not valid JSON"),
        ("{\"a\": 1 \"b\": 2}", 1, 8, "not valid JSON"),
        ("{\"a\": 1", 1, 1, "not valid JSON"),
        ("[]", 1, 1, "not a JSON object"),
        ("{\"hooks\": []}", 1, 11, "\"hooks\" is not an object"),
        ("{\n\"hooks\": {\"Stop\": {}}}", 2, 19, "\"Stop\" is not an array"),
        ("{\"hooks\": {},\n \"hooks\": {}}", 2, 11, "\"hooks\" is there twice"),
        (&deep, 1, 517, "nesting depth"),
    ] {
        let user = User::with_settings(text);
        let error = user.install().unwrap_err();
        assert!(error.message.contains(message), "{text:.40}: {error:?}");
        let span = error.span.unwrap();
        assert_eq!((span.line, span.column), (line, column), "{text:.40}");
        assert_eq!(error.path.as_deref(), Some(user.file()));
        assert!(error.help.is_some());
        assert_eq!(user.text(), text);
        if !text.contains("Stop") {
            assert!(user.remove().is_err());
        }
    }
}

/// Generates whitespace and comments.
fn gap() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        "",
        "",
        " ",
        "\n",
        "\n  ",
        "\r\n\t",
        " // note\n",
        " /* note */ ",
        "\n // a\n // b\n",
    ])
    .prop_map(str::to_owned)
}

/// Generates a comma after the last child, or none.
fn last_comma() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "", ","])
}

fn list(
    brackets: (&'static str, &'static str),
    children: Vec<(String, String, String)>,
    end: (String, &str),
) -> String {
    let (gap, comma) = end;
    let comma = if children.is_empty() { "" } else { comma };
    let children: Vec<String> = children
        .into_iter()
        .map(|(before, child, after)| format!("{before}{child}{after}"))
        .collect();
    format!("{}{}{comma}{gap}{}", brackets.0, children.join(","), brackets.1)
}

fn scalar() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "1",
        "true",
        "null",
        "\"x // no comment, \\\" {\"",
        "\"é\"",
        "-1.5e3",
    ])
    .prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = String> {
    scalar().prop_recursive(3, 20, 3, |inner| {
        let children = prop::collection::vec((gap(), inner, gap()), 0..4);
        (children, gap(), last_comma(), any::<bool>()).prop_map(
            |(children, gap, comma, is_object)| {
                if !is_object {
                    return list(("[", "]"), children, (gap, comma));
                }
                let member =
                    |(index, (before, child, after)): (usize, (String, String, String))| {
                        (before, format!("\"k{index}\": {child}"), after)
                    };
                list(
                    ("{", "}"),
                    children.into_iter().enumerate().map(member).collect(),
                    (gap, comma),
                )
            },
        )
    })
}

fn group() -> impl Strategy<Value = String> {
    let handler =
        (gap(), Just("{\"type\": \"command\", \"command\": \"say hi\"}".to_owned()), gap());
    (prop::collection::vec(handler, 0..3), gap(), last_comma(), any::<bool>()).prop_map(
        |(handlers, gap, comma, has_matcher)| {
            let handlers = list(("[", "]"), handlers, (gap, comma));
            let matcher = if has_matcher { "\"matcher\": \"Bash\", " } else { "" };
            format!("{{{matcher}\"hooks\": {handlers}}}")
        },
    )
}

fn groups() -> impl Strategy<Value = String> {
    (prop::collection::vec((gap(), group(), gap()), 0..3), gap(), last_comma())
        .prop_map(|(groups, gap, comma)| list(("[", "]"), groups, (gap, comma)))
}

fn hooks() -> impl Strategy<Value = String> {
    let names = vec!["PreToolUse", "Stop", "Notification", "SessionEnd"];
    let events = prop::sample::subsequence(names, 0..4).prop_flat_map(|names| {
        names
            .into_iter()
            .map(|name| {
                (gap(), groups().prop_map(move |groups| format!("\"{name}\": {groups}")), gap())
            })
            .collect::<Vec<_>>()
    });
    (events, gap(), last_comma())
        .prop_map(|(events, gap, comma)| list(("{", "}"), events, (gap, comma)))
}

/// Generates settings with the member `hooks` at any position.
fn settings() -> impl Strategy<Value = String> {
    let members = prop::collection::vec((gap(), value(), gap()), 0..4);
    let hooks = prop::option::of((gap(), hooks(), gap()));
    let ends = (gap(), gap(), gap(), last_comma());
    (members, hooks, any::<prop::sample::Index>(), ends).prop_map(
        |(members, hooks, index, (before, inner, after, comma))| {
            let member = |(index, (before, child, after)): (usize, (String, String, String))| {
                (before, format!("\"m{index}\": {child}"), after)
            };
            let mut members: Vec<_> = members.into_iter().enumerate().map(member).collect();
            if let Some((before, hooks, after)) = hooks {
                let at = index.index(members.len() + 1);
                members.insert(at, (before, format!("\"hooks\": {hooks}"), after));
            }
            format!("{before}{}{after}", list(("{", "}"), members, (inner, comma)))
        },
    )
}

/// Removes empty events, and an empty `hooks`.
fn without_empty_hooks(mut settings: Value) -> Value {
    if let Some(hooks) = settings.get_mut("hooks").and_then(Value::as_object_mut) {
        hooks.retain(|_, groups| *groups != json!([]));
    }
    let object = settings.as_object_mut().unwrap();
    object.retain(|name, value| name != "hooks" || *value != Value::Object(Map::new()));
    settings
}

#[test]
fn text_after_removed_events_does_not_become_part_of_a_comment() {
    for events in ["\"PreToolUse\": [],", "\"PreToolUse\": [],\n\"PostToolUse\": [],"] {
        let text = format!(
            "{{\"hooks\": {{ // note\n{events}\n\"Stop\": [], /* note */ \"Notification\": []}}}}\n"
        );
        let user = User::with_settings(&text);
        user.install().unwrap();
        user.lose_record();
        user.remove().unwrap();
        assert_eq!(user.count(), 0, "it is still valid");
        assert_eq!(user.json()["hooks"], json!({"Notification": []}));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_settings_are_restored(text in settings()) {
        let user = User::with_settings(&text);
        user.install().unwrap();
        prop_assert_eq!(user.count(), user.known_events());
        let text_after = user.text();
        user.install().unwrap();
        prop_assert_eq!(user.text(), text_after.clone());
        user.lose_record();
        user.install().unwrap();
        prop_assert_eq!(user.text(), text_after);
        user.remove().unwrap();
        prop_assert_eq!(user.count(), 0);
        prop_assert_eq!(without_empty_hooks(user.json()), without_empty_hooks(parse(&text)));
        prop_assert_eq!(user.text().matches("note").count(), text.matches("note").count());

        std::fs::write(user.file(), &text).unwrap();
        user.install().unwrap();
        user.remove().unwrap();
        prop_assert_eq!(user.text(), text);
    }

    #[test]
    fn a_comment_anywhere_survives_removal(text in settings(), at in any::<prop::sample::Index>()) {
        let user = User::with_settings(&text);
        user.install().unwrap();
        let text_after = user.text();
        let ends: Vec<usize> = text_after.match_indices('\n').map(|(at, _)| at).collect();
        prop_assume!(!ends.is_empty());
        let at = ends[at.index(ends.len())];
        let at = if text_after[..at].ends_with('\r') { at - 1 } else { at };
        let (before, after) = text_after.split_at(at);
        std::fs::write(user.file(), format!("{before} // the user's{after}")).unwrap();
        user.remove().unwrap();
        prop_assert_eq!(user.count(), 0);
        prop_assert_eq!(without_empty_hooks(user.json()), without_empty_hooks(parse(&text)));
        prop_assert_eq!(user.text().matches("the user's").count(), 1);
    }
}
