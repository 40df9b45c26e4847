//! Sends a reply with its faults.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Format;
use crate::exchange::{Delivery, Route};
use crate::http::ResponseWriter;
use crate::reply::Fault;
use crate::stream::{Plan, StreamEnd};
use crate::wire::{WireReply, failure};

/// True if the connection stays open; an error is a mistake in the script.
type SendResult = io::Result<Result<bool, String>>;

/// Sends a reply with its faults.
pub(super) fn send(answer: &WireReply, route: &Route, to: &ResponseWriter) -> SendResult {
    let headers = headers(answer, route.format);
    for fault in &answer.reply.faults {
        match fault {
            Fault::Delay(millis) if !to.wait(Some(Duration::from_millis(*millis)))? => {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            Fault::HangUp => return Ok(Ok(false)),
            _ => {}
        }
        if let Some((status, more, body)) = error(fault, answer, route.format) {
            return to.whole(status, &[headers, more].concat(), &body).map(|()| Ok(true));
        }
    }
    match route.delivery {
        Delivery::Events => stream(answer, route.format, &headers, to),
        Delivery::Whole => whole(answer, &answer.whole(route.format), &headers, to),
        Delivery::Array => whole(answer, &json!([answer.whole(route.format)]), &headers, to),
    }
}

type Headers = Vec<(&'static str, String)>;

/// Returns the headers of the provider's responses. llama.cpp sends a header without a value, and no id.
fn headers(answer: &WireReply, format: Format) -> Headers {
    let id = || format!("req_{:04}", answer.serial);
    match format {
        _ if answer.llama => {
            vec![("server", "llama.cpp".to_owned()), ("access-control-allow-origin", String::new())]
        }
        Format::Anthropic => vec![("request-id", id())],
        Format::Responses | Format::Chat => vec![("x-request-id", id())],
        Format::Gemini => Vec::new(),
    }
}

type Error = (u16, Headers, String);

/// Returns the HTTP error of a fault, if it is one.
fn error(fault: &Fault, answer: &WireReply, format: Format) -> Option<Error> {
    match fault {
        Fault::Status { code, retry_after, body } => {
            let headers = retry_after.map(|seconds| ("retry-after", seconds.to_string()));
            let usual = || failure::body(format, *code, *retry_after, answer.llama).to_string();
            Some((*code, headers.into_iter().collect(), body.clone().unwrap_or_else(usual)))
        }
        Fault::TooLong => {
            Some((400, Vec::new(), failure::too_long(format, answer.llama).to_string()))
        }
        Fault::UnknownModel => {
            Some((404, Vec::new(), failure::unknown_model(format, answer.model).to_string()))
        }
        _ => None,
    }
}

fn stream(
    answer: &WireReply,
    format: Format,
    headers: &Headers,
    to: &ResponseWriter,
) -> SendResult {
    let faults = &answer.reply.faults;
    if faults.contains(&Fault::EmptyBody) {
        to.begin(headers)?;
        return to.end().map(|()| Ok(true));
    }
    if let Some((recorded, bytes)) = &answer.reply.raw {
        if *recorded != format {
            return Ok(Err(format!("the reply is {recorded:?}, the request is {format:?}")));
        }
        to.begin(headers)?;
        to.piece(bytes.as_bytes())?;
        return to.end().map(|()| Ok(true));
    }
    match Plan::new(answer.stream(format), faults, &failure::in_stream(format, answer.llama)) {
        Ok(plan) => {
            to.begin(headers)?;
            play(&plan, faults, to).map(Ok)
        }
        Err(mistake) => Ok(Err(mistake)),
    }
}

fn play(plan: &Plan, faults: &[Fault], to: &ResponseWriter) -> io::Result<bool> {
    let pause = faults.iter().find_map(|fault| match fault {
        Fault::Slow(millis) => Some(Duration::from_millis(*millis)),
        _ => None,
    });
    for frame in &plan.frames {
        to.piece(frame.text.as_bytes())?;
        if pause.is_some() && !to.wait(pause)? {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
    }
    match &plan.end {
        StreamEnd::Clean => to.end().map(|()| true),
        StreamEnd::Cut => Ok(false),
        StreamEnd::Silent => {
            while to.wait(None)? {}
            Err(io::ErrorKind::BrokenPipe.into())
        }
        StreamEnd::Endless(text, pause) => loop {
            to.piece(text.as_bytes())?;
            if !to.wait(Some(*pause))? {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
        },
    }
}

fn whole(answer: &WireReply, body: &Value, headers: &Headers, to: &ResponseWriter) -> SendResult {
    if answer.reply.raw.is_some() {
        return Ok(Err("a recorded stream needs a request that streams".to_owned()));
    }
    let body = body.to_string();
    let half = body.char_indices().nth(body.chars().count() / 2).map_or(0, |(index, _)| index);
    for fault in &answer.reply.faults {
        match fault {
            Fault::EmptyBody => return to.whole(200, headers, "").map(|()| Ok(true)),
            Fault::MalformedJson => {
                return to
                    .whole(200, headers, body.get(..half).unwrap_or_default())
                    .map(|()| Ok(true));
            }
            Fault::CutMidText | Fault::CutInsideToolJson => {
                return to.short(200, headers, &body, half).map(|()| Ok(false));
            }
            Fault::Delay(_) => {}
            other => return Ok(Err(format!("{other:?} needs a request that streams"))),
        }
    }
    to.whole(200, headers, &body).map(|()| Ok(true))
}
