//! The page of agents in which hooks can run.

use maud::{Markup, html};

use super::Context;
use super::layout::{Page, time};
use crate::facts::{HostProof, HostStatus};
use crate::http::Response;
use tenter_base::format_count;

pub(super) fn page(context: &Context<'_>) -> Response {
    let mut hosts = context.pages.facts.hosts();
    // Those that matter come first; the sort is stable.
    hosts.sort_by_key(|host| (host.registrations.is_empty(), !host.is_installed));
    let (own, others): (Vec<&HostStatus>, Vec<&HostStatus>) =
        hosts.iter().partition(|host| is_known(host));
    let part = html! {
        @if own.is_empty() {
            div.empty { p { "No other agent is installed here, or registered." } }
        }
        ul.cards { @for host in own { (card(host)) } }
        @if !others.is_empty() {
            section.others aria-label="Agents that are not on this machine" {
                h2 { "Not on this machine" }
                ul.names { @for host in others { li { (host.name) } } }
            }
        }
    };
    let page = Page { title: "Agents", current: "/hosts", heading: html! { "Agents" } };
    context.live(&page, &html! {}, &part)
}

/// Returns true if there is anything to show for an agent.
fn is_known(host: &HostStatus) -> bool {
    host.is_installed
        || !host.registrations.is_empty()
        || host.proof.is_some()
        || host.breach.is_some()
}

fn card(host: &HostStatus) -> Markup {
    let is_registered = !host.registrations.is_empty();
    let is_broken =
        host.breach.is_some() || host.proof.iter().any(|proof| !proof.broken_checks.is_empty());
    html! {
        li.card.broken[is_broken].idle[!is_registered] {
            div.head {
                h2 { (host.name) }
                span.tag.good[is_registered] {
                    (if is_registered { "registered" } else { "not registered" })
                }
            }
            @if let Some((what, when)) = &host.breach { p.problem { (what) ", " (time(when)) } }
            @if is_registered || host.proof.is_some() {
                dl {
                    @for registration in &host.registrations {
                        dt { "Registered for " (registration.scope) }
                        dd { code { (registration.file) }
                            @if let Some(flaw) = &registration.flaw { span.sub.warn { (flaw) } } }
                    }
                    dt { "Last event" }
                    dd { @match &host.last_event { Some(at) => { (time(at)) }, None => { "none" } } }
                    dt { "Proved" }
                    dd { @match &host.proof {
                        Some(proof) => { (proved(proof)) },
                        None => { "not on this machine: " code { "tenter bridge prove " (host.id) } },
                    } }
                }
            }
        }
    }
}

fn proved(proof: &HostProof) -> Markup {
    html! {
        "version " strong { (proof.version) } ", " (time(&proof.at)) ": "
        (format_count(proof.proved_checks, "check holds", "checks hold"))
        @if !proof.broken_checks.is_empty() {
            ul.broken {
                @for (check, evidence) in &proof.broken_checks { li { strong { "broken: " } (check) span.sub { (evidence) } } }
            }
        }
    }
}
