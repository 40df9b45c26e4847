//! Shows what is not trusted yet, and asks.

use std::path::Path;

use tenter_base::{one_line, untrusted_file, visible};
use tenter_engine::inspect::{Catalog, Untrusted};
use tenter_engine::trust::Trusted;
use tenter_protocol::confinement::Confinement;
use tenter_protocol::manifest::HttpEndpoint;
use tenter_terminal::question::{Choice, ReadLine, choose, read_at_terminal};
use tenter_terminal::{Env, Exit, Failure, NAME, NOTICE, pager, styled, ui};

use super::changes;
use super::record::{ProjectRecipe, TrustRecord};
use crate::project::{Project, TrustContext};
use crate::user_only;

/// Number of rows of the screen for the question.
const OTHER_ROWS: usize = 3;
/// Maximum number of characters shown of a recipe's command lines.
const SHOWN_PROGRAMS: usize = 200;

/// The user's choice about untrusted hooks, recipes or servers (R46).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustChoice {
    /// Trust it as it is now.
    Trust,
    /// Trust these, by their names in the trust store, and continue without the others.
    Only(Vec<String>),
    /// Continue without it.
    Skip,
    /// Do not continue.
    Refuse,
}

impl TrustChoice {
    /// Returns the hooks and recipes that the user trusts.
    pub fn trusted(&self, pending: PendingTrust) -> (Vec<Untrusted>, Vec<ProjectRecipe>) {
        let is_trusted = |name: &str| match self {
            Self::Trust => true,
            Self::Only(names) => names.iter().any(|one| one == name),
            Self::Skip | Self::Refuse => false,
        };
        let hooks = pending.hooks.iter().filter(|hook| is_trusted(&hook.name)).cloned();
        let recipes = pending.recipes.iter();
        let recipes =
            recipes.filter(|one| is_trusted(TrustRecord::from_recipe(one).name())).cloned();
        (hooks.collect(), recipes.collect())
    }
}

/// An answer to the question.
#[derive(Clone)]
enum TrustReply {
    Decided(TrustChoice),
    /// Ask about each.
    Each,
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
const EACH: Choice<TrustReply> =
    Choice { letter: "e", label: "each", words: &["each"], value: TrustReply::Each };
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
const SKIP_OF_PLUGIN: Choice<TrustReply> = Choice {
    letter: "s",
    label: "skip",
    words: &["skip", "n", "no", "q", "quit"],
    value: TrustReply::Decided(TrustChoice::Skip),
};

/// The untrusted hooks and recipes of a project.
#[derive(Clone, Copy)]
pub struct PendingTrust<'p> {
    /// Hooks.
    pub hooks: &'p [Untrusted],
    /// Recipes that start programs.
    pub recipes: &'p [ProjectRecipe],
}

impl<'p> PendingTrust<'p> {
    /// Returns the untrusted hooks of a catalog.
    pub fn hooks_of(catalog: &'p Catalog) -> Self {
        Self { hooks: catalog.untrusted(), recipes: &[] }
    }

    /// Returns one recipe.
    pub fn recipe(recipe: &'p ProjectRecipe) -> Self {
        Self { hooks: &[], recipes: std::slice::from_ref(recipe) }
    }

    /// Checks whether nothing is pending.
    pub fn is_empty(self) -> bool {
        self.hooks.is_empty() && self.recipes.is_empty()
    }

    /// Returns the names that it would have in the trust store.
    pub fn names(self) -> Vec<String> {
        let hooks = self.hooks.iter().map(|hook| hook.name.clone());
        let recipes =
            self.recipes.iter().map(|recipe| TrustRecord::from_recipe(recipe).name().to_owned());
        hooks.chain(recipes).collect()
    }

    /// Returns names what is pending, as a plural noun with the beginning of a relative clause.
    fn kind(self) -> &'static str {
        match (self.hooks, self.recipes) {
            (_, []) => "hooks that",
            ([], _) => "recipes that can start programs or use tools, and that",
            _ => "hooks, and recipes that can start programs or use tools, that",
        }
    }

    /// Returns the failure of a command that cannot continue without trust (R46).
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
    describe_pending(context, pending);
    let is_single = pending.hooks.len() + pending.recipes.len() == 1;
    let choices = [TRUST, VIEW, SKIP, QUIT];
    let choices = if is_single { choices.to_vec() } else { with_each(choices) };
    loop {
        match decide(&choices, &|| view(context, pending), read) {
            TrustReply::Decided(choice) => return choice,
            TrustReply::Each => return ask_each(context, pending, read),
            TrustReply::View => {}
        }
    }
}

/// Returns the choices, with that to decide about each.
fn with_each(choices: [Choice<'static, TrustReply>; 4]) -> Vec<Choice<'static, TrustReply>> {
    let [trust, view, skip, quit] = choices;
    vec![trust, view, EACH, skip, quit]
}

/// Asks about each hook and recipe. If the user quits, nothing is trusted.
fn ask_each(context: TrustContext, pending: PendingTrust, read: &mut ReadLine) -> TrustChoice {
    let hooks = pending.hooks.chunks(1).map(|hooks| PendingTrust { hooks, recipes: &[] });
    let recipes = pending.recipes.chunks(1).map(|recipes| PendingTrust { hooks: &[], recipes });
    let mut names = Vec::new();
    let skip = Choice { label: "skip it", ..SKIP };
    let choices = [TRUST, VIEW, skip, QUIT];
    for one in hooks.chain(recipes) {
        describe_pending(context, one);
        match decide(&choices, &|| view(context, one), read) {
            TrustReply::Decided(TrustChoice::Trust) => names.extend(one.names()),
            TrustReply::Decided(TrustChoice::Refuse) => return TrustChoice::Refuse,
            _ => {}
        }
    }
    if names.is_empty() { TrustChoice::Skip } else { TrustChoice::Only(names) }
}

fn describe_pending(context: TrustContext, pending: PendingTrust) {
    pending.hooks.iter().for_each(|hook| describe_hook(context, hook));
    changes::short(context, pending.hooks).iter().for_each(ui::note);
    pending.recipes.iter().for_each(|recipe| describe_recipe(context, recipe));
}

/// Shows everything that would run, in the user's pager if it is longer than the screen.
fn view(context: TrustContext, pending: PendingTrust) {
    let mut lines = changes::view(pending.hooks);
    lines.extend(changes::full(context, pending.hooks));
    lines.extend(pending.recipes.iter().flat_map(recipe_lines));
    show_paged(context.project, &lines);
}

fn show_paged(project: Option<&Project>, lines: &[String]) {
    let text = lines.join("\n") + "\n";
    let is_long = lines.len() + OTHER_ROWS > ui::rows();
    let project = project.filter(|_| is_long);
    let pager = project.and_then(|project| Some((project, pager::wanted(project.env)?)));
    let is_shown = pager.is_some_and(|(project, pager)| {
        let vars = project.program_environment();
        pager::show(project.env, pager, vars, &ui::for_stdout(&text)).unwrap_or(false)
    });
    if !is_shown {
        lines.iter().for_each(ui::note);
    }
}

/// Asks at the terminal whether the hooks of a plugin may run; no where the user cannot be asked.
pub fn ask_hooks_of_plugin(hooks: &[Untrusted]) -> bool {
    let choices = [TRUST, VIEW, SKIP_OF_PLUGIN];
    let view = || changes::view(hooks).iter().for_each(ui::note);
    let reply = decide(&choices, &view, &mut read_at_terminal);
    matches!(reply, TrustReply::Decided(TrustChoice::Trust))
}

/// Asks until the user decides; `view` shows everything that would run.
fn decide(choices: &[Choice<TrustReply>], view: &dyn Fn(), read: &mut ReadLine) -> TrustReply {
    loop {
        match choose("Let them run?", choices, read) {
            Some(TrustReply::View) => view(),
            Some(reply) => return reply,
            None => return TrustReply::Decided(TrustChoice::Refuse),
        }
    }
}

fn describe_hook(context: TrustContext, hook: &Untrusted) {
    if changes::is_shipped_guard(hook) {
        let name = styled(NAME, visible(&hook.name));
        ui::note(format!("  {name}  {}", changes::SHIPPED));
        return;
    }
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
    describe(&hook.name, &events.join(", "), relative(context, &hook.path), &before);
    note_consequences(hook);
}

/// Notes the hooks that are not trusted, so that they judge nothing. Returns true if there are some.
pub(crate) fn note_untrusted(catalog: &Catalog) -> bool {
    let names = catalog.untrusted().iter().map(|hook| visible(&hook.name).into_owned());
    let names = names.collect::<Vec<_>>().join(", ");
    if !names.is_empty() {
        ui::note(format!("Not judged, because they are not trusted: {names}. Run `tenter trust`."));
    }
    !names.is_empty()
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
    if hook.is_pure {
        ui::note(format!(
            "    {name} runs confined: no network, no secrets, no writes but in its own directory"
        ));
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
    let (record, path) = (TrustRecord::from_recipe(recipe), &recipe.path);
    let previous = context.store.project(context.root).previous(record.name(), path);
    describe(record.name(), &abilities(recipe), relative(context, path), &before(previous));
    if !recipe.confinements.is_empty() {
        let words =
            recipe.confinements.iter().map(Confinement::in_words).collect::<Vec<_>>().join("; ");
        ui::note(format!("    its programs run confined: {}", one_line(&words, SHOWN_PROGRAMS)));
    }
}

/// Returns a path relative to the project, if it is in it.
fn relative<'p>(context: TrustContext, path: &'p Path) -> &'p Path {
    path.strip_prefix(context.root).unwrap_or(path)
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
        Some(previous) if previous.events.is_empty() => {
            format!("changed since you trusted it on {}", previous.trusted_at)
        }
        Some(previous) => {
            format!(
                "changed since you trusted it on {} as {}",
                previous.trusted_at,
                previous.events.join(", ")
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

fn recipe_lines(recipe: &ProjectRecipe) -> Vec<String> {
    let lines = match untrusted_file::read_to_string(&recipe.path) {
        Ok(text) => changes::text_lines(&text),
        Err(error) => vec![format!("cannot read it: {error}")],
    };
    [vec![changes::heading(&recipe.path)], lines].concat()
}
