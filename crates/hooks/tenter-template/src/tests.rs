//! Tests of the language: what templates render to, and the diagnostics of invalid ones.

use std::cell::RefCell;

use proptest::prelude::*;
use serde_json::json;
use tenter_protocol::Severity;

use super::*;

mod payloads;

/// A shell that runs nothing: it records the commands, and `fail` fails.
#[derive(Default)]
struct Recorded(RefCell<Vec<String>>);

impl Shell for Recorded {
    fn run(&self, program: &str, args: &[String]) -> CommandOutput {
        let line = format!("{program} {}", args.join("|"));
        self.0.borrow_mut().push(line.clone());
        match program {
            "fail" => CommandOutput {
                text: String::new(),
                failure: Some("failed with exit code 128: fatal: no".to_owned()),
            },
            "list" => CommandOutput { text: args.join("\n"), failure: None },
            _ => CommandOutput { text: format!("<{line}>"), failure: None },
        }
    }
}

fn file(text: &str) -> TemplateFile {
    TemplateFile::new("r.md", text)
}

fn values() -> Value {
    json!({"name": "Ada", "empty": "", "n": "12", "files": "a.rs, b.rs", "odd-name": "odd"})
}

fn recipe(file: TemplateFile) -> Result<Template, Vec<Diagnostic>> {
    Template::parse(file, Dialect::Recipe)
}

fn fill(template: &Template, shell: &dyn Shell) -> Result<Rendered, Vec<Diagnostic>> {
    template.render(&Inputs { values: &values(), declared_arguments: &["optional"] }, shell)
}

fn attempt(text: &str) -> Result<Rendered, Vec<Diagnostic>> {
    fill(&recipe(file(text))?, &Recorded::default())
}

fn render(text: &str) -> String {
    let Rendered { text: rendered, warnings } =
        attempt(text).unwrap_or_else(|findings| panic!("{text}: {findings:#?}"));
    assert_eq!(warnings, [], "{text}");
    rendered
}

/// Returns the diagnostics, as `line:column-length id: message`.
fn found(text: &str) -> Vec<String> {
    let findings = match attempt(text) {
        Ok(rendering) => rendering.warnings,
        Err(diagnostics) => diagnostics,
    };
    findings
        .iter()
        .map(|finding| {
            let at = finding.span.as_ref().unwrap();
            format!("{}:{}-{} {}: {}", at.line, at.column, at.length, finding.id, finding.message)
        })
        .collect()
}

#[test]
fn templates_render_as_in_go() {
    for (text, expected) in [
        ("plain } text {", "plain } text {"),
        ("Hello {{.name}}!", "Hello Ada!"),
        ("Hello {{ .name }}!", "Hello Ada!"),
        ("a \n {{- .name -}} \n b", "aAdab"),
        ("a {{- /* no */ -}} b{{/* {{ */}}c", "abc"),
        ("{{ /* lenient */ }}", ""),
        ("{{-3}} {{- 4}}", "-34"),
        ("{{\"q\\\"\\t\\u00e9\\x41\"}}{{`r\\n}}`}}", "q\"\té\u{41}r\\n}}"),
        ("{{12}}{{-5}}{{true}}", "12-5true"),
        ("{{default .name \"y\"}}{{default .empty \"y\"}}{{default .missing \"y\"}}", "Adayy"),
        ("{{.name | default \"y\"}}{{.missing | default \"y\"}}", "Aday"),
        ("{{.missing | default (default .also \"z\")}}", "z"),
        ("{{bash \"git\" \"diff\" .name}}", "<git diff|Ada>"),
        ("{{bash \"echo\" \"{{.name}}; rm\" 3 | len}}", "22"),
        (
            "{{if .name}}y{{else}}n{{end}}{{if .empty}}y{{else}}n{{end}}{{if .optional}}y{{end}}",
            "yn",
        ),
        ("{{if eq .name \"Bob\"}}1{{else if eq .name \"Ada\"}}2{{else}}3{{end}}", "2"),
        ("{{if eq .name \"Bob\"}}1{{else if .empty}}2{{else}}3{{end}}", "3"),
        (
            "{{if eq .name \"Bob\" \"Ada\"}}y{{end}}{{if ne .n \"12\"}}n{{end}}{{if eq .n 12}}y{{end}}",
            "yy",
        ),
        (
            "{{if and .name .empty}}y{{else}}n{{end}}{{or .empty .optional .name}}{{not .name}}",
            "nAdafalse",
        ),
        ("{{and .empty (bash \"never\")}}{{or .name (bash \"never\")}}", "Ada"),
        (
            "{{if lt .n 9}}lt{{end}}{{if gt .n 9}}gt{{end}}{{if le .n 12}}le{{end}}{{ge \"b\" \"a\"}}",
            "gtletrue",
        ),
        (
            "{{with .name}}[{{.}} {{$.n}}]{{else}}none{{end}}{{with .empty}}x{{else}}none{{end}}",
            "[Ada 12]none",
        ),
        ("{{with $x := .name}}{{$x}}{{end}}{{if $y := .n}}{{$y}}{{else}}{{$y}}{{end}}", "Ada12"),
        ("{{range split \",\" .files}}<{{.}}>{{end}}", "<a.rs><b.rs>"),
        ("{{range $f := .files | split \",\"}}{{$f}}={{.}};{{end}}", "a.rs=a.rs;b.rs=b.rs;"),
        (
            "{{range $i, $f := lines (bash \"list\" \"x\" \"\" \"y\")}}{{$i}}{{$f}} {{end}}",
            "0x 1y ",
        ),
        ("{{range lines .empty}}x{{else}}nothing{{end}}", "nothing"),
        (
            "{{range $k, $v := .}}{{$k}}={{$v}};{{end}}",
            "empty=;files=a.rs, b.rs;n=12;name=Ada;odd-name=odd;",
        ),
        ("{{index . \"odd-name\"}}{{index (split \",\" .files) 1}}", "oddb.rs"),
        ("{{len .name}}{{len (split \",\" .files)}}{{len \"\"}}", "320"),
        ("{{$x := .name}}{{if true}}{{$x = \"Bob\"}}{{$y := 1}}{{end}}{{$x}}", "Bob"),
        ("{{$x := 1}}{{range lines \"a\\nb\"}}{{$x := .}}{{$x}}{{end}}{{$x}}", "ab1"),
        ("{{\n  .name\n  | default\n  \"y\"\n}}", "Ada"),
        ("{{eq (len .name) 3}}", "true"),
    ] {
        assert_eq!(render(text), expected, "{text}");
    }
}

#[test]
fn errors_have_positions() {
    for (text, expected) in [
        ("a\nb {{ .name ", "2:3-2 template-syntax: the action that begins here has no end"),
        ("{{ .name {{.n}}", "1:1-2 template-syntax: the action that begins here has no end"),
        ("{{/* x", "1:1-4 template-syntax: the comment that begins here has no end"),
        ("{{/* x */ .n}}", "1:1-4 template-syntax: a comment must be alone in its action"),
        ("{{ \"a }}", "1:4-1 template-syntax: the text that begins here has no end"),
        ("{{ `a }}", "1:4-1 template-syntax: the text that begins here has no end"),
        ("{{ \"\\q\" }}", "1:5-2 template-syntax: `\\\\q` is not an escape sequence"),
        ("{{ 'a' }}", "1:4-1 template-syntax: `'` is not valid here"),
        ("{{ 1.5 }}", "1:4-3 template-syntax: `1.5` is not a number"),
        ("{{ .a == .b }}", "1:7-1 template-syntax: `==` is not valid here"),
        ("{{ .odd-name }}", "1:8-1 template-syntax: `-` is not valid here"),
        ("{{}}", "1:3-2 template-syntax: a value is missing here"),
        ("{{.name |}}", "1:10-2 template-syntax: a value is missing here"),
        ("{{.name | .n}}", "1:11-2 template-syntax: a value cannot receive the value before it"),
        ("{{.name .n}}", "1:9-2 template-syntax: unexpected value"),
        ("{{.name.first}}", "1:8-6 template-syntax: an argument is text and has no parts"),
        ("{{nmae}}", "1:3-4 template-syntax: there is no function `nmae`"),
        ("{{eq .name}}", "1:3-2 template-syntax: `eq` takes at least 2 values, not 1"),
        ("{{default .name}}", "1:3-7 template-syntax: `default` takes 2 values, not 1"),
        ("{{eq .n (len .name}}", "1:9-1 template-syntax: this parenthesis is not closed"),
        ("{{len .name)}}", "1:12-1 template-syntax: there is no open parenthesis here"),
        ("{{.x := 1}}", "1:6-2 template-syntax: only a variable can be set"),
        ("{{eq len 3}}", "1:6-3 template-syntax: `len` needs parentheses here"),
        ("x{{end}}", "1:2-7 template-syntax: there is no open block here"),
        ("{{if .name}}x", "1:1-12 template-syntax: the `if` that begins here has no end"),
        ("{{range .}}{{else}}x", "1:1-11 template-syntax: the `range` that begins here has no end"),
        (
            "{{if .n}}{{else}}{{else}}{{end}}",
            "1:18-8 template-syntax: the block already has an `else`",
        ),
        ("{{if .n}}{{end .n}}", "1:16-2 template-syntax: nothing can follow `end` here"),
        ("{{define \"x\"}}{{end}}", "1:1-14 template-syntax: `define` is not supported"),
        ("{{printf \"%s\" .n}}", "1:3-6 template-syntax: there is no function `printf`"),
        ("{{.nmae}}", "1:3-5 template-missing-argument: the argument `nmae` was not given"),
        (
            "{{eq .optional \"x\"}}",
            "1:6-9 template-missing-argument: the argument `optional` was not given",
        ),
        (
            "{{$x := .zz}}\n{{$x}}",
            "1:9-3 template-missing-argument: the argument `zz` was not given",
        ),
        ("{{$x}}", "1:3-2 template-value: there is no variable `$x` here"),
        (
            "{{if true}}{{$x := 1}}{{end}}{{$x = 2}}",
            "1:32-2 template-value: there is no variable `$x` here",
        ),
        ("{{with .name}}{{.n}}{{end}}", "1:17-2 template-value: this is text and has no field `n`"),
        ("{{range .name}}{{end}}", "1:9-5 template-value: this is text, but `range` needs a list"),
        ("{{lines .name}}", "1:3-11 template-value: this is a list and cannot be written"),
        ("{{.}}", "1:3-1 template-value: this is all arguments together and cannot be written"),
        (
            "{{index (lines .name) 4}}",
            "1:3-5 template-value: the list has no item 4: it has 1, counted from 0",
        ),
        ("{{split \"\" .name}}", "1:3-5 template-value: the separator of `split` is empty"),
        (
            "{{if .nmae}}{{end}}",
            "1:6-5 template-undeclared-argument: the argument `nmae` is neither given nor declared, so this is false",
        ),
    ] {
        assert_eq!(found(text), [expected], "{text}");
    }
}

#[test]
fn one_error_does_not_hide_the_next() {
    assert_eq!(
        found("{{ 'a' }}\n{{if .x y}}{{nofunc}}{{end}}\n{{ .name"),
        [
            "1:4-1 template-syntax: `'` is not valid here",
            "2:9-1 template-syntax: there is no function `y`",
            "2:14-6 template-syntax: there is no function `nofunc`",
            "3:1-2 template-syntax: the action that begins here has no end",
        ]
        .map(|line| line.replace(
            "2:9-1 template-syntax: there is no function `y`",
            "2:9-1 template-syntax: unexpected value"
        ))
    );
    assert_eq!(found("{{.a}} {{.b}} {{.a}}").len(), 3);
    assert_eq!(
        found("{{range lines \"1\\n2\"}}{{$.a}}{{end}}").len(),
        1,
        "an error in a loop is reported once"
    );
}

#[test]
fn help_suggests_the_nearest_name() {
    let help = |text: &str| attempt(text).unwrap_err()[0].help.clone().unwrap();
    assert!(help("{{.nmae}}").ends_with("did you mean `name`?"), "{}", help("{{.nmae}}"));
    assert!(help("{{defualt .x 1}}").starts_with("did you mean `default`?"));
    assert!(help("{{template \"x\"}}").contains("subset of Go's templates"));
    assert!(help("{{ .odd-name }}").contains("index . \"its-name\""));
}

#[test]
fn a_failed_command_is_shown_in_the_text_and_causes_a_warning() {
    let Rendered { text, warnings } = attempt("a {{bash \"fail\" .name}} b").unwrap();
    assert_eq!(text, "a [bash: fail Ada failed with exit code 128: fatal: no] b");
    assert_eq!((warnings.len(), warnings[0].severity), (1, Severity::Warning));
    assert_eq!(warnings[0].message, "`fail Ada` failed with exit code 128: fatal: no");
}

#[test]
fn no_program_runs_after_an_error() {
    let shell = Recorded::default();
    let template = recipe(file("{{bash \"one\"}}{{bash \"two\" .zz}}{{bash \"three\"}}")).unwrap();
    assert!(fill(&template, &shell).is_err());
    assert_eq!(*shell.0.borrow(), ["one "]);
}

#[test]
fn depth_length_and_steps_are_limited() {
    let blocks =
        |count: usize| format!("{}x{}", "{{if true}}".repeat(count), "{{end}}".repeat(count));
    assert_eq!(render(&blocks(MAX_DEPTH)), "x");
    assert!(
        found(&blocks(MAX_DEPTH + 1))[0]
            .contains("template-limit: blocks are nested more than 100 deep")
    );
    assert!(!found(&"{{if true}}".repeat(50_000)).is_empty());
    let parentheses = |count: usize| format!("{{{{{}1{}}}}}", "(".repeat(count), ")".repeat(count));
    assert_eq!(render(&parentheses(MAX_DEPTH)), "1");
    assert!(
        found(&parentheses(100_000))[0]
            .contains("template-limit: parentheses are nested more than 100 deep")
    );
    assert_eq!(render(&format!("{{{{1{}}}}}", " | not".repeat(20_000))), "true");
    let list = |count: usize| format!("{{{{$l := split \",\" \"{}\"}}}}", "a,".repeat(count));
    assert_eq!(render(&format!("{}{{{{range $l}}}}{{{{end}}}}", list(MAX_RANGE_ITEMS))), "");
    let longer = format!("{}{{{{range $l}}}}{{{{end}}}}", list(MAX_RANGE_ITEMS + 1));
    assert!(found(&longer)[0].contains("has 10001 items"));
    let loops =
        format!("{}{{{{range $l}}}}{{{{range $l}}}}{{{{end}}}}{{{{end}}}}", list(MAX_RANGE_ITEMS));
    assert!(found(&loops)[0].contains("more than 1000000 steps"));
    let text = "x".repeat(1000);
    let flood = format!("{}{{{{range $l}}}}{text}{{{{end}}}}", list(MAX_RANGE_ITEMS));
    assert!(found(&flood)[0].contains("longer than 4194304 bytes"));
    assert_eq!(found(&"{{".repeat(100_000)).len(), 20);
    assert_eq!(found(&"{{x}}".repeat(100_000)).len(), 20);
}

#[test]
fn positions_are_relative_to_the_start_of_the_file() {
    let text = "---\nname: x\n---\n{{.zz}}".to_owned();
    let template = recipe(TemplateFile { path: "r.md".into(), text, body: 16 }).unwrap();
    let errors = fill(&template, &Recorded::default()).unwrap_err();
    let place = errors[0].span.as_ref().unwrap();
    assert_eq!((place.line, place.column, place.source.as_str()), (4, 3, "{{.zz}}"));
    assert_eq!(template.text(), "{{.zz}}");
}

/// Returns random texts that are more likely to be templates than random characters are.
fn templates() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{{",
        "}}",
        "{{-",
        "-}}",
        " ",
        "if ",
        "else",
        "else if ",
        "end",
        "range ",
        "with ",
        ".name",
        ".zz",
        ".",
        "$x",
        "$",
        ":=",
        "=",
        "|",
        "(",
        ")",
        ",",
        "\"",
        "`",
        "\\",
        "/*",
        "*/",
        "eq ",
        "default ",
        "bash ",
        "lines ",
        "split ",
        "index ",
        "12",
        "-",
        "é",
        "\n",
        "\"a\"",
        "true",
        "{{if .name}}",
        "{{end}}",
        "{{range .}}",
        "{{else}}",
        "x",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_parses_or_has_diagnostics(text in prop_oneof![templates(), "\\PC{0,80}", "[{}.\"`a-z \n|$()-]{0,80}"]) {
        match attempt(&text) {
            Ok(rendering) => prop_assert!(rendering.text.len() <= MAX_OUTPUT_BYTES),
            Err(diagnostics) => {
                prop_assert!(!diagnostics.is_empty());
                for finding in &diagnostics {
                    let place = finding.span.as_ref().unwrap();
                    prop_assert!(place.line <= text.split('\n').count());
                    prop_assert!(place.column <= place.source.chars().count() + 1);
                    prop_assert!(finding.help.is_some());
                }
            }
        }
    }

    #[test]
    fn text_without_actions_renders_to_itself(text in "[^{]{0,40}(\\{[^{]{1,40}){0,4}") {
        prop_assert_eq!(render(&text), text);
    }

    #[test]
    fn values_are_not_parsed_as_templates(value in "\\PC{0,40}") {
        let values = json!({"v": value.as_str()});
        let inputs = Inputs { values: &values, declared_arguments: &[] };
        let template = recipe(file("<{{.v}}>{{bash \"list\" .v}}")).unwrap();
        let text = template.render(&inputs, &Recorded::default()).unwrap();
        prop_assert_eq!(text.text, format!("<{value}>{value}"));
    }

    #[test]
    fn quoted_text_round_trips(value in "\\PC{0,40}") {
        let text = value.replace('\\', "\\\\").replace('"', "\\\"");
        prop_assert_eq!(render(&format!("{{{{\"{text}\"}}}}")), value);
    }
}
