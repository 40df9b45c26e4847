//! The address on this machine to which the user's browser returns with the code of a login.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use tenter_base::one_line;
use tenter_proc::Cancel;

/// The path of the address.
const PATH: &str = "/callback";
/// Maximum time that the user takes to log in.
const LOGIN_TIME: Duration = Duration::from_mins(5);
/// Maximum time for one request of the browser.
const REQUEST_TIME: Duration = Duration::from_secs(2);
/// Maximum size of the head of a request, in bytes.
const MAX_HEAD: usize = 16 << 10;
/// The interval at which a wait looks for a request and for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum number of characters of an explanation.
const MAX_EXPLANATION: usize = 300;

/// Waits for the browser.
pub(super) struct Redirect {
    listener: TcpListener,
    port: u16,
}

impl Redirect {
    /// Listens on a free port of this machine.
    pub(super) fn listen() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// Returns the address.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the code of the login with this `state`, which no other page can know.
    ///
    /// # Errors
    /// The user or the server refused, or there is no answer in time.
    pub(super) fn wait(
        &self,
        state: &str,
        issuer: Option<&str>,
        cancel: &Cancel,
    ) -> Result<String, String> {
        let until = Instant::now() + LOGIN_TIME;
        while Instant::now() < until {
            if cancel.is_cancelled() {
                return Err("interrupted".to_owned());
            }
            let Ok((stream, _)) = self.listener.accept() else {
                thread::sleep(POLL_INTERVAL);
                continue;
            };
            if let Some(answer) = answered(stream, state, issuer) {
                return answer;
            }
        }
        Err("there was no login within five minutes".to_owned())
    }
}

/// Answers a request of the browser; `None` if it does not belong to this login.
fn answered(
    mut stream: TcpStream,
    state: &str,
    issuer: Option<&str>,
) -> Option<Result<String, String>> {
    stream.set_nonblocking(false).ok()?;
    stream.set_read_timeout(Some(REQUEST_TIME)).ok()?;
    stream.set_write_timeout(Some(REQUEST_TIME)).ok()?;
    let target = target(&mut stream)?;
    let answer = answer(&target, state, issuer);
    let (status, text) = match &answer {
        None => ("404 Not Found", "This is not the page of a login.".to_owned()),
        Some(Ok(_)) => ("200 OK", "You are logged in. You can close this page.".to_owned()),
        Some(Err(_)) => ("200 OK", "The login failed. The terminal says why.".to_owned()),
    };
    let response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    // The browser may be gone; the code is there.
    let _ = stream.write_all(response.as_bytes());
    answer
}

/// Reads the target of a request: `/callback?code=…`.
fn target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut chunk = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut chunk).ok().filter(|count| *count > 0)?;
        head.extend_from_slice(&chunk[..count]);
        if head.len() > MAX_HEAD {
            return None;
        }
    }
    let head = String::from_utf8(head).ok()?;
    head.strip_prefix("GET ")?.split(' ').next().map(str::to_owned)
}

/// Reads the answer in a target; `None` if it does not belong to the login with this `state`.
fn answer(target: &str, state: &str, issuer: Option<&str>) -> Option<Result<String, String>> {
    let query = target.strip_prefix(PATH)?.strip_prefix('?')?;
    let field = |key: &str| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs.find(|(name, _)| name == key).map(|(_, value)| value.into_owned())
    };
    if field("state")? != state {
        return None;
    }
    if let (Some(of), Some(issuer)) = (field("iss"), issuer)
        && of != issuer
    {
        return Some(Err(format!("another server answered: {}", shown(&of))));
    }
    Some(match (field("code"), field("error_description").or_else(|| field("error"))) {
        (Some(code), _) => Ok(code),
        (None, Some(why)) => Err(format!("the login was refused: {}", shown(&why))),
        (None, None) => Err("the server sent neither a code nor an error".to_owned()),
    })
}

fn shown(text: &str) -> String {
    one_line(text, MAX_EXPLANATION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_with_the_state_counts() {
        let read = |target: &str| answer(target, "s1", Some("https://a"));
        assert_eq!(read("/callback?code=c%20d&state=s1"), Some(Ok("c d".to_owned())));
        assert_eq!(read("/callback?code=c&state=s2"), None);
        assert_eq!(read("/callback?code=c"), None);
        assert_eq!(read("/favicon.ico"), None);
        assert!(read("/callback?error=access_denied&state=s1").unwrap().is_err());
        assert!(read("/callback?code=c&state=s1&iss=https://b").unwrap().is_err());
    }
}
