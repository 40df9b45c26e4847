//! Exceptions from a rule: of single words, and of whole commands.

use super::*;

/// Returns the name of the rule that stops a command.
fn stops(rule: &Value, command: &str) -> bool {
    rules(json!([rule])).select(&CallSurroundings::read_example(command)).is_some()
}

#[test]
fn an_exception_about_words_of_the_rule_covers_only_these_words() {
    let options = json!({"if": {"program": ["pip"], "flags": {
        "any": ["-i=http*", "--extra-index-url=http*"],
        "none": ["*=https://good.example/*", "--dry-run"],
    }}});
    let operands = json!({"if": {"program": ["x"], "operands": {
        "any": ["https://*"], "none": ["https://good.example/*", "list"],
    }}});
    let excepted_options = json!({
        "if": {"program": ["pip"], "flags": {"any": ["-i=http*", "--extra-index-url=http*"]}},
        "except": [{"flags": {"any": ["*=https://good.example/*", "--dry-run"]}}],
    });
    let excepted_operands = json!({
        "if": {"program": ["x"], "operands": {"any": ["https://*"]}},
        "except": [{"operands": {"any": ["https://good.example/*", "list"]}}],
    });
    let variables = json!({
        "if": {"program": ["pip"], "env": ["*_INDEX=http*"]},
        "except": [{"env": ["*=https://good.example/*", "CI=true"]}],
    });
    for (rule, command, is_stopped) in [
        (&options, "pip install -i https://good.example/a x", false),
        (&options, "pip install -i https://bad.example/a x", true),
        (
            &options,
            "pip install -i https://bad.example/a --extra-index-url https://good.example/a x",
            true,
        ),
        (
            &options,
            "pip install --extra-index-url https://good.example/a -i https://bad.example/a x",
            true,
        ),
        (&options, "pip install -i https://bad.example/a --proxy https://good.example/a x", true),
        (&options, "pip install -i https://bad.example/a --dry-run x", false),
        (&operands, "x i https://good.example/a", false),
        (&operands, "x i https://good.example/a https://bad.example/b", true),
        (&operands, "x list https://bad.example/b", false),
        (&excepted_options, "pip install -i https://good.example/a x", false),
        (
            &excepted_options,
            "pip install -i https://bad.example/a --extra-index-url https://good.example/a x",
            true,
        ),
        (
            &excepted_options,
            "pip install -i https://bad.example/a --proxy https://good.example/a x",
            true,
        ),
        (&excepted_options, "pip install -i https://bad.example/a --dry-run x", false),
        (&excepted_operands, "x i https://good.example/a", false),
        (&excepted_operands, "x i https://good.example/a https://bad.example/b", true),
        (&excepted_operands, "x list https://bad.example/b", false),
        (&variables, "UV_INDEX=https://good.example/a pip install x", false),
        (
            &variables,
            "UV_INDEX=https://bad.example/a PIP_INDEX=https://good.example/a pip install x",
            true,
        ),
        (
            &variables,
            "UV_INDEX=https://bad.example/a HOME_PAGE=https://good.example/a pip install x",
            true,
        ),
        (&variables, "UV_INDEX=https://bad.example/a CI=true pip install x", false),
    ] {
        assert_eq!(stops(rule, command), is_stopped, "{command}");
    }
}

#[test]
fn an_exception_does_not_hold_if_its_own_none_fits() {
    let rule = json!({
        "if": {"program": ["kubectl"], "flags": {"any": ["-n=prod*"]}},
        "except": [{"flags": {"any": ["-n=product*"], "none": ["-n=production*"]}}],
    });
    for (command, is_stopped) in [
        ("kubectl delete pod a -n products", false),
        ("kubectl delete pod a -n production", true),
        ("kubectl delete pod a -n products -n production", true),
        ("kubectl delete pod a -n products -n prod", true),
    ] {
        assert_eq!(stops(&rule, command), is_stopped, "{command}");
    }
}

#[test]
fn words_that_are_not_known_are_not_excepted() {
    let rule = json!({
        "if": {"program": ["x"], "operands": {"any": ["https://*"]}},
        "except": [{"operands": {"any": ["https://good.example/*"]}}],
        "uncertain": "ask",
    });
    assert!(stops(&rule, "x i https://$HOST/a"));
    assert!(stops(&rule, "x i https://good.example/a https://$HOST/a"));
    assert!(!stops(&rule, "x i https://good.example/$NAME"));
}

proptest! {
    /// A command is stopped if one of its values is not excepted, wherever it is.
    #[test]
    fn every_value_counts(good in prop::collection::vec(any::<bool>(), 0..6), excepts in any::<bool>()) {
        let list = json!({"any": ["--url=http*"]});
        let good_list = json!(["--url=http://good/*"]);
        let rule = if excepts {
            json!({"if": {"program": ["x"], "flags": list}, "except": [{"flags": {"any": good_list}}]})
        } else {
            json!({"if": {"program": ["x"], "flags": {"any": ["--url=http*"], "none": good_list}}})
        };
        let name = |good: &bool| if *good { "good" } else { "bad" };
        let options = good.iter().map(|good| format!(" --url=http://{}/a", name(good)));
        let command = format!("x{}", options.collect::<String>());
        prop_assert_eq!(stops(&rule, &command), good.contains(&false), "{}", command);
    }
}
