//! The pages. Each is rendered on the server; a script of some lines keeps them up to date.

mod backtest;
mod change;
mod chart;
mod hooks;
mod hosts;
mod layout;
mod record;
mod session;
mod sessions;
mod source;
mod stopped;
mod timeline;

use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use maud::{Markup, html};
use tenter_base::{Clock, lock};
use tenter_engine::journal::JournalDirectories;

use crate::facts::Facts;
use crate::filter::Filter;
use crate::http::{Request, Response, Status};
use crate::index::{JournalIndex, Progress};
use layout::{Links, Page};

/// Maximum time that a page spends on reading the journal. What is left is read by the next request.
const READ_TIME: Duration = Duration::from_millis(100);

const STYLE: &str = include_str!("../../assets/inspect.css");
const SCRIPT: &str = include_str!("../../assets/inspect.js");
const ICON: &str = include_str!("../../assets/icon.svg");

/// The pages about journals.
pub struct Pages {
    journals: JournalDirectories,
    /// The root of the project whose sessions are shown first.
    project: String,
    facts: Box<dyn Facts>,
    clock: Clock,
    index: Mutex<JournalIndex>,
}

/// The data of a page.
struct Context<'p> {
    pages: &'p Pages,
    request: &'p Request,
    links: Links<'p>,
    filter: Filter,
    /// True if all projects are shown.
    is_all: bool,
}

impl Pages {
    /// Creates pages about `journals`; they show the sessions of the project at `project` first.
    pub fn new(
        journals: impl Into<JournalDirectories>,
        project: &Path,
        facts: Box<dyn Facts>,
        clock: Clock,
    ) -> Self {
        let journals = journals.into();
        Self {
            index: Mutex::new(JournalIndex::new(&journals)),
            journals,
            project: project.to_string_lossy().into_owned(),
            facts,
            clock,
        }
    }

    /// Answers a request that has the token.
    pub(crate) fn answer(&self, request: &Request, token: &str) -> Response {
        let text = |key: &str| request.value(key).unwrap_or_default().to_owned();
        let context = Context {
            pages: self,
            request,
            links: Links::new(token, request.value("all").is_some()),
            filter: Filter {
                tool: text("tool"),
                hook: text("hook"),
                decision: text("decision"),
                host: text("host"),
                search: text("q"),
            },
            is_all: request.value("all").is_some(),
        };
        match request.path()[..] {
            [] => sessions::page(&context),
            ["session", id] => session::page(&context, id),
            ["stopped"] => stopped::page(&context),
            ["stopped.csv"] => stopped::export(&context),
            ["hooks"] => hooks::page(&context),
            ["hosts"] => hosts::page(&context),
            ["backtest"] => backtest::page(&context),
            ["calls"] => backtest::calls(&context),
            ["source", hash] => source::page(&context, hash),
            ["inspect.css"] => Response::asset("text/css; charset=utf-8", STYLE),
            ["inspect.js"] => Response::asset("text/javascript; charset=utf-8", SCRIPT),
            ["icon.svg"] => Response::asset("image/svg+xml", ICON),
            _ => context.not_found("There is no such page."),
        }
    }

    /// Returns the index, with what was written since it was last read, as far as there is time.
    fn index(&self) -> (MutexGuard<'_, JournalIndex>, Progress, Option<String>) {
        // A thread that panicked while it read left an index that is right as far as it goes.
        let mut index = lock(&self.index);
        match index.advance(Some(READ_TIME)) {
            Ok(progress) => (index, progress, None),
            Err(error) => (index, Progress::default(), Some(error.to_string())),
        }
    }
}

impl Context<'_> {
    fn not_found(&self, text: &str) -> Response {
        let page = Page { title: "Not found", current: "", heading: html! { "Not found" } };
        Response::html(Status::NotFound, page.render(self, &html! { p { (text) } }))
    }

    /// Returns the page with `fixed` and below it `part`; for the script only `part`, if it changed.
    fn live(&self, page: &Page<'_>, fixed: &Markup, part: &Markup) -> Response {
        let version = layout::version(&part.0);
        if self.request.value("part").is_none() {
            let content =
                html! { (fixed) div data-live="replace" data-cursor=(version) { (part) } };
            return Response::html(Status::Ok, page.render(self, &content));
        }
        if self.request.value("cursor") == Some(version.as_str()) {
            return Response::empty(Status::NoContent);
        }
        Response::html(Status::Ok, part.clone()).with_cursor(version)
    }
}

/// Shows the progress of reading the journals, if there is more to read.
fn progress(progress: Progress) -> Markup {
    let mib = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 20));
    html! {
        @if !progress.is_complete() {
            p.note role="status" {
                (mib(progress.bytes_read)) " of " (mib(progress.total)) " MiB of the journals are read so far."
            }
        }
    }
}

/// Returns the problems with reading journals.
fn problems(index: &JournalIndex, error: Option<String>) -> Markup {
    html! {
        @if let Some(error) = error { p.problem role="alert" { "The journals cannot be read: " (error) } }
        @for (id, why) in index.failed() {
            p.problem { "The journal of " code { (id) } " cannot be read: " (why) }
        }
    }
}
