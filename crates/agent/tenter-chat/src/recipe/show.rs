//! `tenter recipe show`.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use tenter_agent::recipe::{MISSING, Recipe, RecipeBook, Rendered, render};
use tenter_base::{one_line, sanitize};
use tenter_commands::project::Project;
use tenter_proc::Cancel;
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::signals::Interrupts;
use tenter_terminal::{CommandResult, Env, Exit, Failure, ui};

use super::FragmentDirs;
use crate::agent::recipes::{argument, no_recipe};

/// Maximum number of characters shown of a confinement.
const MAX_WORDS: usize = 300;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name, as `tenter recipe list` shows it.
    name: String,
    /// Pass an argument to the recipe; repeatable.
    #[arg(long, short, value_name = "NAME=VALUE", value_parser = argument)]
    arg: Vec<(String, String)>,
    /// Show the source text: nothing is filled in and nothing runs.
    #[arg(long, conflicts_with = "arg")]
    raw: bool,
    #[command(flatten)]
    fragment_dirs: FragmentDirs,
    /// Print a JSON object: name, title, description, layer, path, allowed_tools, allowed_commands, confine, arguments, body, text
    /// (null if it cannot be filled in), findings.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let project = Project::open(env, project)?;
    let book = args.fragment_dirs.book(&project);
    let cancel = Cancel::new();
    let recipe = book.find(&args.name).map_err(|error| no_recipe(&error))?;
    let (text, findings) = if args.raw {
        (None, recipe.warnings().to_vec())
    } else {
        Interrupts::catch(&cancel)?;
        text(&book, &recipe, args, &cancel)
    };
    let is_broken =
        findings.iter().any(|finding| finding.severity == Severity::Error && finding.id != MISSING);
    if args.json {
        ui::json(&json(&recipe, text.as_deref(), &findings));
    } else if !is_broken {
        let prompt = text.as_deref().unwrap_or_else(|| recipe.body());
        ui::out_piece(sanitize(prompt));
        if !prompt.ends_with('\n') {
            ui::out("");
        }
    }
    for confinement in recipe.confinements.iter().filter(|_| !args.json) {
        let words = one_line(&confinement.in_words(), MAX_WORDS);
        ui::note(format!("Its programs run confined: {words}."));
    }
    ui::diagnostics(&findings);
    if is_broken {
        return Err(Failure::new(format!("the recipe {:?} cannot be filled in", recipe.name)));
    }
    if book.has_blocked_programs(&recipe) && !args.raw {
        ui::note(
            "Its programs were not started: the recipe comes with the project and is not trusted; see `tenter trust`.",
        );
    }
    if text.is_none() && !args.raw && !args.json {
        ui::note("Arguments are missing, so the text above is not filled in.");
    }
    Ok(if cancel.is_cancelled() { Exit::Interrupted } else { Exit::Done })
}

/// Returns the prompt, if it can be filled in, and the diagnostics.
fn text(
    book: &RecipeBook,
    recipe: &Recipe,
    args: &Args,
    cancel: &Cancel,
) -> (Option<String>, Vec<Diagnostic>) {
    let shell = book.shell(recipe, cancel);
    let arguments: BTreeMap<String, String> = args.arg.iter().cloned().collect();
    match render(recipe, &arguments, shell.as_ref()) {
        Ok(Rendered { text, warnings }) => (Some(text), warnings),
        Err(findings) => (None, findings),
    }
}

/// Returns a recipe as JSON. `allowed_tools` and `allowed_commands` are null if they are not restricted.
fn json(recipe: &Recipe, text: Option<&str>, findings: &[Diagnostic]) -> Value {
    let arguments = recipe.arguments.iter().map(|argument| {
        json!({
            "name": argument.name,
            "description": argument.description,
            "default": argument.default,
        })
    });
    json!({
        "name": recipe.name,
        "title": recipe.title,
        "description": recipe.description,
        "layer": recipe.layer().as_str(),
        "path": recipe.origin.path.to_string_lossy(),
        "allowed_tools": recipe.allowed_tools,
        "allowed_commands": recipe.allowed_commands,
        "confine": recipe.confinements,
        "arguments": arguments.collect::<Vec<_>>(),
        "body": recipe.body(),
        "text": text,
        "findings": findings,
    })
}
