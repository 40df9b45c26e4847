//! Parses the head of a request.

use std::borrow::Cow;

use form_urlencoded::parse;

use super::Status;

/// Maximum number of headers.
const MAX_HEADERS: usize = 64;
/// Maximum length of an address, in bytes.
const MAX_TARGET: usize = 4 << 10;

/// The head of a request.
#[derive(Debug)]
pub(crate) struct Request {
    method: String,
    path: Vec<String>,
    query: Vec<(String, String)>,
    hosts: Vec<String>,
}

impl Request {
    /// Parses a head; `None` if it is incomplete.
    ///
    /// # Errors
    /// The status of the answer to something that is no request, or exceeds the limits.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Self>, Status> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(bytes) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => return Err(Status::HeadTooLarge),
            Err(_) => return Err(Status::BadRequest),
        }
        let target = request.path.unwrap_or_default();
        if target.len() > MAX_TARGET {
            return Err(Status::AddressTooLong);
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = path.strip_prefix('/').ok_or(Status::BadRequest)?;
        let hosts =
            request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("host"));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        Ok(Some(Self {
            method: request.method.unwrap_or_default().to_owned(),
            path: path.split('/').filter(|part| !part.is_empty()).map(decode).collect(),
            query: parse(query.as_bytes())
                .map(|(key, value)| (key.into_owned(), value.into_owned()))
                .collect(),
            hosts: hosts.map(|header| text(header.value)).collect(),
        }))
    }

    /// Returns true if the method only reads.
    pub(crate) fn is_read(&self) -> bool {
        self.method == "GET" || self.is_head()
    }

    /// Returns true if the response needs no body.
    pub(crate) fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    /// Returns the server that it is for; `None` if it names none, or several.
    pub(crate) fn host(&self) -> Option<&str> {
        match self.hosts.as_slice() {
            [host] => Some(host),
            _ => None,
        }
    }

    /// Returns the parts of the path.
    pub(crate) fn path(&self) -> Vec<&str> {
        self.path.iter().map(String::as_str).collect()
    }

    /// Returns the first value of a query parameter, trimmed; `None` if it is missing or empty.
    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        let pair = self.query.iter().find(|(name, _)| name == key);
        pair.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }
}

/// Returns a part of a path without percent-encoding. In a path, a plus sign is itself.
fn decode(part: &str) -> String {
    let literal = part.replace('+', "%2B").replace(['=', '&'], "_");
    let text = parse(literal.as_bytes()).next().map(|(text, _)| text);
    text.map(Cow::into_owned).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(target: &str) -> Request {
        let head = format!("GET {target} HTTP/1.1\r\nhost: a:1\r\n\r\n");
        Request::parse(head.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn paths_and_queries_are_decoded() {
        let all = request("/session/a%2Fb%20c+d?q=x+y%26&tool=%C3%A9&empty=");
        assert_eq!(all.path(), ["session", "a/b c+d"]);
        assert_eq!((all.value("q"), all.value("tool")), (Some("x y&"), Some("é")));
        assert_eq!((all.value("empty"), all.value("none")), (None, None));
        assert!(request("//").path().is_empty());
    }

    #[test]
    fn bad_heads_are_refused() {
        let status = |head: &str| Request::parse(head.as_bytes()).err();
        assert_eq!(status("\u{1}\r\n\r\n"), Some(Status::BadRequest));
        assert_eq!(status("GET http://a/ HTTP/1.1\r\n\r\n"), Some(Status::BadRequest));
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(MAX_TARGET));
        assert_eq!(status(&long), Some(Status::AddressTooLong));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(MAX_HEADERS + 1));
        assert_eq!(status(&many), Some(Status::HeadTooLarge));
        assert!(Request::parse(b"GET / HTTP/1.1\r\nhost: a").unwrap().is_none());
        let two = Request::parse(b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n").unwrap().unwrap();
        assert_eq!(two.host(), None);
    }
}
