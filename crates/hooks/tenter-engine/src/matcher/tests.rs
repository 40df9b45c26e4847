//! The rules of matchers: R19 to R21.

use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use tenter_protocol::facts::Facts;
use tenter_protocol::{Body, Event, Scope, manifest};

fn matcher(tool: Option<&str>, pattern: Option<&str>) -> Matcher {
    let text = MatcherText { tool: tool.map(str::to_owned), pattern: pattern.map(str::to_owned) };
    Matcher::new(&text)
}

fn call(name: &str, input: &Value) -> ToolCall {
    ToolCall { id: "1".into(), name: name.into(), input: input.as_object().unwrap().clone() }
}

/// Returns the name by which a matcher matches a call.
fn matched(tool: Option<&str>, pattern: Option<&str>, call: &ToolCall) -> Option<String> {
    let matcher = matcher(tool, pattern);
    let search = matcher.matches(call).unwrap().map(|search| search.tool_name.to_owned());
    assert_eq!(matcher.explain(call).is_match(), search.is_some(), "explain and matches disagree");
    let copy: Matcher = serde_json::from_str(&serde_json::to_string(&matcher).unwrap()).unwrap();
    let read_match = copy.matches(call).unwrap().map(|search| search.tool_name.to_owned());
    assert_eq!(read_match, search, "the serialised matcher and the original disagree");
    search
}

fn bash(command: &str) -> ToolCall {
    call("bash", &json!({"command": command}))
}

fn write(path: &str) -> ToolCall {
    call("file_write", &json!({"file_path": path, "text": "x"}))
}

#[test]
fn without_parts_every_tool_matches_by_its_own_name() {
    assert_eq!(matched(None, None, &bash("ls")).as_deref(), Some("bash"));
    assert_eq!(matched(None, None, &call("PowerShell", &json!({}))).as_deref(), Some("PowerShell"));
}

#[test]
fn the_specifications_shell_matches_bash_and_the_payload_says_shell() {
    let call = bash("rm -rf /tmp/old-files");
    let name = matched(Some("Shell"), None, &call);
    assert_eq!(name.as_deref(), Some("Shell"));
    let scope = Scope {
        conversation_id: "c".into(),
        cwd: "/p".into(),
        time: "T".into(),
        ..Scope::default()
    };
    let event = Event { scope, body: Body::BeforeTool(call) };
    let payload =
        manifest::payload(&event, "before_tool", name.as_deref(), &Facts::default(), true)
            .to_line();
    assert!(
        payload.contains(r#""tool_name": "Shell", "tool_input": {"command": "rm -rf /tmp/"#),
        "{payload}"
    );
}

#[test]
fn the_specifications_matchers_for_file_writes() {
    let rule = |path| matched(Some("WriteFile"), Some(r"\.(py|js|ts)$"), &write(path));
    assert_eq!(rule("src/app.py").as_deref(), Some("WriteFile"));
    assert_eq!(rule("src/app.tsx"), None);
    assert_eq!(rule("app.pyc"), None);
    assert_eq!(matched(Some("WriteFile"), Some(r"\.py$"), &bash("cat app.py")), None);
}

#[test]
fn the_specifications_matchers_for_commands_and_directories() {
    let sensitive =
        |command| matched(Some("Shell"), Some("(rm -rf|mkfs|dd if=/dev/zero)"), &bash(command));
    assert!(sensitive("sudo mkfs.ext4 /dev/sda1").is_some());
    assert!(sensitive("rm -r build").is_none());
    assert!(matched(Some("Shell"), Some("rm -rf /|mkfs|>:/dev/sda"), &bash("rm -rf /")).is_some());
    let directories = |call: &ToolCall| matched(None, Some("/etc/passwd|/var/www"), call).is_some();
    assert!(directories(&bash("cat /etc/passwd")));
    assert!(directories(&write("/var/www/index.html")));
    assert!(!directories(&write("/srv/www/index.html")));
}

#[test]
fn searches_are_unanchored_and_anchors_narrow_them() {
    let power_shell = call("PowerShell", &json!({}));
    assert_eq!(matched(Some("Shell"), None, &power_shell).as_deref(), Some("PowerShell"));
    assert_eq!(matched(Some("^Shell$"), None, &power_shell), None);
    assert_eq!(matched(Some("^Shell$"), None, &bash("ls")).as_deref(), Some("Shell"));
    assert_eq!(matched(Some("^shel$|^SHELL$"), None, &bash("ls")), None);
}

#[test]
fn a_tools_own_name_takes_precedence_over_its_aliases() {
    assert_eq!(matched(Some("(?i)bash|shell"), None, &bash("ls")).as_deref(), Some("bash"));
    assert_eq!(matched(Some("Bash|Shell"), None, &bash("ls")).as_deref(), Some("Bash"));
    assert_eq!(matched(Some("file"), None, &write("a")).as_deref(), Some("file_write"));
}

#[test]
fn both_parts_must_match() {
    assert!(matched(Some("Shell"), Some("mkfs"), &bash("ls")).is_none());
    assert!(matched(Some("Shell"), Some("mkfs"), &write("mkfs")).is_none());
    assert!(matched(Some("Shell"), Some("mkfs"), &bash("mkfs")).is_some());
}

#[test]
fn numbers_booleans_nested_texts_and_the_whole_input_are_searched() {
    let call = call(
        "file_edit",
        &json!({"edits": [{"path": "a.py"}, {"path": "b.rs"}], "timeout": 90, "all": true, "x": null}),
    );
    for pattern in [r"\.py$", r"^b\.rs$", "^90$", "^true$", r#""timeout": 90, "all": true"#, "null"]
    {
        assert!(matched(None, Some(pattern), &call).is_some(), "{pattern}");
    }
    for pattern in ["^null$", "^edits$", r#""timeout":90"#] {
        assert!(matched(None, Some(pattern), &call).is_none(), "{pattern}");
    }
}

#[test]
fn an_explanation_names_the_match_or_the_texts_tried() {
    let call = call("file_edit", &json!({"edits": [{"path": "a.py"}, {"path": "b.rs"}], "n": 1}));
    let explanation = matcher(Some("EditFile"), Some(r"\.rs$")).explain(&call);
    let search = |place: &str, text: &str| Search::Found { place: place.into(), text: text.into() };
    assert_eq!(explanation.tool.unwrap().search, search("EditFile", "EditFile"));
    assert_eq!(explanation.pattern.unwrap().search, search("edits[1].path", ".rs"));

    let explanation = matcher(Some("^x$"), Some("nowhere")).explain(&call);
    let Search::NotFound { tried } = explanation.tool.unwrap().search else { panic!("found") };
    assert_eq!(tried[..2], ["file_edit", "Edit"]);
    let finding = explanation.pattern.unwrap();
    let tried = ["edits[0].path", "edits[1].path", "n", "the whole input"].map(str::to_owned);
    assert_eq!(finding.search, Search::NotFound { tried: tried.to_vec() });
    assert_eq!(finding.expression, "nowhere");
}

#[test]
fn each_file_of_a_patch_is_matched_as_file_path() {
    let patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: .env\n+x\n*** End Patch";
    let call = call("file_edit", &json!({"patch": patch}));
    assert_eq!(matched(Some("^Edit$"), Some(r"\.py$"), &call).as_deref(), Some("Edit"));
    assert_eq!(matched(Some("^Write$"), Some(r"^\.env$"), &call).as_deref(), Some("Write"));
    assert!(matched(None, Some(r#"^\{"file_path": "src/a"#), &call).is_some());
    assert!(matched(None, Some(r"\.rs$"), &call).is_none());
}

#[test]
fn a_long_match_is_truncated() {
    let finding = matcher(None, Some("(?s).+")).explain(&bash(&"é".repeat(1000))).pattern.unwrap();
    let text = format!("{}…", "é".repeat(79));
    assert_eq!(finding.search, Search::Found { place: "command".into(), text });
}

#[test]
fn an_invalid_part_is_named() {
    let text = MatcherText { tool: Some("Shell".into()), pattern: Some("(rm".into()) };
    assert_eq!(
        Matcher::new(&text).matches(&bash("rm")).unwrap_err().to_string(),
        "matcher.pattern: it is not a regular expression: unclosed group (at character 1)"
    );
}

#[test]
fn an_aborted_search_is_neither_match_nor_mismatch() {
    let matcher = matcher(Some("Shell"), Some(r"^(a|a|aa)+\1$"));
    let call = bash(&("a".repeat(60) + "!"));
    assert_eq!(matcher.matches(&call).unwrap_err().part, Part::Pattern);
    assert!(matches!(matcher.explain(&call).pattern.unwrap().search, Search::GivenUp { .. }));
    assert_eq!(matcher.matches(&write("aa")), Ok(None), "the tool settles it before");
}

#[test]
fn an_input_of_ten_megabytes_is_matched() {
    let call = write(&"src/very/long/path/".repeat(10 << 20 >> 4));
    assert!(matched(Some("WriteFile"), Some(r"\.py$"), &call).is_none());
    assert!(matched(Some("WriteFile"), Some(r#"/", "text": "x"\}$"#), &call).is_some());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-20i64..20).prop_map(Value::from),
        "[ab1é\"]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map("[ab]{1,2}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Returns the texts of R19, without the whole input.
fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::Null => vec![],
        Value::String(leaf) => vec![leaf.clone()],
        Value::Bool(_) | Value::Number(_) => vec![value.to_string()],
        Value::Array(elements) => elements.iter().flat_map(leaves).collect(),
        Value::Object(object) => object.values().flat_map(leaves).collect(),
    }
}

proptest! {
    #[test]
    fn a_pattern_matches_what_a_naive_search_matches(
        input in proptest::collection::btree_map("[ab]{1,2}", any_json(), 0..4),
        text in prop_oneof!["[ab1é\"]{1,2}", "[ab]: ", "-?1[0-9]", "true", "null", "\\[\\]"],
    ) {
        let input = Value::Object(input.into_iter().collect());
        let call = call("t", &input);
        let spaced = tenter_protocol::json::to_string(&input);
        let leaves = leaves(&input);
        let naive = leaves.iter().any(|leaf| leaf.contains(&text)) || spaced.contains(&text);
        let literal = regex::escape(&text);
        prop_assert_eq!(matched(None, Some(&literal), &call).is_some(), naive);
        let whole = format!("^(?:{literal})$");
        prop_assert_eq!(matched(None, Some(&whole), &call).is_some(), leaves.contains(&text));
    }

    #[test]
    fn checks_never_panic_and_valid_expressions_can_be_used(text in "[a-c(){}\\[\\]|*+?^$.\\\\!<=:,0-9pdw-]{0,12}") {
        if check_pattern(&text).is_ok() {
            let _ = check_tool(&text);
            let matcher = matcher(Some(&text), Some(&text));
            let _ = matcher.matches(&bash("abc 123"));
        }
    }
}
