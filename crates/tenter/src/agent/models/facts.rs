//! What is known of a model: the table of facts, with what the configuration says over it; and what to say where nothing is.

use tenter_base::nearest;
use tenter_protocol::{Diagnostic, Severity};
use tenter_providers::{Facts, Prices};

use super::provider::Provider;
use crate::failure::Failure;
use crate::project::Project;
use crate::settings::ModelName;
use crate::settings::model_tables::{ModelTable, Price};

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

/// What is known of a model of `provider`, whose server is at `address`; `said` is what the configuration says of it.
///
/// The known prices are the provider's own: what somebody else's server takes, who answers for the same name, is unknown
/// where the configuration says nothing.
pub(crate) fn facts(
    provider: &Provider,
    address: &str,
    model: &str,
    said: Option<&ModelTable>,
) -> Result<Facts, Failure> {
    let known = tenter_providers::facts(provider.name, model);
    let said = said.copied().unwrap_or_default();
    let window = known_window(provider, model, Some(&said));
    let known_prices = known
        .and_then(|known| known.prices)
        .filter(|_| provider.is_itself_at(address) || said.tells_prices());
    let prices = prices(&said, known_prices).map_err(|HalfAPrice| {
        Failure::usage(format!("[models.\"{}/{model}\"] holds half of a price", provider.name))
            .help("`input_price` and `output_price` belong together")
    })?;
    Ok(Facts {
        context_window: window.unwrap_or(CONTEXT_WINDOW),
        prices,
        images: said.images.or(known.and_then(|known| known.images)),
    })
}

/// Tokens that a model holds, where anybody knows.
pub(super) fn known_window(
    provider: &Provider,
    model: &str,
    said: Option<&ModelTable>,
) -> Option<u64> {
    let known = || tenter_providers::facts(provider.name, model).map(|known| known.context_window);
    said.and_then(|said| said.context_window).map(u64::from).or_else(known)
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
    let is_stray = |whole: &&String| match ModelName::parse(whole) {
        Some(ModelName::Of { provider, .. }) => Provider::find(project, provider).is_err(),
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
