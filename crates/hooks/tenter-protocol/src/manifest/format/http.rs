//! `metadata.url` and the keys that belong to it: a hook behind HTTP. Without `url`, those keys are the author's own.

use std::collections::BTreeMap;

use super::checks::Checks;
use super::codes::{EXTENSION, METADATA_KEY};
use crate::front_matter::{Field, Node, Report, find, quotable};
use crate::manifest::HttpEndpoint;
use crate::manifest::http_endpoint::{check_header, check_url, header_variable};

/// The keys below `metadata` that belong to the URL.
pub(super) const KEYS: [&str; 1] = ["headers"];
/// Keys that say in another way what a hook does.
const OTHER_IMPLEMENTATIONS: [&str; 4] = ["action", "dialect", "runtime", "services"];
/// Keys about a hook's process.
const OF_PROCESS: [&str; 2] = ["workdir", "env"];

const HEADERS: &str = "a mapping, such as `{Authorization: \"env:TEAM_HOOK_TOKEN\"}`";

/// Reads the endpoint of a hook from the fields of `metadata`; `None` for a hook without `url`.
pub(super) fn read(
    fields: &[Field],
    checks: Checks<'_>,
    report: &mut Report<'_>,
) -> Option<HttpEndpoint> {
    let field = find(fields, "url")?;
    report_other_implementation(field, fields, report);
    report_without_effect(fields, report);
    let headers = find(fields, "headers");
    let headers = headers.map(|field| read_headers(field, checks, report)).unwrap_or_default();
    let expected = "the address of the hook, such as `https://hooks.example.com/tenter`";
    let url = report.text(field, &EXTENSION, expected)?;
    if let Err(why) = check_url(&url) {
        let message = format!("the `url` {why}");
        report.add(&EXTENSION, &field.value.at, message, format!("write {expected}"));
        return None;
    }
    Some(HttpEndpoint { url, headers })
}

fn report_other_implementation(url: &Field, fields: &[Field], report: &mut Report<'_>) {
    let decides = |field: &&Field| {
        let mut rules = field.value.as_list().unwrap_or_default().iter();
        rules.any(|rule| find(rule.as_mapping().unwrap_or_default(), "decision").is_some())
    };
    let others = OTHER_IMPLEMENTATIONS.iter().filter_map(|key| find(fields, key));
    let rules = find(fields, "match").filter(decides);
    let Some(other) = others.chain(rules).next() else { return };
    let what = match other.key.as_str() {
        "match" => "rules with a `decision`".to_owned(),
        key => format!("`{key}`"),
    };
    let message = format!("`metadata.url` is not possible with {what}");
    report.add(&EXTENSION, &url.key_at, message, "remove one of them");
}

fn report_without_effect(fields: &[Field], report: &mut Report<'_>) {
    for key in OF_PROCESS {
        let Some(field) = find(fields, key) else { continue };
        let message = format!("`metadata.{key}` has no effect with `url`");
        let help = if key == "env" { "name variables in `headers`" } else { "remove it" };
        report.add(&METADATA_KEY, &field.key_at, message, help);
    }
}

fn read_headers(
    field: &Field,
    checks: Checks<'_>,
    report: &mut Report<'_>,
) -> BTreeMap<String, String> {
    let Some(fields) = field.value.as_mapping() else {
        report.invalid(field, &EXTENSION, "is not a mapping", HEADERS);
        return BTreeMap::new();
    };
    let read = |header: &Field| {
        if let Err(why) = check_header(&header.key) {
            let message = format!("the header `{}` {why}", quotable(&header.key));
            report.add(&EXTENSION, &header.key_at, message, "remove it, or rename it");
        }
        let variable = read_variable(&header.value, checks, report)?;
        Some((header.key.clone(), variable))
    };
    fields.iter().filter_map(read).collect()
}

/// Returns the variable that a header's value names.
fn read_variable(value: &Node, checks: Checks<'_>, report: &mut Report<'_>) -> Option<String> {
    let Some(name) = value.as_text().and_then(header_variable) else {
        let message = "a header's value must name an environment variable";
        let help = "write `env:NAME`; the value of the variable NAME is sent";
        report.add(&EXTENSION, &value.at, message, help);
        return None;
    };
    if (checks.is_model_key)(name) {
        let message = format!("`{name}` is the name of a model key, which is never sent to a hook");
        let help = "use a variable of its own for the hook's token";
        report.add(&EXTENSION, &value.at, message, help);
        return None;
    }
    Some(name.to_owned())
}
