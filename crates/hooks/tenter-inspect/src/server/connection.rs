//! Serves one connection: one request, one response. Time, size and number are limited, so that a slow or hostile client takes a thread
//! for some seconds and nothing else.

use std::io::{self, Read as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use super::access::Access;
use crate::http::{Request, Response, Status};
use crate::pages::Pages;

/// Maximum length of a request's head, in bytes.
const MAX_HEAD: usize = 16 << 10;
/// Maximum duration until the head is complete.
const HEAD_TIME: Duration = Duration::from_secs(3);
/// Maximum time without progress while the response is written.
const WRITE_TIME: Duration = Duration::from_secs(10);
/// Maximum number of bytes, and maximum time, for reading what a client still sends after the response.
const DRAIN_LIMITS: (usize, Duration) = (1 << 20, Duration::from_millis(500));

/// Answers the request of a connection, after `has_request` was called.
pub(super) fn serve(
    stream: &TcpStream,
    (access, pages): (&Access, &Pages),
    has_request: impl FnOnce(),
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(WRITE_TIME))?;
    let request = match head(stream)? {
        Ok(request) => request,
        Err(status) => return finish(stream, &Response::empty(status), false),
    };
    has_request();
    finish(stream, &answer(&request, access, pages), request.is_head())
}

fn answer(request: &Request, access: &Access, pages: &Pages) -> Response {
    if !access.permits(request) {
        Response::empty(Status::Forbidden)
    } else if !request.is_read() {
        Response::empty(Status::MethodNotAllowed)
    } else {
        pages.answer(request, access.token())
    }
}

/// Reads the head of a request, or returns the status of the answer.
fn head(stream: &TcpStream) -> io::Result<Result<Request, Status>> {
    let deadline = Instant::now() + HEAD_TIME;
    let mut bytes = Vec::new();
    loop {
        let remaining = deadline.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            return Ok(Err(Status::RequestTimeout));
        }
        stream.set_read_timeout(Some(remaining))?;
        let mut piece = [0; 4096];
        let result = match (&mut &*stream).read(&mut piece) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => count,
            Err(error) if is_timeout(&error) => continue,
            Err(error) => return Err(error),
        };
        bytes.extend_from_slice(&piece[..result]);
        match Request::parse(&bytes) {
            Ok(Some(request)) => return Ok(Ok(request)),
            Err(status) => return Ok(Err(status)),
            Ok(None) if bytes.len() > MAX_HEAD => return Ok(Err(Status::HeadTooLarge)),
            Ok(None) => {}
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

/// Sends the response and closes the connection. What the client still sends is read, within limits: a connection that is closed with
/// unread bytes is reset, and the response with it.
fn finish(stream: &TcpStream, response: &Response, head_only: bool) -> io::Result<()> {
    response.write(stream, head_only)?;
    stream.shutdown(Shutdown::Write)?;
    let (limit, time) = DRAIN_LIMITS;
    let deadline = Instant::now() + time;
    let mut total = 0;
    let mut piece = [0; 4096];
    while total < limit {
        let remaining = deadline.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            break;
        }
        stream.set_read_timeout(Some(remaining))?;
        match (&mut &*stream).read(&mut piece)? {
            0 => break,
            bytes => total += bytes,
        }
    }
    Ok(())
}
