//! What is known of a model: the table of facts, with what the configuration says over it; and what to say where nothing is.

use tenter_engine::query::nearest;
use tenter_protocol::{Diagnostic, Severity};
use tenter_providers::{Facts, Prices};

use super::name::Name;
use super::provider::Provider;
use crate::failure::Failure;
use crate::hooks::Project;
use crate::settings::models::{ModelTable, Price};

/// Tokens that a model holds of which nobody knows.
const CONTEXT_WINDOW: u64 = 128_000;
/// Names that are suggested at most.
const SUGGESTIONS: usize = 3;

/// The names that were probably meant by `word`, the nearest first; none where none is near.
pub(super) fn near<'n>(word: &str, names: &[&'n str]) -> Vec<&'n str> {
    let mut names = names.to_vec();
    let next = |_| {
        let found = nearest(word, names.iter().copied())?;
        names.retain(|name| *name != found);
        Some(found)
    };
    (0..SUGGESTIONS).map_while(next).collect()
}

/// What is known of a model of `provider`; `said` is what the configuration says of it.
pub(crate) fn facts(
    provider: &str,
    model: &str,
    said: Option<&ModelTable>,
) -> Result<Facts, Failure> {
    let known = tenter_providers::facts(provider, model);
    let said = said.copied().unwrap_or_default();
    let window = said.context_window.map(u64::from);
    let prices = prices(&said, known.and_then(|known| known.prices)).map_err(|HalfAPrice| {
        Failure::usage(format!("[models.\"{provider}/{model}\"] holds half of a price"))
            .help("`input_price` and `output_price` belong together")
    })?;
    Ok(Facts {
        context_window: window
            .or(known.map(|known| known.context_window))
            .unwrap_or(CONTEXT_WINDOW),
        prices,
        images: said.images.or(known.and_then(|known| known.images)),
    })
}

/// A price of input without one of output, or the other way round.
struct HalfAPrice;

/// The prices that are said, over those that are known.
fn prices(said: &ModelTable, known: Option<Prices>) -> Result<Option<Prices>, HalfAPrice> {
    let price = |said: Option<Price>, known: Option<f64>| said.map(f64::from).or(known);
    let input = price(said.input_price, known.map(|known| known.input));
    let output = price(said.output_price, known.map(|known| known.output));
    let cache_read = price(said.cache_read_price, known.and_then(|known| known.cache_read));
    let cache_write = price(said.cache_write_price, known.and_then(|known| known.cache_write));
    match (input, output) {
        (Some(input), Some(output)) => Ok(Some(Prices { input, output, cache_read, cache_write })),
        (None, None) if cache_read.is_none() && cache_write.is_none() => Ok(None),
        _ => Err(HalfAPrice),
    }
}

/// What to tell where neither the table of facts nor the configuration knows how much the model holds.
pub(super) fn unknown(project: &Project, name: &str, near: &[String]) -> Diagnostic {
    let config = project.env.config_file();
    let message =
        format!("nothing is known of {name}; it is taken to hold {CONTEXT_WINDOW} tokens");
    let say = format!(
        "`context_window` under [models.\"{name}\"] in {} says what it holds",
        config.display()
    );
    let help = match suggestion(near) {
        Some(meant) => format!("{meant}; if it is right, {say}"),
        None => say,
    };
    Diagnostic::new("model-unknown", Severity::Warning, message).help(help)
}

/// What the configuration says of models that no provider could have: it has no effect, which somebody should know.
pub(crate) fn strays(project: &Project) -> Vec<Diagnostic> {
    let is_stray = |whole: &&String| match Name::parse(whole) {
        Some(Name::Of { provider, .. }) => Provider::find(project, provider).is_err(),
        _ => true,
    };
    let strays = project.settings.models.models.keys().filter(is_stray);
    strays
        .map(|whole| {
            let message =
                format!("[models.\"{whole}\"] is about no provider's model; it has no effect");
            Diagnostic::new("model-setting-stray", Severity::Warning, message)
                .at(project.env.config_file())
                .help("write [models.\"PROVIDER/NAME\"], with a provider that there is")
        })
        .collect()
}

/// `did you mean a, b or c?`
pub(super) fn suggestion(near: &[String]) -> Option<String> {
    let (last, before) = near.split_last()?;
    let names =
        if before.is_empty() { last.clone() } else { format!("{} or {last}", before.join(", ")) };
    Some(format!("did you mean {names}?"))
}
