//! Facts about a model: the built-in table, overridden by the configuration; and warnings about unknown models.

use tenter_base::nearest;
use tenter_commands::project::Project;
use tenter_protocol::{Diagnostic, Severity};
use tenter_providers::{ModelFacts, Prices};
use tenter_settings::ModelName;
use tenter_settings::model_tables::{ModelTable, Price};
use tenter_terminal::Failure;

use super::provider::Provider;

/// Context window of an unknown model, in tokens.
const CONTEXT_WINDOW: u64 = 128_000;
/// Maximum number of suggested names.
const SUGGESTIONS: usize = 3;

/// Returns names similar to `word`, the nearest first; empty if none is similar.
pub(super) fn near<'n>(word: &str, names: &[&'n str]) -> Vec<&'n str> {
    let mut names = names.to_vec();
    let next = |_| {
        let nearest = nearest(word, names.iter().copied())?;
        names.retain(|name| *name != nearest);
        Some(nearest)
    };
    (0..SUGGESTIONS).map_while(next).collect()
}

/// Returns the facts about a model of `provider`, whose server is at `address`; `table` is its configuration.
///
/// Known prices are the provider's own: the price of another server that uses the same name is unknown unless
/// it is configured.
pub(crate) fn facts(
    provider: &Provider,
    address: &str,
    model: &str,
    table: Option<&ModelTable>,
) -> Result<ModelFacts, Failure> {
    let built_in = tenter_providers::facts(provider.name, model);
    let table = table.copied().unwrap_or_default();
    let window = known_window(provider, model, Some(&table));
    let known_prices = built_in
        .and_then(|built_in| built_in.prices)
        .filter(|_| provider.is_itself_at(address) || table.has_prices());
    let prices = prices(&table, known_prices).map_err(|HalfAPrice| {
        Failure::usage(format!(
            "[models.\"{}/{model}\"] has only one of the two prices for input and output",
            provider.name
        ))
        .help("`input_price` and `output_price` belong together")
    })?;
    Ok(ModelFacts {
        context_window: window.unwrap_or(CONTEXT_WINDOW),
        prices,
        images: table.images.or(built_in.and_then(|built_in| built_in.images)),
    })
}

/// Returns the model's context window in tokens, if known.
pub(super) fn known_window(
    provider: &Provider,
    model: &str,
    table: Option<&ModelTable>,
) -> Option<u64> {
    let built_in =
        || tenter_providers::facts(provider.name, model).map(|facts| facts.context_window);
    table.and_then(|facts| facts.context_window).map(u64::from).or_else(built_in)
}

/// An input price without an output price, or the other way round.
struct HalfAPrice;

/// Returns the configured prices, falling back to the known ones.
fn prices(table: &ModelTable, defaults: Option<Prices>) -> Result<Option<Prices>, HalfAPrice> {
    let price = |value: Option<Price>, default: Option<f64>| value.map(f64::from).or(default);
    let input = price(table.input_price, defaults.map(|facts| facts.input));
    let output = price(table.output_price, defaults.map(|facts| facts.output));
    let cache_read = price(table.cache_read_price, defaults.and_then(|facts| facts.cache_read));
    let cache_write = price(table.cache_write_price, defaults.and_then(|facts| facts.cache_write));
    match (input, output) {
        (Some(input), Some(output)) => Ok(Some(Prices { input, output, cache_read, cache_write })),
        (None, None) if cache_read.is_none() && cache_write.is_none() => Ok(None),
        _ => Err(HalfAPrice),
    }
}

/// Returns the warning for a model whose context window is unknown.
pub(super) fn unknown(project: &Project, name: &str, near: &[String]) -> Diagnostic {
    let config = project.env.config_file();
    let message = format!(
        "the model {name} is unknown; its context window is assumed to be {CONTEXT_WINDOW} tokens"
    );
    let say = format!("set `context_window` under [models.\"{name}\"] in {}", config.display());
    let help = match suggestion(near) {
        Some(suggestion) => format!("{suggestion}; if it is right, {say}"),
        None => say,
    };
    Diagnostic::new("model-unknown", Severity::Warning, message).help(help)
}

/// Warns about settings for models of providers that do not exist: they have no effect.
pub(crate) fn strays(project: &Project) -> Vec<Diagnostic> {
    let is_stray = |whole: &&String| match ModelName::parse(whole) {
        Some(ModelName::Of { provider, .. }) => Provider::find(project, provider).is_err(),
        _ => true,
    };
    let strays = project.settings.models.models.keys().filter(is_stray);
    strays
        .map(|whole| {
            let message = format!("[models.\"{whole}\"] names no provider, so it has no effect");
            Diagnostic::new("model-setting-stray", Severity::Warning, message)
                .at(project.env.config_file())
                .help("write [models.\"PROVIDER/NAME\"], with an existing provider")
        })
        .collect()
}

/// Returns `did you mean a, b or c?`
pub(super) fn suggestion(near: &[String]) -> Option<String> {
    let (last, before) = near.split_last()?;
    let names =
        if before.is_empty() { last.clone() } else { format!("{} or {last}", before.join(", ")) };
    Some(format!("did you mean {names}?"))
}
