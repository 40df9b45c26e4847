//! Tenter's keys below `metadata` (R17). Other keys are the author's own, unless one looks like a misspelled key of Tenter's. An
//! invalid value is an error: a guard that says `fail: close` must not run as if the key were missing.

use tenter_base::edits;

use super::checks::Checks;
use super::codes::{EXTENSION, METADATA_KEY};
use super::{action, claude_code, http, limits, runtime};
use crate::front_matter::{Field, Report, find, quotable};
use crate::manifest::Extensions;
use crate::manifest::http_endpoint::is_variable;

const KEYS: [&str; 17] = *tenter_base::words!(
    "fail mode protected workdir confine env payload budget_ms triggers dialect match url
     ready_made runtime services settings set"
);
/// The keys of every static hook. Further ones belong to its action.
const ACTION_KEYS: [&str; 2] = ["action", "when"];

/// Reads the extensions from the fields of `metadata`.
pub(super) fn read(fields: &[Field], checks: Checks<'_>, report: &mut Report<'_>) -> Extensions {
    let mut extensions =
        Extensions { light_payload: find(fields, "url").is_some(), ..Extensions::default() };
    for field in fields {
        match field.key.as_str() {
            "fail" => {
                let word = report.choice(field, &EXTENSION, &["open", "closed"]);
                extensions.fail_closed = word.map(|word| word == "closed");
            }
            "mode" => {
                let word = report.choice(field, &EXTENSION, &["enforce", "monitor"]);
                extensions.monitors = word.map(|word| word == "monitor");
            }
            "workdir" => {
                let word = report.choice(field, &EXTENSION, &["project", "hook"]);
                extensions.starts_in_own_directory = word == Some("hook");
            }
            "confine" => {
                extensions.is_pure = report.choice(field, &EXTENSION, &["pure"]).is_some();
            }
            "payload" => {
                let word = report.choice(field, &EXTENSION, &["full", "light"]);
                extensions.light_payload = word == Some("light");
            }
            "protected" => extensions.protected = report.boolean(field, &EXTENSION),
            "env" => extensions.env = variables(field, report),
            "budget_ms" => {
                let budget = report.integer(field, &EXTENSION, &limits::BUDGET);
                extensions.budget_ms = u64::try_from(budget).ok();
            }
            _ => {}
        }
    }
    extensions.ready_made = ready_made(fields, checks, report);
    extensions.runtime = runtime::runtime(fields, report);
    extensions.services = runtime::services(fields, report);
    report_misspelled(fields, report);
    extensions
}

/// Returns true if Tenter reads this key below `metadata`.
pub(super) fn is_known(key: &str) -> bool {
    KEYS.contains(&key) || ACTION_KEYS.contains(&key) || action_keys().any(|name| name == key)
}

fn action_keys() -> impl Iterator<Item = &'static str> {
    action::KEYS.iter().map(|(key, _)| *key)
}

/// Reads the name of the ready-made hook that runs instead of a script.
fn ready_made(fields: &[Field], checks: Checks<'_>, report: &mut Report<'_>) -> Option<String> {
    let field = find(fields, "ready_made")?;
    let name = report.text(field, &EXTENSION, "the name of a ready-made hook")?;
    for other in ["action", "dialect", "runtime", "url"] {
        if find(fields, other).is_some() {
            let message = format!("`metadata.ready_made` is not possible with `{other}`");
            report.add(&EXTENSION, &field.key_at, message, "remove one of them");
            return None;
        }
    }
    if let Err(help) = (checks.ready_made)(&name) {
        let message = format!("there is no ready-made hook `{}`", quotable(&name));
        report.add(&EXTENSION, &field.value.at, message, help);
        return None;
    }
    Some(name)
}

fn report_misspelled(fields: &[Field], report: &mut Report<'_>) {
    let has = |key: &str| fields.iter().any(|field| field.key == key);
    let action = action_keys().filter(|_| has("action"));
    let dialect = claude_code::KEYS.into_iter().filter(|_| has("dialect"));
    let url = http::KEYS.into_iter().filter(|_| has("url"));
    let keys: Vec<&str> =
        KEYS.into_iter().chain(ACTION_KEYS).chain(action).chain(dialect).chain(url).collect();
    for field in
        fields.iter().filter(|field| !keys.contains(&field.key.as_str()) && !is_known(&field.key))
    {
        let Some(own_key) = probable_key(&field.key, &keys) else { continue };
        let message = format!("`metadata.{}` has no effect", quotable(&field.key));
        report.add(&METADATA_KEY, &field.key_at, message, format!("did you mean `{own_key}`?"));
    }
}

/// Returns the key of Tenter's that `key` probably misspells. Authors have many keys of their own, so it must be very near.
fn probable_key(key: &str, keys: &[&'static str]) -> Option<&'static str> {
    let initial = |word: &str| word.chars().next().map(|letter| letter.to_ascii_lowercase());
    let is_near = |candidate: &&str| {
        let max_edits = if candidate.len() > 5 { 2 } else { 1 };
        initial(candidate) == initial(key) && edits(key, candidate) <= max_edits
    };
    let about_failure = key.to_ascii_lowercase().starts_with("fail").then_some("fail");
    keys.iter().copied().find(is_near).or(about_failure)
}

fn variables(field: &Field, report: &mut Report<'_>) -> Vec<String> {
    let expected = "a list of environment variables, such as `[MY_API_KEY]`";
    let mut names = Vec::new();
    for item in report.list(field, &EXTENSION, expected).unwrap_or_default() {
        if let Some(name) = item.as_scalar().filter(|scalar| is_variable(&scalar.text)) {
            names.push(name.text.clone());
        } else {
            let message = "this is not the name of an environment variable";
            report.add(&EXTENSION, &item.at, message, format!("write {expected}"));
        }
    }
    names
}
