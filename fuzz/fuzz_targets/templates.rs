//! Any text is parsed as a recipe or rejected with diagnostics: no panic, no endless loop, and every span is inside the file.
//! The same holds for the templates and conditions of static hooks.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use tenter_agent::recipe::{
    CommandOutput, MAX_OUTPUT_BYTES, Recipe, RecipeLayer, RecipeOrigin, Shell, render,
};
use tenter_engine::configuration::ConfineProfiles;
use tenter_protocol::{Diagnostic, Severity};
use tenter_template::{Condition, Dialect, Inputs, NoShell, Template, TemplateFile};

/// Starts no program; the output is the command itself.
struct Echo;

impl Shell for Echo {
    fn run(&self, program: &str, args: &[String]) -> CommandOutput {
        let failure = args.is_empty().then(|| "failed with exit code 1".to_owned());
        CommandOutput { text: format!("{program} {}", args.join("\n")), failure }
    }
}

fuzz_target!(|bytes: &[u8]| {
    check_static_hook(bytes);
    let origin = RecipeOrigin { layer: RecipeLayer::User, path: "recipe.md".into() };
    let (recipe, diagnostics) = Recipe::read("recipe", origin, bytes, &ConfineProfiles::default());
    check(bytes, &diagnostics);
    let is_invalid = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    assert_eq!(recipe.is_none(), is_invalid);
    let Some(recipe) = recipe else { return };
    let args = BTreeMap::from([("x".to_owned(), "1,2\n3 {{.x}}".to_owned())]);
    match render(&recipe, &args, &Echo) {
        Ok(rendering) => {
            assert!(rendering.text.len() <= MAX_OUTPUT_BYTES);
            assert!(recipe.body().contains("{{") || rendering.text == recipe.body());
            check(bytes, &rendering.warnings);
        }
        Err(diagnostics) => {
            assert!(diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error));
            check(bytes, &diagnostics);
        }
    }
});

fn check_static_hook(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let payload = json!({"x": "1,2", "n": null, "l": [1, {"x": true}], "o": {"x": 0.5, "l": []}});
    let file = || TemplateFile::new("HOOK.md", text);
    let rendering = Template::parse(file(), Dialect::Hook).and_then(|template| {
        template.render(&Inputs { values: &payload, declared_arguments: &[] }, &NoShell)
    });
    match rendering {
        Ok(rendering) => assert!(rendering.text.len() <= MAX_OUTPUT_BYTES),
        Err(diagnostics) => check(bytes, &diagnostics),
    }
    if let Err(diagnostics) =
        Condition::parse(file()).and_then(|condition| condition.holds(&payload))
    {
        check(bytes, &diagnostics);
    }
}

fn check(bytes: &[u8], diagnostics: &[Diagnostic]) {
    let lines = bytes.split(|byte| *byte == b'\n').count();
    for span in diagnostics.iter().filter_map(|diagnostic| diagnostic.span.as_ref()) {
        let length = span.source.chars().count();
        assert!((1..=lines).contains(&span.line));
        assert!((1..=length + 1).contains(&span.column));
        assert!(span.length == 1 || span.column + span.length - 1 <= length);
    }
}
