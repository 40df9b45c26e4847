//! The top-level fields of a manifest. Each is checked whatever is wrong with the others (R16).

use tenter_base::{did_you_mean, or_list};

use super::checks::Checks;
use super::codes::{
    ASYNC, ASYNC_CANNOT_BLOCK, DESCRIPTION, METADATA, NAME, PRIORITY, TIMEOUT, UNKNOWN_KEY,
};
use super::limits::MAX_DESCRIPTION_LENGTH;
use super::{action, claude_code, extensions, http, limits, matcher, name, rules, trigger};
use crate::front_matter::{Code, Document, Field, IntegerRange, Report, find};
use crate::lifecycle::Power;
use crate::manifest::{Extensions, Manifest, MatcherText, Unset};
use crate::{EventName, Object};

/// The fields, in the order of the specification's appendix.
const KEYS: [&str; 8] =
    ["name", "description", "trigger", "matcher", "timeout", "async", "priority", "metadata"];

/// Reads a manifest. `None` if a field is missing that a hook cannot run without.
pub(super) fn manifest(
    document: &Document,
    checks: Checks<'_>,
    report: &mut Report<'_>,
) -> Option<Manifest> {
    let fields = &document.fields;
    report_unknown(fields, report);
    let name = name(document, report);
    let description = description(document, report).unwrap_or_default();
    let trigger = trigger::first(document, report);
    let further = trigger::further(fields, trigger, report);
    let events: Vec<EventName> =
        trigger.iter().chain(&further).map(|subscription| subscription.event).collect();
    let matcher = find(fields, "matcher")
        .map_or_else(MatcherText::default, |field| matcher::read(field, &events, checks, report));
    let timeout = integer(fields, "timeout", (&TIMEOUT, &limits::TIMEOUT), report);
    let asynchronous = asynchronous(fields, &events, report);
    let priority = integer(fields, "priority", (&PRIORITY, &limits::PRIORITY), report);
    let is_unset = |key| find(fields, key).is_none();
    let unset = Unset { timeout: is_unset("timeout"), asynchronous: is_unset("async") };
    let (metadata, extensions) = metadata(fields, (&events, asynchronous), checks, report);
    Some(Manifest {
        name: name?,
        description,
        trigger: trigger?,
        further,
        matcher,
        timeout_ms: u64::try_from(timeout).ok()?,
        asynchronous,
        priority: u16::try_from(priority).ok()?,
        unset,
        extensions,
        metadata,
    })
}

fn report_unknown(fields: &[Field], report: &mut Report<'_>) {
    for field in fields.iter().filter(|field| !KEYS.contains(&field.key.as_str())) {
        let key = field.key.as_str();
        let help = if extensions::is_known(key) {
            format!("write it below `metadata:`, as `  {key}: …`")
        } else {
            did_you_mean(key, &KEYS, || {
                format!("keys are {}; anything else belongs below `metadata:`", or_list(&KEYS))
            })
        };
        report.unknown_field(field, &UNKNOWN_KEY, "a manifest", help);
    }
}

fn name(document: &Document, report: &mut Report<'_>) -> Option<String> {
    let expected = "the name of the hook's directory";
    let field = report.required(document, "name", &NAME, expected)?;
    let text = report.text(field, &NAME, expected)?;
    name::check(&text, &field.value.at, report)
}

fn description(document: &Document, report: &mut Report<'_>) -> Option<String> {
    let expected = "what the hook is for, in a sentence";
    let field = report.required(document, "description", &DESCRIPTION, expected)?;
    let text = report.text(field, &DESCRIPTION, expected)?;
    let text = text.trim();
    let length = text.chars().count();
    if length == 0 {
        report.invalid(field, &DESCRIPTION, "is empty", expected);
    } else if length > MAX_DESCRIPTION_LENGTH {
        let what = format!("has {length} characters; the maximum is {MAX_DESCRIPTION_LENGTH}");
        report.invalid(field, &DESCRIPTION, &what, "the rest below the front matter");
    }
    Some(text.to_owned())
}

fn integer(
    fields: &[Field],
    key: &str,
    (code, range): (&Code, &IntegerRange),
    report: &mut Report<'_>,
) -> i64 {
    find(fields, key).map_or(range.default, |field| report.integer(field, code, range))
}

fn asynchronous(fields: &[Field], events: &[EventName], report: &mut Report<'_>) -> bool {
    let Some(field) = find(fields, "async") else { return false };
    let asynchronous = report.boolean(field, &ASYNC);
    let blocks = |event: &&EventName| event.may(Power::Block) || event.may(Power::Continue);
    // An import carries over what the settings say.
    let metadata =
        find(fields, "metadata").and_then(|field| field.value.to_json().get("imported").cloned());
    if let Some(event) = events.iter().find(blocks).filter(|_| asynchronous && metadata.is_none()) {
        let message = format!("an asynchronous hook cannot block at `{event}`");
        let help = "write `async: false` if it is meant to block";
        report.add(&ASYNC_CANNOT_BLOCK, &field.value.at, message, help);
    }
    asynchronous
}

fn metadata(
    top: &[Field],
    (events, asynchronous): (&[EventName], bool),
    checks: Checks<'_>,
    report: &mut Report<'_>,
) -> (Object, Extensions) {
    let Some(field) = find(top, "metadata") else { return Default::default() };
    let Some(fields) = report.mapping(field, &METADATA) else { return Default::default() };
    let pairs = fields.iter().map(|field| (field.key.clone(), field.value.to_json()));
    let pairs = pairs.collect();
    let static_action = action::read(fields, events, checks, report);
    let claude_code = claude_code::read(top, fields, events, report);
    let rules = rules::read(rules::RuleOwner { fields, events, asynchronous }, checks, report);
    let endpoint = http::read(fields, checks, report);
    let others = extensions::read(fields, checks, report);
    (pairs, Extensions { static_action, endpoint, claude_code, rules, ..others })
}
