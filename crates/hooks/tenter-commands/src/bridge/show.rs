//! `tenter bridge show`: what hooks can do in an agent.

use serde_json::{Value, json};
use tenter_base::visible;
use tenter_bridge::guide::RULES;
use tenter_bridge::{Host, Support, transcript};
use tenter_engine::inspect::Hook;
use tenter_proc::Cancel;
use tenter_protocol::EventName;
use tenter_protocol::lifecycle::{Power, TABLE};
use tenter_prove::{CheckVerdict, Proof};
use tenter_terminal::{BAD, CommandResult, Exit, FAINT, GOOD, HEADING, NAME, NOTICE, styled, ui};

use crate::installed_agents::newest_proof;
use crate::project::Project;

/// Show what hooks can do in an agent, and what some of yours cannot.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent, such as claude-code.
    #[arg(value_name = "AGENT")]
    host: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Something that hooks can do at an event, or cannot.
struct EventPower {
    event: EventName,
    power: Power,
    support: Support,
}

pub(super) fn run(mut project: Project, args: &Args) -> CommandResult {
    let host = super::host(&args.host)?;
    let catalog = project.load(&Cancel::new());
    let limits: Vec<(&str, Vec<String>)> = catalog
        .hooks()
        .iter()
        .map(|hook| (hook.name.as_str(), limits(host, hook)))
        .filter(|(_, limits)| !limits.is_empty())
        .collect();
    let proof = newest_proof(project.env, host);
    if args.json {
        let value = as_json(host, &limits, proof.as_ref());
        ui::json(&value);
        return Ok(Exit::Done);
    }
    ui::out(format!("{} ({})", styled(HEADING, host.name), basis(host)));
    proof.iter().for_each(print_proof);
    for row in &TABLE {
        print_event(host, row.event);
    }
    ui::out(format!("\n{}", host.registration.on_failure()));
    section("Not shown to hooks:", host.blind_spots.iter().map(ToString::to_string));
    section(RULES, host.user_rules.sentences(host.name).into_iter());
    section("Good to know:", host.notes.iter().map(ToString::to_string));
    let limits = limits.iter().flat_map(|(name, limits)| {
        let name = styled(NAME, visible(name));
        limits.iter().map(move |limit| format!("{name}: {limit}"))
    });
    section("Limits of your hooks there:", limits);
    Ok(Exit::Done)
}

/// Describes the basis of what is known about the host.
fn basis(host: &Host) -> String {
    match host.measured_version {
        Some(version) => format!("measured with {version}"),
        None => "unproved: from its documentation only".to_owned(),
    }
}

/// Prints the proof of this machine.
fn print_proof(proof: &Proof) {
    let failures = proof.count(CheckVerdict::Broken);
    let flaw = if failures == 0 { String::new() } else { format!(", {failures} BROKEN") };
    let (version, time) = (visible(&proof.version), ui::short_time(&proof.proved_at));
    ui::out(format!("  proved with {version}, {time}{flaw}"));
}

fn section(heading: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        ui::out(format!("\n{}", styled(HEADING, heading)));
        lines.for_each(|line| ui::out(format!("  {line}")));
    }
}

/// Returns the powers of a reply at each of Tenter's events.
fn powers(host: &Host, event: EventName) -> impl Iterator<Item = EventPower> {
    let may = event.lifecycle().may.iter();
    may.map(move |(power, _)| EventPower {
        event,
        power: *power,
        support: host.support(event, *power),
    })
}

/// Returns the native events that fire an event of Tenter's.
fn fired_by(host: &Host, event: EventName) -> &'static [&'static str] {
    host.powers.iter().find(|row| row.event == event).map_or(&[], |row| row.fired_by)
}

fn print_event(host: &Host, event: EventName) {
    let fired_by = match fired_by(host, event) {
        [] => styled(BAD, "never fires"),
        events => styled(FAINT, events.join(", ")),
    };
    ui::out(format!("  {:20}{fired_by}", event.as_str()));
    for EventPower { power, support, .. } in powers(host, event) {
        let (style, how) = match support {
            Support::Native => (GOOD, String::new()),
            Support::Emulated(how) => (NOTICE, format!(": {how}")),
            Support::Unsupported => (BAD, String::new()),
        };
        let support = styled(style, support.as_str());
        ui::out(format!("    {:20}{support}{how}", power.as_str()));
    }
}

const UNGUARDABLE: &str = "it fails closed and cannot change results there, so the calls that it matches are denied (`bridge.unguardable`)";

/// Returns the replies of a hook that have no effect in the host.
fn limits(host: &Host, hook: &Hook) -> Vec<String> {
    let mut limits = Vec::new();
    for subscription in &hook.subscriptions {
        let event = subscription.event;
        if fired_by(host, event).is_empty() {
            limits.push(format!("{} never fires", event.as_str()));
            continue;
        }
        let without = powers(host, event).filter(|one| one.support == Support::Unsupported);
        let without: Vec<&str> = without.map(|one| one.power.as_str()).collect();
        if !without.is_empty() && !hook.is_static() {
            limits.push(format!("at {} it cannot {}", event.as_str(), without.join(" or ")));
        }
    }
    if host.cannot_guard_results(hook) {
        limits.push(UNGUARDABLE.to_owned());
    }
    limits.extend(missing_history(host, hook));
    let longest = host.events.iter().map(|event| event.timeout).max().unwrap_or_default();
    if hook.policy.timeout >= longest {
        limits.push(format!(
            "its timeout of {} s is cut to less than {} s",
            hook.policy.timeout.as_secs(),
            longest.as_secs()
        ));
    }
    limits.dedup();
    limits
}

/// Returns the fields that the payloads of a hook lack because the bridge cannot read the host's transcripts.
fn missing_history(host: &Host, hook: &Hook) -> Option<String> {
    let has_history =
        |event: EventName| matches!(event, EventName::AfterTurn | EventName::BeforeStop);
    let events = hook.subscriptions.iter().map(|subscription| subscription.event);
    let events = events.filter(|event| has_history(*event) && !fired_by(host, *event).is_empty());
    let events: Vec<&str> = events.map(EventName::as_str).collect();
    if events.is_empty() || hook.options.light_payload || transcript::is_known(host) {
        return None;
    }
    Some(format!("at {} its payload lacks `messages` and `usage`", events.join(" and ")))
}

fn as_json(host: &Host, limits: &[(&str, Vec<String>)], proof: Option<&Proof>) -> Value {
    let events = TABLE.iter().map(|row| {
        let powers = powers(host, row.event).map(|EventPower { event, power, support }| {
            let how = match support {
                Support::Emulated(how) => Some(how),
                _ => None,
            };
            json!({"event": event.as_str(), "power": power.as_str(), "support": support.as_str(), "how": how})
        });
        let powers: Vec<Value> = powers.collect();
        json!({"event": row.name, "fired_by": fired_by(host, row.event), "powers": powers})
    });
    let hooks = limits.iter().map(|(name, limits)| json!({"hook": name, "limits": limits}));
    json!({
        "id": host.id,
        "name": host.name,
        "measured_version": host.measured_version,
        "proved": proof,
        "events": events.collect::<Vec<_>>(),
        "blind_spots": host.blind_spots,
        "user_rules": host.user_rules.sentences(host.name),
        "notes": host.notes,
        "hooks": hooks.collect::<Vec<_>>(),
    })
}
