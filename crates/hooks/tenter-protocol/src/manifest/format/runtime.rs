//! `metadata.runtime` and `metadata.services`: a hook that is started once and called many times, and the services that it may
//! request (S1, S2).

use tenter_base::{did_you_mean, or_list};

use super::codes::{EXTENSION, METADATA_KEY};
use crate::front_matter::{Field, Report, find, quotable};
use crate::runtime::{Runtime, Service};

/// Reads how the hook is run. The payload and the reply of another dialect, and an action, need no process that stays up.
pub(super) fn runtime(fields: &[Field], report: &mut Report<'_>) -> Option<Runtime> {
    let field = find(fields, "runtime")?;
    let word = report.choice(field, &EXTENSION, &Runtime::WORDS)?;
    for other in ["dialect", "action"] {
        if find(fields, other).is_some() {
            let message = format!("`metadata.runtime` cannot be combined with `{other}`");
            report.add(&EXTENSION, &field.key_at, message, "remove one of them");
            return None;
        }
    }
    Some(if word == Runtime::WORDS[0] { Runtime::Serve } else { Runtime::ServeOnly })
}

/// Reads the services that the hook may request, each once.
pub(super) fn services(fields: &[Field], report: &mut Report<'_>) -> Vec<Service> {
    let Some(field) = find(fields, "services") else { return Vec::new() };
    let names = Service::ALL.map(Service::as_str);
    let expected = format!("a list of {}", or_list(&names));
    let mut services = Vec::new();
    for item in report.list(field, &EXTENSION, &expected).unwrap_or_default() {
        let word = item.as_text().unwrap_or_default();
        match Service::ALL.into_iter().find(|service| service.as_str() == word) {
            Some(service) if services.contains(&service) => {}
            Some(service) => services.push(service),
            None => {
                let message = format!("there is no service `{}`", quotable(word));
                let help = did_you_mean(word, &names, || format!("write {expected}"));
                report.add(&EXTENSION, &item.at, message, help);
            }
        }
    }
    if find(fields, "runtime").is_none() {
        let message = "`metadata.services` has no effect without `runtime`";
        report.add(&METADATA_KEY, &field.key_at, message, "write `runtime: serve`");
    }
    services
}
