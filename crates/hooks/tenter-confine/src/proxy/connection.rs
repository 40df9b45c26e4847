//! One connection of the command to the proxy.

use std::io::{self, Write as _};
use std::net::{Shutdown, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::request::ProxyRequest;
use super::router::{Refusal, Router};

/// Maximum time for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// The size of the stack of a thread, in bytes.
const STACK: usize = 256 << 10;

/// Serves a connection until both sides are closed.
pub(super) fn serve(mut client: TcpStream, router: &Router) {
    // An error ends the connection, which is all that the command needs to know.
    let _ = answer(&mut client, router);
}

fn answer(client: &mut TcpStream, router: &Router) -> io::Result<()> {
    client.set_read_timeout(Some(HEAD_TIMEOUT))?;
    let Some(request) = ProxyRequest::read(client)? else {
        return respond(client, "400 Bad Request", "the request is not one for a proxy");
    };
    client.set_read_timeout(None)?;
    let mut server = match router.connect(&request.host, request.port) {
        Ok(server) => server,
        Err(refusal) => {
            let status = match refusal {
                Refusal::NotAllowed(_) => "403 Forbidden",
                Refusal::Unreachable(_) => "502 Bad Gateway",
            };
            return respond(client, status, &refusal.to_string());
        }
    };
    if request.is_tunnel {
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
    }
    server.write_all(&request.first_bytes)?;
    copy_both_ways(client, &server)
}

fn respond(client: &mut TcpStream, status: &str, why: &str) -> io::Result<()> {
    let body = format!("tenter confine: {why}\n");
    let head = "Content-Type: text/plain; charset=utf-8\r\nConnection: close";
    write!(client, "HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn copy_both_ways(client: &TcpStream, server: &TcpStream) -> io::Result<()> {
    let (from_client, to_server) = (client.try_clone()?, server.try_clone()?);
    let upward = start_thread(move || copy(&from_client, &to_server))?;
    copy(server, client);
    let _ = upward.join();
    Ok(())
}

/// Copies until one side ends. Then the other one learns that.
fn copy(mut from: &TcpStream, mut to: &TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

/// Starts a thread with a small stack.
pub(super) fn start_thread(work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().stack_size(STACK).spawn(work)
}
