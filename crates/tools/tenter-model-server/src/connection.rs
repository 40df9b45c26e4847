//! Serves one connection: reads, records and answers requests one after the other.

use std::io::{self, BufReader};
use std::net::{Shutdown, TcpStream};

use serde_json::Value;

use crate::http::{self, HttpRequest, ResponseWriter};
use crate::player::{Response, ScriptedResponse};
use crate::state::Shared;
use crate::wire::{WireReply, failure};
use crate::{Format, sending};

/// Serves a connection until the client or the server closes it, or a fault breaks it.
pub(super) fn serve(stream: &TcpStream, shared: &Shared) {
    // Send small pieces at once, if possible.
    let _delayed = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream);
    loop {
        let request = match http::read(&mut reader, stream) {
            Ok(Some(request)) => request,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                reject(&error, stream);
                break;
            }
            Ok(None) | Err(_) => break,
        };
        match answer(&request, &ResponseWriter::new(stream, &request.method), shared) {
            Ok(true) if !request.is_last() => {}
            Ok(_) => break,
            Err(_) => {
                shared.note(|evidence| evidence.hang_ups += 1);
                break;
            }
        }
    }
    let _result = stream.shutdown(Shutdown::Both);
}

/// Answers what is no request.
fn reject(error: &io::Error, stream: &TcpStream) {
    let body = failure::rejection(Format::Chat, &error.to_string()).to_string();
    // The client may have closed the connection already.
    let _result = ResponseWriter::new(stream, "").whole(400, &[], &body);
}

/// Answers a request. Returns false if the connection must be closed.
fn answer(request: &HttpRequest, to: &ResponseWriter, shared: &Shared) -> io::Result<bool> {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let scripted = match shared.respond(request, &body) {
        Response::Fixed(status, body) => {
            return to.whole(status, &[], &body.to_string()).map(|()| true);
        }
        Response::Scripted(scripted) => scripted,
    };
    let ScriptedResponse { reply, route, serial, llama } = *scripted;
    let answer = WireReply { reply: &reply, model: &route.model, request: &body, serial, llama };
    sending::send(&answer, &route, to)?.or_else(|mistake| {
        let text = format!("the script cannot be followed: {mistake}");
        let refusal = failure::rejection(route.format, &text).to_string();
        shared.note(|evidence| evidence.violations.push(text));
        to.whole(400, &[], &refusal).map(|()| true)
    })
}
