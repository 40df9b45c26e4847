//! Any text is a recipe or findings about one: it never panics, never goes on without end, and every place that a finding
//! names is in the file. The same of the texts and conditions of hooks without code.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use tenter_agent::recipe::{
    CommandOutput, LONGEST_OUTPUT, Origin, Recipe, RecipeLayer, Shell, render,
};
use tenter_protocol::{Diagnostic, Severity};
use tenter_template::{Condition, Dialect, File, Inputs, NoShell, Template};

/// Programs that are not started: what one would print is what it was asked.
struct Echo;

impl Shell for Echo {
    fn run(&self, program: &str, args: &[String]) -> CommandOutput {
        let failure = args.is_empty().then(|| "failed with exit code 1".to_owned());
        CommandOutput { text: format!("{program} {}", args.join("\n")), failure }
    }
}

fuzz_target!(|bytes: &[u8]| {
    of_hooks(bytes);
    let origin = Origin { layer: RecipeLayer::User, path: "recipe.md".into() };
    let (recipe, found) = Recipe::read("recipe", origin, bytes);
    check(bytes, &found);
    let broken = found.iter().any(|finding| finding.severity == Severity::Error);
    assert_eq!(recipe.is_none(), broken);
    let Some(recipe) = recipe else { return };
    let args = BTreeMap::from([("x".to_owned(), "1,2\n3 {{.x}}".to_owned())]);
    match render(&recipe, &args, &Echo) {
        Ok(rendered) => {
            assert!(rendered.text.len() <= LONGEST_OUTPUT);
            assert!(recipe.body().contains("{{") || rendered.text == recipe.body());
            check(bytes, &rendered.warnings);
        }
        Err(found) => {
            assert!(found.iter().any(|finding| finding.severity == Severity::Error));
            check(bytes, &found);
        }
    }
});

fn of_hooks(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let payload = json!({"x": "1,2", "n": null, "l": [1, {"x": true}], "o": {"x": 0.5, "l": []}});
    let file = || File::of("HOOK.md", text);
    let rendered = Template::parse(file(), Dialect::Hook).and_then(|template| {
        template.render(&Inputs { values: &payload, declared: &[] }, &NoShell)
    });
    match rendered {
        Ok(rendered) => assert!(rendered.text.len() <= LONGEST_OUTPUT),
        Err(found) => check(bytes, &found),
    }
    if let Err(found) = Condition::parse(file()).and_then(|condition| condition.holds(&payload)) {
        check(bytes, &found);
    }
}

fn check(bytes: &[u8], found: &[Diagnostic]) {
    let lines = bytes.split(|byte| *byte == b'\n').count();
    for place in found.iter().filter_map(|finding| finding.span.as_ref()) {
        let length = place.source.chars().count();
        assert!((1..=lines).contains(&place.line));
        assert!((1..=length + 1).contains(&place.column));
        assert!(place.length == 1 || place.column + place.length - 1 <= length);
    }
}
