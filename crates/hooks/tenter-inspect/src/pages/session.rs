//! The page of one session: a timeline of turns, calls and hooks.

use std::path::Path;
use std::time::Duration;

use maud::{Markup, html};
use tenter_base::format_count;
use tenter_engine::journal;

use super::layout::{Page, time};
use super::timeline::{self, Choices};
use super::{Context, problems};
use crate::filter::Filter;
use crate::http::{Response, Status};
use crate::timeline::{JournalQuery, Slice, newest, since};

/// Maximum number of records on a page.
const COUNT: usize = 100;
/// Maximum time that a filter searches for records.
const SEARCH_TIME: Duration = Duration::from_millis(120);

pub(super) fn page(context: &Context<'_>, id: &str) -> Response {
    let path = context.pages.journals.path(id);
    if journal::length(&path).is_ok_and(|length| length == 0) {
        return context.not_found("No hook ran in such a session.");
    }
    if let Some(cursor) = context.request.value("cursor") {
        return news(context, &path, cursor);
    }
    let before = context.request.value("before").and_then(|offset| offset.parse().ok());
    let query = JournalQuery { filter: &context.filter, count: COUNT, limit: SEARCH_TIME };
    match newest(&path, before, &query) {
        Ok(slice) => whole(context, id, &slice, before),
        Err(error) => context.not_found(&format!("The journal cannot be read: {error}")),
    }
}

/// Returns the cursor: the offset of the next record, and the event of the last one.
fn cursor(slice: &Slice, last: Option<&str>) -> String {
    let last = slice.records.last().map_or(last.unwrap_or_default(), |record| &record.event);
    // It becomes a header.
    let last: String = last.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    format!("{}.{last}", slice.end)
}

fn offset(cursor: &str) -> u64 {
    cursor.split('.').next().and_then(|offset| offset.parse().ok()).unwrap_or_default()
}

fn event(cursor: &str) -> Option<&str> {
    cursor.split_once('.').map(|(_, event)| event)
}

/// Shows the records that were written since the script's last request.
fn news(context: &Context<'_>, path: &Path, position: &str) -> Response {
    let (offset, last) = (offset(position), event(position));
    match since(path, offset, &context.filter) {
        Ok(slice) if slice.end == offset => Response::empty(Status::NoContent),
        Ok(slice) => {
            let items = timeline::items(context, &slice.records, last);
            Response::html(Status::Ok, items).with_cursor(cursor(&slice, last))
        }
        // The journal is another one, so the whole page is.
        Err(_) => Response::empty(Status::Gone),
    }
}

fn whole(context: &Context<'_>, id: &str, slice: &Slice, before: Option<u64>) -> Response {
    let (index, _, error) = context.pages.index();
    let sessions = index.sessions();
    let session = sessions.iter().find(|session| session.id == id);
    let to_strings =
        |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let choices = session.map(|session| Choices {
        tools: to_strings(&session.tools),
        hooks: to_strings(&session.hooks),
        hosts: to_strings(&session.hosts),
    });
    let is_newest = before.is_none();
    let live = is_newest.then_some("append");
    let host = session.and_then(|session| session.hosts.first().copied());
    let titles = context.pages.facts.titles(&[(id, host)]);
    let title = titles.get(id).filter(|title| !title.is_empty());
    let heading = html! {
        @if let Some(title) = title { (title) } @else { "Session " code { (id) } }
    };
    let page = Page { title: title.map_or(id, String::as_str), current: "", heading };
    let path = context.links.session(id, &Filter::default());
    let path = path.split('?').next().unwrap_or_default();
    let content = html! {
        @if let Some(session) = session {
            dl.facts {
                @if title.is_some() { div { dt { "Session" } dd { code { (id) } } } }
                div { dt { "Agent" } dd { @for host in &session.hosts { span.host { (host) } " " } } }
                div { dt { "Project" } dd { @for project in &session.projects { code { (project) } " " } } }
                div { dt { "First event" } dd { (time(session.first)) } }
                div { dt { "Last event" } dd { (time(session.last)) } }
                div { dt { "Hooks" } dd { (format_count(session.runs, "run", "runs")) } }
                div { dt { "Denied" } dd.bad[session.denials > 0] { (format_count(session.denials, "event", "events")) } }
            }
        }
        (timeline::filter_form(context, path, &choices.unwrap_or_default()))
        (problems(&index, error))
        (notes(context, slice))
        (older(context, path, slice))
        ol.timeline aria-label="What happened" data-live=[live] data-cursor=(cursor(slice, None)) {
            (timeline::items(context, &slice.records, None))
        }
        @if slice.records.is_empty() {
            div.empty data-empty { p { (if context.filter.is_empty() { "Nothing is recorded here." } else { "No record matches." }) } }
        }
        @if !is_newest {
            nav.pager aria-label="Newer records" {
                a.button href=(context.links.to(path, context.filter.fields())) { "Newest records" }
            }
        }
    };
    Response::html(Status::Ok, page.render(context, &content))
}

fn notes(context: &Context<'_>, slice: &Slice) -> Markup {
    html! {
        @if slice.unreadable > 0 {
            p.note { (format_count(slice.unreadable, "line", "lines")) " of the journal cannot be read." }
        }
        @if slice.is_cut {
            p.note role="status" { "The search took too long; it can be continued with older records." }
        }
        @if slice.records.iter().any(tenter_engine::journal::Record::is_newer) {
            p.note { "A newer version of Tenter wrote some of these records; they are shown as far as this version knows them." }
        }
        @if !context.filter.is_empty() {
            p.note { (format_count(slice.records.len(), "record matches", "records match")) " on this page." }
        }
    }
}

fn older(context: &Context<'_>, path: &str, slice: &Slice) -> Markup {
    let Some(older) = slice.older else { return html! {} };
    let older = older.to_string();
    let query = context.filter.fields().chain([("before", older.as_str())]);
    html! {
        nav.pager aria-label="Older records" {
            a.button href=(context.links.to(path, query)) { "Older records" }
        }
    }
}
