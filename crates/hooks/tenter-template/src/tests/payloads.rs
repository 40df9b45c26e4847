//! Tests of the hook dialect: nested values, and no programs.

use super::*;

fn payload() -> Value {
    json!({
        "tool_name": "bash",
        "tool_input": {"command": "ls", "todos": ["one", "two"], "background": true, "odd-name": 7},
        "usage": {"current_context_window": 9_000, "max_context_window": 12_000},
        "auto_compact_threshold": 0.8,
        "final_message": null,
        "nothing": {"text": "", "list": [], "zero": 0, "object": {}},
        "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
    })
}

fn attempt(text: &str) -> Result<Rendered, Vec<Diagnostic>> {
    let inputs = Inputs { values: &payload(), declared_arguments: &[] };
    Template::parse(file(text), Dialect::Hook)?.render(&inputs, &NoShell)
}

fn holds(text: &str) -> Result<bool, Vec<Diagnostic>> {
    Condition::parse(file(text))?.holds(&payload())
}

/// Returns the first diagnostic, as `line:column-length id: message`.
fn first<T: std::fmt::Debug>(result: Result<T, Vec<Diagnostic>>) -> String {
    let finding = &result.unwrap_err()[0];
    let at = finding.span.as_ref().unwrap();
    format!("{}:{}-{} {}: {}", at.line, at.column, at.length, finding.id, finding.message)
}

#[test]
fn payload_fields_are_read_at_any_depth() {
    for (text, expected) in [
        ("{{.tool_name}} {{.tool_input.command}}", "bash ls"),
        ("{{index .tool_input.todos 1}}{{index .tool_input \"odd-name\"}}", "two7"),
        ("{{(index .messages 0).content}}{{$.usage.max_context_window}}", "a12000"),
        ("{{$u := .usage}}{{$u.max_context_window}}", "12000"),
        ("{{range .messages}}{{.role}}={{.content}};{{end}}", "user=a;assistant=b;"),
        ("{{range $i, $m := .messages}}{{$i}}{{$m.content}}{{end}}", "0a1b"),
        (
            "{{range $k, $v := .usage}}{{$k}}={{$v}};{{end}}",
            "current_context_window=9000;max_context_window=12000;",
        ),
        ("{{range .nothing.list}}x{{else}}none{{end}}", "none"),
        ("{{with .tool_input}}{{.command}} by {{$.tool_name}}{{end}}", "ls by bash"),
        ("{{.tool_input.background}} {{.auto_compact_threshold}}", "true 0.8"),
        (
            "{{.tool_input.todos}} {{.usage}}",
            "[\"one\", \"two\"] {\"current_context_window\": 9000, \"max_context_window\": 12000}",
        ),
        ("{{len .messages}}{{len .usage}}{{len .tool_name}}", "224"),
        ("{{default .tool_input.path \"none\"}}{{default .gone.deeper \"none\"}}", "nonenone"),
        (
            "{{default .final_message \"none\"}}{{.final_message.content | default \"none\"}}",
            "nonenone",
        ),
        ("{{default .nothing.text \"none\"}}{{default .nothing.zero \"none\"}}", "none0"),
        ("{{percent .usage.current_context_window .usage.max_context_window}}", "75"),
        ("{{percent 2 3}}{{percent 1 0}}", "660"),
        ("{{range split \" \" .tool_input.command}}<{{.}}>{{end}}", "<ls>"),
    ] {
        assert_eq!(attempt(text).unwrap().text, expected, "{text}");
    }
    let whole = attempt("{{.}}").unwrap().text;
    assert_eq!(serde_json::from_str::<Value>(&whole).unwrap(), payload());
}

#[test]
fn conditions_compare_numbers_numerically_and_words_as_text() {
    for (text, expected) in [
        ("gt .usage.current_context_window 8000", true),
        ("gt .usage.current_context_window 10000", false),
        ("ge (percent .usage.current_context_window .usage.max_context_window) 70", true),
        ("lt .auto_compact_threshold \"0.85\"", true),
        ("eq .tool_name \"bash\"", true),
        ("eq .tool_input.background true", true),
        (".tool_input.background", true),
        ("and .tool_input.command (not .tool_input.path)", true),
        (".final_message", false),
        (".nothing.list", false),
        (".nothing.object", false),
        (".nothing.zero", false),
        (".nothing.gone.deeper", false),
        ("index .tool_input.todos 0 | eq \"one\"", true),
        ("true", true),
    ] {
        assert_eq!(holds(text), Ok(expected), "{text}");
    }
}

#[test]
fn errors_in_conditions_have_positions() {
    for (text, expected) in [
        ("", "1:1-1 template-syntax: a value is missing here"),
        ("eq .tool_name", "1:1-2 template-syntax: `eq` takes at least 2 values, not 1"),
        ("{{ .tool_name }}", "1:1-1 template-syntax: `{` is not valid here"),
        ("true}}x{{if true", "1:5-1 template-syntax: `}` is not valid here"),
        (".a == .b", "1:4-1 template-syntax: `==` is not valid here"),
        ("$x := .a", "1:4-2 template-syntax: only a variable can be set"),
        (
            "bash \"true\"",
            "1:1-4 template-syntax: a static hook cannot run programs, so `bash` cannot be used",
        ),
        ("eq .tool_nmae \"x\"", "1:4-10 template-missing-argument: the payload has no `tool_nmae`"),
        (
            "eq .tool_input.comand \"x\"",
            "1:4-18 template-missing-argument: the payload has no `tool_input.comand`",
        ),
        ("eq .usage 1", "1:1-2 template-value: `eq` takes single values, not an object"),
    ] {
        assert_eq!(first(holds(text)), expected, "{text}");
    }
    let help = holds("{{.tool_name}}").unwrap_err()[0].help.clone().unwrap();
    assert!(help.contains("without braces"), "{help}");
    let help = attempt("{{.tool_name}").unwrap_err()[0].help.clone().unwrap();
    assert!(help.contains("between `{{` and `}}`"), "{help}");
    let help = holds("eq .tool_input.comand \"x\"").unwrap_err()[0].help.clone().unwrap();
    assert!(help.ends_with("did you mean `command`?"), "{help}");
}

#[test]
fn errors_in_templates_have_positions() {
    for (text, expected) in [
        (
            "{{bash \"ls\"}}",
            "1:3-4 template-syntax: a static hook cannot run programs, so `bash` cannot be used",
        ),
        (
            "{{if eq 1 (bash \"ls\" | len)}}{{end}}",
            "1:12-4 template-syntax: a static hook cannot run programs, so `bash` cannot be used",
        ),
        (
            "a\n{{.tool_input.gone}}",
            "2:3-16 template-missing-argument: the payload has no `tool_input.gone`",
        ),
        ("{{.tool_name.first}}", "1:3-16 template-value: this is text and has no field `first`"),
        ("{{.final_message}}", "1:3-14 template-value: this is null and cannot be written"),
        (
            "{{range .tool_name}}{{end}}",
            "1:9-10 template-value: this is text, but `range` needs a list",
        ),
        (
            "{{index .tool_input.todos 2}}",
            "1:3-5 template-value: the list has no item 2: it has 2, counted from 0",
        ),
        ("{{percent .tool_name 2}}", "1:3-7 template-value: `percent` takes whole numbers"),
    ] {
        assert_eq!(first(attempt(text)), expected, "{text}");
    }
    let help = attempt("{{quantum}}").unwrap_err()[0].help.clone().unwrap();
    assert!(!help.contains("bash") && help.contains("`percent`"), "{help}");
}

#[test]
fn recipe_arguments_have_no_fields() {
    let template = Template::parse(file("{{(index . \"a\").b}}"), Dialect::Recipe);
    assert_eq!(first(template), "1:16-2 template-syntax: an argument is text and has no parts");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_payload_renders_or_has_diagnostics(
        payload in any_json(),
        text in prop::sample::select(vec![
            "{{.a.b}}", "{{range $k, $v := .a}}{{$k}}{{$v}}{{end}}", "{{with .a}}{{.b}}{{end}}", "{{len .a}}",
            "{{percent .a .b}}", "{{gt .a .b}}", "{{eq .a .b}}", "{{index .a .b}}", "{{index .a 0}}", "{{lines .a}}",
            "{{default .a.b.c .b}}", "{{split \"a\" .b | len}}", "{{.}}", "{{(index . \"a\").b}}", "{{$.a.b.c}}",
        ]),
    ) {
        let template = Template::parse(file(text), Dialect::Hook).unwrap();
        if let Err(diagnostics) = template.render(&Inputs { values: &payload, declared_arguments: &[] }, &NoShell) {
            prop_assert!(!diagnostics.is_empty());
        }
    }

    #[test]
    fn objects_and_lists_are_written_as_json(payload in any_json()) {
        let values = json!({"a": payload});
        let template = Template::parse(file("{{.a}}"), Dialect::Hook).unwrap();
        let text = template.render(&Inputs { values: &values, declared_arguments: &[] }, &NoShell);
        if payload.is_array() || payload.is_object() {
            prop_assert_eq!(serde_json::from_str::<Value>(&text.unwrap().text).unwrap(), payload);
        }
    }

    #[test]
    fn any_condition_parses_or_has_diagnostics(text in prop_oneof![templates(), "\\PC{0,60}"]) {
        match Condition::parse(file(&text)) {
            Ok(condition) => { let _ = condition.holds(&payload()); }
            Err(diagnostics) => prop_assert!(!diagnostics.is_empty()),
        }
    }
}
