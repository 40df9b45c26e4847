//! Shows what is not trusted yet, and asks.

use std::path::Path;

use tenter_base::sanitize::{one_line, visible};
use tenter_base::untrusted_file;
use tenter_engine::inspect::{Catalog, Untrusted};
use tenter_engine::trust::Trusted;
use tenter_protocol::manifest::HttpEndpoint;
use tenter_terminal::env::Env;
use tenter_terminal::failure::{Exit, Failure};
use tenter_terminal::question::{Choice, ReadLine, choose, read_at_terminal};
use tenter_terminal::ui::{self, NAME, NOTICE, styled};

use super::changes::{self, Length};
use super::record::{ProjectRecipe, TrustRecord};
use crate::project::{Project, TrustContext};
use crate::user_only;

/// Maximum number of characters shown of a recipe's command lines.
const SHOWN_PROGRAMS: usize = 200;

/// The user's choice about untrusted hooks, recipes or servers (R46).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustChoice {
    /// Trust it as it is now.
    Trust,
    /// Continue without it.
    Skip,
    /// Do not continue.
    Refuse,
}

/// An answer to the question.
#[derive(Clone, Copy)]
enum TrustReply {
    Decided(TrustChoice),
    View,
}

const TRUST: Choice<TrustReply> = Choice {
    letter: "t",
    label: "trust",
    words: &["trust", "y", "yes"],
    value: TrustReply::Decided(TrustChoice::Trust),
};
const VIEW: Choice<TrustReply> =
    Choice { letter: "v", label: "view", words: &["view"], value: TrustReply::View };
const SKIP: Choice<TrustReply> = Choice {
    letter: "s",
    label: "skip them",
    words: &["skip"],
    value: TrustReply::Decided(TrustChoice::Skip),
};
const QUIT: Choice<TrustReply> = Choice {
    letter: "q",
    label: "quit",
    words: &["quit", "n", "no"],
    value: TrustReply::Decided(TrustChoice::Refuse),
};
/// Skips the hooks of a plugin, which is installed either way.
const SKIP_OF_PLUGIN: Choice<TrustReply> =
    Choice { label: "skip", words: &["skip", "n", "no", "q", "quit"], ..SKIP };

/// The untrusted hooks and recipes of a project.
#[derive(Clone, Copy)]
pub struct PendingTrust<'p> {
    /// Hooks.
    pub hooks: &'p [Untrusted],
    /// Recipes that start programs.
    pub recipes: &'p [ProjectRecipe],
}

impl<'p> PendingTrust<'p> {
    /// The untrusted hooks of a catalog.
    pub fn hooks_of(catalog: &'p Catalog) -> Self {
        Self { hooks: catalog.untrusted(), recipes: &[] }
    }

    /// One recipe.
    pub fn recipe(recipe: &'p ProjectRecipe) -> Self {
        Self { hooks: &[], recipes: std::slice::from_ref(recipe) }
    }

    /// Checks whether nothing is pending.
    pub fn is_empty(self) -> bool {
        self.hooks.is_empty() && self.recipes.is_empty()
    }

    /// The names that it would have in the trust store.
    pub fn names(self) -> Vec<String> {
        let hooks = self.hooks.iter().map(|hook| hook.name.clone());
        let recipes =
            self.recipes.iter().map(|recipe| TrustRecord::of_recipe(recipe).name().to_owned());
        hooks.chain(recipes).collect()
    }

    /// Names what is pending, as a plural noun with the beginning of a relative clause.
    fn kind(self) -> &'static str {
        match (self.hooks, self.recipes) {
            (_, []) => "hooks that",
            ([], _) => "recipes that can start programs or use tools, and that",
            _ => "hooks, and recipes that can start programs or use tools, that",
        }
    }

    /// The failure of a command that cannot continue without trust (R46).
    pub fn refusal(self) -> Failure {
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
                "review it with `tenter recipe show {} --raw`, then run `tenter trust`; or pass --trust-project to trust it as it is",
                recipe.name
            ),
            ([], _) => "review them, then run `tenter trust`; or run `tenter trust --yes` to trust them as they are".to_owned(),
            _ => "review them, then run `tenter trust`; or pass --trust-project to trust them as they are, or --no-hooks to run \
                  without hooks"
                .to_owned(),
        };
        Failure { exit: Exit::Untrusted, ..Failure::new(message) }.help(help)
    }
}

/// Asks the user. Where the user cannot be asked, nothing may run and nothing may be left out: refuse.
pub fn ask(project: &Project, pending: PendingTrust) -> TrustChoice {
    // An agent can make itself a terminal.
    if !Env::can_ask() || user_only::is_below_agent(project.env, project.root()) {
        return TrustChoice::Refuse;
    }
    ask_through(project.trust_context(), pending, &mut read_at_terminal)
}

/// Asks the user, who answers through `read`.
pub fn ask_through(
    context: TrustContext,
    pending: PendingTrust,
    read: &mut ReadLine,
) -> TrustChoice {
    ui::note(format!(
        "{} {} has {} you have not trusted:",
        styled(NOTICE, "?"),
        visible(&context.root.to_string_lossy()),
        pending.kind()
    ));
    pending.hooks.iter().for_each(describe_hook);
    changes::show(context, pending.hooks, Length::Short);
    pending.recipes.iter().for_each(|recipe| describe_recipe(context, recipe));
    let view = || {
        changes::view(pending.hooks);
        changes::show(context, pending.hooks, Length::Full);
        pending.recipes.iter().for_each(view_recipe);
    };
    decide(&[TRUST, VIEW, SKIP, QUIT], &view, read)
}

/// Asks at the terminal whether the hooks of a plugin may run; no where the user cannot be asked.
pub fn ask_hooks_of_plugin(hooks: &[Untrusted]) -> bool {
    let choices = [TRUST, VIEW, SKIP_OF_PLUGIN];
    decide(&choices, &|| changes::view(hooks), &mut read_at_terminal) == TrustChoice::Trust
}

/// Asks until the user decides; `view` shows everything that would run.
fn decide(choices: &[Choice<TrustReply>], view: &dyn Fn(), read: &mut ReadLine) -> TrustChoice {
    loop {
        match choose("Let them run?", choices, read) {
            Some(TrustReply::Decided(choice)) => return choice,
            Some(TrustReply::View) => view(),
            None => return TrustChoice::Refuse,
        }
    }
}

fn describe_hook(hook: &Untrusted) {
    let mut events: Vec<&str> =
        hook.subscriptions.iter().map(|subscription| subscription.spelling).collect();
    events.dedup();
    let before = match &hook.previous {
        Some(previous) if previous.hash == hook.fingerprint => {
            format!("trusted on {}, before you had a hook of the same name", previous.trusted_at)
        }
        previous => before(previous.as_ref()),
    };
    // An executable's event is not known before it may run: asking it means running it (R11).
    describe(&hook.name, &events.join(", "), &hook.path, &before);
    note_consequences(hook);
}

/// Shows what trust in a hook means beyond its name: which hook it replaces, which variables it
/// gets, what it may request.
pub fn note_consequences(hook: &Untrusted) {
    let name = visible(&hook.name);
    if let Some(own) = &hook.displaces {
        let own = own.to_string_lossy();
        ui::note(format!("    {name} replaces your own hook {}", visible(&own)));
    }
    if !hook.env.is_empty() {
        ui::note(format!(
            "    {name} asks for the variables {}",
            one_line(&hook.env.join(", "), SHOWN_PROGRAMS)
        ));
    }
    for service in &hook.services {
        ui::note(format!("    {name} {} (the service {})", service.meaning(), service.as_str()));
    }
    if let Some(endpoint) = &hook.endpoint {
        ui::note(format!("    {name} {}", visible(&sent_to(endpoint))));
    }
}

/// Describes what a hook behind HTTP sends, as the end of a sentence that begins with its name.
fn sent_to(HttpEndpoint { url, headers }: &HttpEndpoint) -> String {
    let variables: Vec<&str> = headers.values().map(String::as_str).collect();
    let with = match variables.as_slice() {
        [] => String::new(),
        _ => format!(", with the values of {}", variables.join(", ")),
    };
    format!("sends its payloads to {url}{with}")
}

fn describe_recipe(context: TrustContext, recipe: &ProjectRecipe) {
    let (record, path) = (TrustRecord::of_recipe(recipe), &recipe.path);
    let previous = context.store.project(context.root).previous(record.name(), path);
    describe(record.name(), &abilities(recipe), path, &before(previous));
}

/// Describes what trust lets a recipe do.
fn abilities(recipe: &ProjectRecipe) -> String {
    if recipe.programs.is_empty() {
        "can use tools that no hook watches, when a hook calls it".to_owned()
    } else {
        format!("starts {}", programs_of(recipe))
    }
}

fn programs_of(recipe: &ProjectRecipe) -> String {
    one_line(&recipe.programs.join("; "), SHOWN_PROGRAMS)
}

/// Compares it with what was trusted under the same name.
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

fn view_recipe(recipe: &ProjectRecipe) {
    let path = &recipe.path;
    changes::heading(path);
    match untrusted_file::read_to_string(path) {
        Ok(text) => changes::show_text(&text),
        Err(error) => ui::note(format!("cannot read it: {error}")),
    }
}
