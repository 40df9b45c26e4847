//! The page of a hook's source as it was trusted.

use maud::html;

use super::Context;
use super::layout::Page;
use crate::http::{Response, Status};

pub(super) fn page(context: &Context<'_>, hash: &str) -> Response {
    let name = context.request.value("name").unwrap_or("hook");
    let source = context.pages.facts.source(name, hash);
    let page = Page { title: name, current: "", heading: html! { "Hook " code { (name) } } };
    let content = html! {
        dl.facts { div { dt { "SHA-256" } dd { code.hash { (hash) } } } }
        @match &source {
            Some(source) => {
                p.note { (source.origin) }
                @for (path, text) in &source.files {
                    section.file {
                        h2 { code { (path) } }
                        @match text {
                            Some(text) => pre tabindex="0" aria-label=(path) { code { (text) } },
                            None => p.detail { "The file is not text, or too long to be kept." },
                        }
                    }
                }
            }
            None => {
                div.empty {
                    p { "This version of the hook is not kept." }
                    p { "Tenter keeps what you trust in a project. Your own hooks need no trust: only their present version can be shown." }
                }
            }
        }
    };
    let status = if source.is_some() { Status::Ok } else { Status::NotFound };
    Response::html(status, page.render(context, &content))
}
