//! `tenter models`: the known models, their context windows and prices, and whether a key is set. Keys are never shown, and
//! `key_command` programs are not run.

use std::path::Path;

use serde::Serialize;
use tenter_base::{one_line, sanitize, visible};
use tenter_commands::project::Project;
use tenter_providers::ModelFacts;
use tenter_terminal::{
    BAD, CommandResult, Env, Exit, FAINT, Failure, GOOD, HEADING, NAME, styled, ui,
};

use crate::agent::models::{Provider, facts, strays, variable_that_is_set};

/// Maximum number of characters of a name.
const MAX_NAME_LENGTH: usize = 80;

/// List known models with their context windows and prices.
///
/// The last column says whether a key is set. Other models can be used as well: PROVIDER/NAME is sent unchanged.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// List only the models of this provider.
    #[arg(value_name = "PROVIDER")]
    provider: Option<String>,
    /// Print a JSON array: name, context_window, input_price, output_price, cache_read_price, cache_write_price, images, key.
    #[arg(long)]
    json: bool,
}

/// A model in the list. Prices are in US dollars per million tokens.
#[derive(Debug, Serialize)]
struct ModelRow {
    name: String,
    context_window: u64,
    input_price: Option<f64>,
    output_price: Option<f64>,
    cache_read_price: Option<f64>,
    cache_write_price: Option<f64>,
    images: Option<bool>,
    key: Availability,
}

/// The source of a provider's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Availability {
    /// In an environment variable.
    Yes,
    /// A program is configured that prints it.
    Command,
    /// It is missing.
    No,
    /// The provider needs none.
    NotNeeded,
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let project = Project::open(env, project)?;
    let providers = match &args.provider {
        Some(name) => vec![Provider::find(&project, name)?],
        None => Provider::all(&project)?,
    };
    let mut rows = Vec::new();
    for provider in &providers {
        rows.extend(list_for_provider(&project, provider)?);
    }
    if args.json {
        ui::json(&rows);
    } else if !rows.is_empty() {
        table(&rows);
    }
    for provider in providers.iter().filter(|provider| provider.models(&project).is_empty()) {
        let (name, address) = (visible(provider.name), sanitize(&provider.address));
        ui::note(format!("{name}/NAME is any model of the server at {address}."));
    }
    ui::diagnostics(project.findings().chain(&strays(&project)));
    Ok(Exit::Done)
}

fn list_for_provider(project: &Project, provider: &Provider) -> Result<Vec<ModelRow>, Failure> {
    let key = availability(provider, project.env);
    let models = provider.models(project).into_iter();
    models
        .map(|model| {
            let name = format!("{}/{model}", provider.name);
            let table = project.settings.models.models.get(&name);
            Ok(ModelRow::new(name, &facts(provider, &provider.address, model, table)?, key))
        })
        .collect()
}

fn availability(provider: &Provider, env: &Env) -> Availability {
    if variable_that_is_set(provider, env).is_some() {
        Availability::Yes
    } else if provider.key_command.is_some() {
        Availability::Command
    } else if provider.needs_key() {
        Availability::No
    } else {
        Availability::NotNeeded
    }
}

impl ModelRow {
    fn new(name: String, facts: &ModelFacts, key: Availability) -> Self {
        let prices = facts.prices;
        Self {
            name,
            context_window: facts.context_window,
            input_price: prices.map(|prices| prices.input),
            output_price: prices.map(|prices| prices.output),
            cache_read_price: prices.and_then(|prices| prices.cache_read),
            cache_write_price: prices.and_then(|prices| prices.cache_write),
            images: facts.images,
            key,
        }
    }
}

fn table(rows: &[ModelRow]) {
    let name_of = |row: &ModelRow| one_line(&row.name, MAX_NAME_LENGTH);
    let width = rows.iter().map(|row| name_of(row).chars().count()).max().unwrap_or(0);
    ui::out(styled(
        HEADING,
        format!("{:width$}  {:>9}  {:>7}  {:>7}  KEY", "NAME", "WINDOW", "$/M IN", "$/M OUT"),
    ));
    for row in rows {
        let name = name_of(row);
        let padding = " ".repeat(width - name.chars().count());
        ui::out(format!(
            "{}{padding}  {:>9}  {:>7}  {:>7}  {}",
            styled(NAME, name),
            row.context_window,
            price(row.input_price),
            price(row.output_price),
            row.key.shown()
        ));
    }
}

fn price(price: Option<f64>) -> String {
    price.map_or_else(|| "-".to_owned(), |price| price.to_string())
}

impl Availability {
    fn shown(self) -> String {
        match self {
            Self::Yes => styled(GOOD, "yes"),
            Self::Command => styled(GOOD, "command"),
            Self::No => styled(BAD, "no"),
            Self::NotNeeded => styled(FAINT, "not needed"),
        }
    }
}
