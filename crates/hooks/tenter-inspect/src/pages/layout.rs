//! The parts that all pages share: the frame, links, times, badges.

use std::time::Duration;

use form_urlencoded::Serializer;
use maud::{DOCTYPE, Markup, html};
use tenter_base::hex;
use tenter_engine::DecisionKind;

use super::Context;
use crate::filter::Filter;

/// A column of a table.
#[derive(Clone, Copy)]
pub(super) enum Column {
    Text(&'static str),
    Number(&'static str),
}

/// Returns a table that scrolls in a region with this label, and whose caption only screen readers show.
pub(super) fn table(label: &str, caption: &str, columns: &[Column], rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table.list {
                caption.hidden { (caption) }
                thead {
                    tr {
                        @for column in columns {
                            @match column {
                                Column::Text(title) => th scope="col" { (title) },
                                Column::Number(title) => th.number scope="col" { (title) },
                            }
                        }
                    }
                }
                tbody { (rows) }
            }
        }
    }
}

/// Makes addresses: each has the token, and keeps the choice of projects.
pub(super) struct Links<'t> {
    token: &'t str,
    is_all: bool,
}

impl<'t> Links<'t> {
    pub(super) fn new(token: &'t str, is_all: bool) -> Self {
        Self { token, is_all }
    }

    /// Returns the address of a page.
    pub(super) fn to<'q>(
        &self,
        path: &str,
        query: impl IntoIterator<Item = (&'q str, &'q str)>,
    ) -> String {
        self.with(path, query, self.is_all)
    }

    /// Returns the address of a page about this project, or all.
    pub(super) fn with<'q>(
        &self,
        path: &str,
        query: impl IntoIterator<Item = (&'q str, &'q str)>,
        is_all: bool,
    ) -> String {
        let mut text = Serializer::new(String::new());
        for (key, value) in query {
            text.append_pair(key, value);
        }
        if is_all {
            text.append_pair("all", "1");
        }
        text.append_pair("token", self.token);
        format!("{path}?{}", text.finish())
    }

    /// Returns the address of a session's page.
    pub(super) fn session(&self, id: &str, filter: &Filter) -> String {
        self.to(&format!("/session/{}", encode(id)), filter.fields())
    }

    /// Returns the address of a hook's source with a hash.
    pub(super) fn source(&self, hook: &str, hash: &str) -> String {
        self.to(&format!("/source/{}", encode(hash)), [("name", hook)])
    }

    /// Returns the fields that a form must send besides its own.
    pub(super) fn hidden_fields(&self) -> Markup {
        html! {
            @if self.is_all { input type="hidden" name="all" value="1"; }
            input type="hidden" name="token" value=(self.token);
        }
    }
}

/// Returns a part of a path, percent-encoded.
fn encode(part: &str) -> String {
    form_urlencoded::byte_serialize(part.as_bytes()).collect::<String>().replace('+', "%20")
}

/// Returns a version of a text: two texts with the same version are the same.
pub(super) fn version(text: &str) -> String {
    use sha2::Digest as _;
    hex(&sha2::Sha256::digest(text.as_bytes())[..12])
}

/// The frame of a page.
pub(super) struct Page<'p> {
    /// The title, in the window and for screen readers.
    pub(super) title: &'p str,
    /// The path of the navigation's current entry.
    pub(super) current: &'static str,
    /// The content of the heading.
    pub(super) heading: Markup,
}

impl Page<'_> {
    /// Returns the page around `content`.
    pub(super) fn render(&self, context: &Context<'_>, content: &Markup) -> Markup {
        let links = &context.links;
        let entry = |path: &'static str, name: &str| {
            let current = (self.current == path).then_some("page");
            html! { li { a href=(links.to(path, [])) aria-current=[current] { (name) } } }
        };
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " · Tenter" }
                    link rel="icon" type="image/svg+xml" href=(links.to("/icon.svg", []));
                    link rel="stylesheet" href=(links.to("/inspect.css", []));
                    script src=(links.to("/inspect.js", [])) defer {}
                }
                body {
                    a.skip href="#content" { "Skip to the content" }
                    header.bar {
                        a.brand href=(links.to("/", [])) {
                            span.mark aria-hidden="true" {} "Tenter"
                        }
                        nav aria-label="Pages" {
                            ul {
                                (entry("/", "Sessions"))
                                (entry("/stopped", "Stopped calls"))
                                (entry("/hooks", "Hooks"))
                                (entry("/hosts", "Agents"))
                                (entry("/backtest", "Backtest"))
                                (entry("/calls", "Transcripts"))
                            }
                        }
                        (self.scope(context))
                    }
                    main #content tabindex="-1" {
                        h1 { (self.heading) }
                        (content)
                    }
                    footer { "Read-only. Times are UTC. " span #state role="status" {} }
                }
            }
        }
    }

    /// Shows the projects of the page, and the link to the other choice.
    fn scope(&self, context: &Context<'_>) -> Markup {
        let project = context.pages.project.as_str();
        let name = project.rsplit('/').find(|part| !part.is_empty()).unwrap_or(project);
        let choice = |is_all: bool, text: &str, title: &str| {
            let current = (context.is_all == is_all).then_some("true");
            let path = if self.current.is_empty() { "/" } else { self.current };
            let address = context.links.with(path, [], is_all);
            html! { a href=(address) title=(title) aria-current=[current] { (text) } }
        };
        html! {
            div.scope role="group" aria-label="Projects" {
                (choice(false, name, project))
                (choice(true, "All projects", "The sessions of all projects"))
            }
        }
    }
}

/// Returns a time of a record, to the second.
pub(super) fn time(rfc3339: &str) -> Markup {
    let date = rfc3339.get(..10).unwrap_or(rfc3339);
    let clock = rfc3339.get(11..19).unwrap_or_default();
    html! { time datetime=(rfc3339) { span.date { (date) } " " (clock) } }
}

/// Returns a decision.
pub(super) fn badge(decision: DecisionKind) -> Markup {
    let word = decision.as_str();
    html! { span class={ "badge " (word) } { (word) } }
}

/// Returns a duration in milliseconds, or in seconds if it is long.
pub(super) fn duration(duration: Duration) -> String {
    let ms = duration.as_millis();
    if ms < 10_000 { format!("{ms} ms") } else { format!("{:.1} s", ms as f64 / 1000.0) }
}
