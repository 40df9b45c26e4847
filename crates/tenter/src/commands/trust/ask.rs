//! Shows what waits for trust, and asks.

use std::io::{self, BufRead as _};
use std::path::Path;

use tenter_agent::recipe::Recipe;
use tenter_base::untrusted_file;
use tenter_engine::catalog::{Catalog, Untrusted};
use tenter_engine::trust::Trusted;

use super::changes::{self, Length};
use crate::agent::recipes;
use crate::env::Env;
use crate::failure::{Exit, Failure};
use crate::hooks::{Project, Trusting};
use crate::sanitize::{one_line, visible};
use crate::ui::{self, NAME, NOTICE, styled};
use crate::user_only;

/// Characters of a recipe's command lines that are shown.
const SHOWN_PROGRAMS: usize = 200;

/// What to do about what is not trusted (R46).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Trust it as it is now.
    Trust,
    /// Go on without it.
    Skip,
    /// Do not go on.
    Refuse,
}

/// What of a project waits for trust.
#[derive(Clone, Copy)]
pub(crate) struct Waiting<'w> {
    /// Hooks.
    pub(crate) hooks: &'w [Untrusted],
    /// Recipes that start programs.
    pub(crate) recipes: &'w [Recipe],
}

impl<'w> Waiting<'w> {
    /// The hooks of a catalog.
    pub(crate) fn hooks_of(catalog: &'w Catalog) -> Self {
        Self { hooks: catalog.untrusted(), recipes: &[] }
    }

    /// One recipe.
    pub(crate) fn recipe(recipe: &'w Recipe) -> Self {
        Self { hooks: &[], recipes: std::slice::from_ref(recipe) }
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(self) -> bool {
        self.hooks.is_empty() && self.recipes.is_empty()
    }

    /// The names by which the store would know it.
    pub(crate) fn names(self) -> Vec<String> {
        let hooks = self.hooks.iter().map(|hook| hook.name.clone());
        hooks.chain(self.recipes.iter().map(recipes::trust_name)).collect()
    }

    /// What it is, in the plural.
    fn kind(self) -> &'static str {
        match (self.hooks, self.recipes) {
            (_, []) => "hooks that",
            ([], _) => "recipes that may do more than speak, and that",
            _ => "hooks, and recipes that may do more than speak, that",
        }
    }

    /// That nothing runs, and the ways on (R46).
    pub(crate) fn refusal(self) -> Failure {
        let names = self.names().iter().map(|name| visible(name)).collect::<Vec<_>>().join(", ");
        let message = match (self.hooks, self.recipes) {
            ([], [recipe]) => format!(
                "the recipe {} comes with the project and starts programs, and you have not trusted it: {}",
                recipe.name,
                programs_of(recipe)
            ),
            _ => format!("this project has {} you have not trusted: {names}", self.kind()),
        };
        let help = match (self.hooks, self.recipes) {
            ([], [recipe]) => format!(
                "look at it with `tenter recipe show {} --raw` and run `tenter trust`; or trust it as it is with --trust-project",
                recipe.name
            ),
            ([], _) => "look at them and run `tenter trust`; or trust them as they are with `tenter trust --yes`".to_owned(),
            _ => "look at them and run `tenter trust`; or trust them as they are with --trust-project; or do without hooks \
                  with --no-hooks"
                .to_owned(),
        };
        Failure { exit: Exit::Untrusted, ..Failure::new(message) }.help(help)
    }
}

/// Asks the person. Where nobody can be asked, nothing may run and nothing may be left out: refuse.
pub(crate) fn ask(project: &Project, waiting: Waiting) -> Choice {
    // An agent can make itself a terminal.
    if !Env::can_ask() || user_only::is_below_agent(project.env, project.root()) {
        return Choice::Refuse;
    }
    ask_through(project.trusting(), waiting, &mut read_at_terminal)
}

/// Shows a prompt and returns the line that the user types; none where nobody can be asked.
pub(crate) fn read_at_terminal(prompt: &str) -> Option<String> {
    if !Env::can_ask() {
        return None;
    }
    ui::note_piece(prompt);
    let mut line = String::new();
    let length = io::stdin().lock().read_line(&mut line).unwrap_or(0);
    (length > 0).then_some(line)
}

/// Asks the person, who answers through `read`: it shows a prompt and returns a line, or none when the dialogue is over.
pub(crate) fn ask_through(
    trusting: Trusting,
    waiting: Waiting,
    read: &mut dyn FnMut(&str) -> Option<String>,
) -> Choice {
    ui::note(format!(
        "{} {} has {} you have not trusted:",
        styled(NOTICE, "?"),
        visible(&trusting.root.to_string_lossy()),
        waiting.kind()
    ));
    waiting.hooks.iter().for_each(describe_hook);
    changes::show(trusting, waiting.hooks, Length::Short);
    waiting.recipes.iter().for_each(|recipe| describe_recipe(trusting, recipe));
    loop {
        let prompt = "Let them run? [t] trust  [v] view  [s] skip them  [q] quit: ";
        let Some(line) = read(prompt) else { return Choice::Refuse };
        match line.trim().to_lowercase().as_str() {
            "t" | "trust" | "y" | "yes" => return Choice::Trust,
            "s" | "skip" => return Choice::Skip,
            "q" | "quit" | "n" | "no" => return Choice::Refuse,
            "v" | "view" => {
                changes::view(waiting.hooks);
                changes::show(trusting, waiting.hooks, Length::Full);
                waiting.recipes.iter().for_each(view_recipe);
            }
            _ => {}
        }
    }
}

fn describe_hook(hook: &Untrusted) {
    let mut events: Vec<&str> =
        hook.subscriptions.iter().map(|subscription| subscription.spelling).collect();
    events.dedup();
    let before = match &hook.previous {
        Some(previous) if previous.hash == hook.fingerprint => {
            format!("trusted on {}, before you had your own", previous.trusted_at)
        }
        previous => before(previous.as_ref()),
    };
    // An executable's event is not known before it may run: asking it means running it (R11).
    describe(&hook.name, &events.join(", "), &hook.path, &before);
    tell_consequences(hook);
}

/// What trust in a hook brings along that its name does not say.
pub(crate) fn tell_consequences(hook: &Untrusted) {
    let name = visible(&hook.name);
    if let Some(own) = &hook.displaces {
        let own = own.to_string_lossy();
        ui::note(format!("    {name} takes the place of your own {}", visible(&own)));
    }
    if !hook.env.is_empty() {
        ui::note(format!("    {name} asks for {}", one_line(&hook.env.join(", "), SHOWN_PROGRAMS)));
    }
}

fn describe_recipe(trusting: Trusting, recipe: &Recipe) {
    let (name, path) = (recipes::trust_name(recipe), &recipe.origin.path);
    let previous = trusting.store.of(trusting.root).previous(&name, path);
    describe(&name, &wants(recipe), path, &before(previous));
}

/// What trust lets a recipe do.
fn wants(recipe: &Recipe) -> String {
    if recipe.programs().is_empty() {
        "uses tools when a hook calls it back, and no hook watches them".to_owned()
    } else {
        format!("starts {}", programs_of(recipe))
    }
}

fn programs_of(recipe: &Recipe) -> String {
    one_line(&recipe.programs().join("; "), SHOWN_PROGRAMS)
}

/// What was trusted before under this name.
fn before(previous: Option<&Trusted>) -> String {
    match previous {
        None => "new".to_owned(),
        Some(trusted) if trusted.events.is_empty() => {
            format!("changed since you trusted it on {}", trusted.trusted_at)
        }
        Some(trusted) => {
            format!(
                "changed since you trusted it on {} as {}",
                trusted.trusted_at,
                trusted.events.join(", ")
            )
        }
    }
}

fn describe(name: &str, what: &str, path: &Path, before: &str) {
    ui::note(format!(
        "  {}  {what}  {}  {}",
        styled(NAME, visible(name)),
        visible(&path.to_string_lossy()),
        styled(NOTICE, before)
    ));
}

fn view_recipe(recipe: &Recipe) {
    let path = &recipe.origin.path;
    changes::heading(path);
    match untrusted_file::read_to_string(path) {
        Ok(text) => changes::show_text(&text),
        Err(error) => ui::note(format!("cannot be read: {error}")),
    }
}
