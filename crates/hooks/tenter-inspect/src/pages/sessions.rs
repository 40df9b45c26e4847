//! The first page: sessions, the newest first.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use maud::{Markup, html};

use super::layout::{Page, time};
use super::timeline::sessions_filter_form;
use super::{Context, problems, progress};
use crate::filter::{Filter, is_tool};
use crate::http::Response;
use crate::index::Session;
use crate::timeline::{self, JournalQuery};
use tenter_base::format_count;

/// Maximum number of sessions on a page.
const COUNT: usize = 100;
/// Maximum time that a search in the journals takes.
const SEARCH_TIME: Duration = Duration::from_millis(150);

pub(super) fn page(context: &Context<'_>) -> Response {
    let (index, counts, error) = context.pages.index();
    let all = index.sessions();
    let is_shown = |session: &Session<'_>| {
        context.is_all || session.projects.contains(&context.pages.project.as_str())
    };
    let sessions: Vec<Session<'_>> = all.into_iter().filter(is_shown).collect();
    let agents: Vec<_> = sessions.iter().map(|it| (it.id, it.hosts.first().copied())).collect();
    let titles = context.pages.facts.titles(&agents);
    let search = Search::new(context, &sessions, &titles);
    let number: usize = context.request.value("page").and_then(|n| n.parse().ok()).unwrap_or(1);
    let first = number.saturating_sub(1).saturating_mul(COUNT).min(search.sessions.len());
    let page = &search.sessions[first..search.sessions.len().min(first + COUNT)];
    let part = html! {
        (problems(&index, error))
        (progress(counts))
        @if search.is_cut {
            p.note role="status" { "The search took too long: older sessions were not searched." }
        }
        @if page.is_empty() { (nothing(context, sessions.len())) } @else { (table(context, page, &titles)) }
        (pager(context, (first, page.len(), search.sessions.len())))
    };
    let page = Page { title: "Sessions", current: "/", heading: html! { "Sessions" } };
    context.live(&page, &sessions_filter_form(context, "/", &sessions), &part)
}

/// The sessions that fit the filter.
struct Search<'s, 'i> {
    sessions: Vec<&'s Session<'i>>,
    is_cut: bool,
}

impl<'s, 'i> Search<'s, 'i> {
    fn new(context: &Context<'_>, sessions: &'s [Session<'i>], titles: &Titles) -> Self {
        let filter = &context.filter;
        let start = Instant::now();
        let mut search = Self { sessions: Vec::new(), is_cut: false };
        for session in sessions.iter().filter(|session| may_fit(session, filter)) {
            if filter.search.is_empty() || names(session, titles, &filter.search) {
                search.sessions.push(session);
            } else if start.elapsed() >= SEARCH_TIME {
                search.is_cut = true;
            } else {
                let limit = SEARCH_TIME.saturating_sub(start.elapsed());
                let query = JournalQuery { filter, count: 1, limit };
                let path = context.pages.journals.path(session.id);
                let slice = timeline::newest(&path, None, &query).unwrap_or_default();
                search.is_cut |= slice.is_cut;
                if !slice.records.is_empty() {
                    search.sessions.push(session);
                }
            }
        }
        search
    }
}

/// Returns true if a session has records that the filter chooses, as far as the index knows.
fn may_fit(session: &Session<'_>, filter: &Filter) -> bool {
    let Filter { tool, hook, decision, host, search: _ } = filter;
    (tool.is_empty() || session.tools.iter().any(|name| is_tool(name, tool)))
        && (hook.is_empty() || session.hooks.contains(&hook.as_str()))
        && (host.is_empty() || session.hosts.contains(&host.as_str()))
        && (decision.is_empty() || session.decisions.iter().any(|kind| kind.as_str() == decision))
}

/// The titles of sessions by id.
type Titles = BTreeMap<String, String>;

/// Returns true if the session's title, id or project contains `text`.
fn names(session: &Session<'_>, titles: &Titles, text: &str) -> bool {
    let text = text.to_lowercase();
    let title = titles.get(session.id).map(String::as_str);
    let mut names = session.projects.iter().copied().chain([session.id]).chain(title);
    names.any(|name| name.to_lowercase().contains(&text))
}

fn nothing(context: &Context<'_>, sessions: usize) -> Markup {
    html! {
        div.empty {
            @if sessions > 0 {
                p { "None of the " (format_count(sessions, "session", "sessions")) " matches." }
                p { a href=(context.links.to("/", [])) { "Show all" } }
            } @else if context.is_all {
                p { "No hook has run yet." }
                p { "Start an agent under hooks: " code { "tenter run" } ", or register them with another agent: " code { "tenter bridge install" } "." }
            } @else {
                p { "No hook has run in this project yet." }
                p { a href=(context.links.with("/", [], true)) { "Show the sessions of all projects" } }
            }
        }
    }
}

fn table(context: &Context<'_>, sessions: &[&Session<'_>], titles: &Titles) -> Markup {
    html! {
        table.list {
            caption.hidden { "Sessions, the newest first" }
            thead {
                tr {
                    th scope="col" { "Session" }
                    th scope="col" { "Agent" }
                    th scope="col" { "Last event" }
                    th.number scope="col" { "Runs" }
                    th.number scope="col" { "Denied" }
                    th.number scope="col" { "Failed" }
                }
            }
            tbody { @for session in sessions { (row(context, session, titles.get(session.id))) } }
        }
    }
}

fn row(context: &Context<'_>, session: &Session<'_>, title: Option<&String>) -> Markup {
    let title = title.filter(|title| !title.is_empty());
    let filter = Filter { host: String::new(), ..context.filter.clone() };
    html! {
        tr {
            th scope="row" {
                a href=(context.links.session(session.id, &filter)) {
                    @if let Some(title) = title { (title) } @else { code { (session.id) } }
                }
                @if title.is_some() { span.sub { code { (session.id) } } }
                @if context.is_all {
                    @for project in &session.projects { span.sub { (project) } }
                }
                @if session.unreadable > 0 {
                    span.sub.warn { (format_count(session.unreadable, "line", "lines")) " cannot be read" }
                }
            }
            td data-label="Agent" { @for host in &session.hosts { span.host { (host) } " " } }
            td data-label="Last event" { (time(session.last)) }
            td.number data-label="Runs" { (session.runs) }
            td.number.bad[session.denials > 0] data-label="Denied" { (session.denials) }
            td.number.bad[session.failures > 0] data-label="Failed" { (session.failures) }
        }
    }
}

fn pager(context: &Context<'_>, (first, count, total): (usize, usize, usize)) -> Markup {
    let number = first / COUNT + 1;
    let link = |number: usize, text: &str| {
        let number = number.to_string();
        let query = context.filter.fields().chain([("page", number.as_str())]);
        html! { a.button href=(context.links.to("/", query)) { (text) } }
    };
    html! {
        @if total > COUNT {
            nav.pager aria-label="Further sessions" {
                @if first > 0 { (link(number - 1, "Newer")) }
                span { (first + 1) "–" (first + count) " of " (total) }
                @if first + count < total { (link(number + 1, "Older")) }
            }
        }
    }
}
