//! Programs that run what they decode or download, recognised by the names of functions in what they run.

use super::literals::Source;

const DECODES: &[&str] = &[
    "b64decode",
    "b32decode",
    "b85decode",
    "a85decode",
    "decode_base64",
    "base64_decode",
    "Base64.decode",
    "decode64",
    "atob(",
    "fromhex",
    "unhexlify",
    "codecs.decode",
    "decompress(",
    "gzinflate",
    "str_rot13",
    "fromCharCode",
    "pack(",
    "'base64'",
    "\"base64\"",
    "'hex'",
    "\"hex\"",
];

const DOWNLOADS: &[&str] = &[
    "urlopen(",
    "requests.get",
    "requests.post",
    "httpx.get",
    "urlretrieve",
    "fetch(",
    "axios",
    "http.get",
    "https.get",
    "Net::HTTP",
    "URI.open",
    "URI(",
    "open-uri",
    "LWP::",
    "get(\"http",
    "get('http",
    "get \"http",
    "get 'http",
    "file_get_contents(\"http",
    "file_get_contents('http",
    "curl_exec",
    "recv(",
    "url(\"http",
    "url('http",
    "download(\"http",
    "download('http",
    "\"curl ",
    "'curl ",
    "`curl ",
    "\"wget ",
    "'wget ",
    "`wget ",
];

/// Maximum number of variables in one call whose values are looked at.
const MAX_VARIABLES: usize = 8;

pub(super) fn decodes(text: &str) -> bool {
    DECODES.iter().any(|name| text.contains(name))
}

pub(super) fn downloads(text: &str) -> bool {
    DOWNLOADS.iter().any(|name| text.contains(name))
}

/// Checks whether the arguments of a call, or the variables in them, decode or download something.
pub(super) fn of_arguments(source: &Source<'_>, at: usize) -> (bool, bool) {
    let arguments = source.raw_arguments(at);
    let (mut decodes, mut downloads) = (self::decodes(arguments), self::downloads(arguments));
    let mut open: Vec<(&str, usize)> = variables(arguments).map(|name| (name, at)).collect();
    let mut looked_at = 0;
    while let Some((name, before)) = open.pop() {
        looked_at += 1;
        if looked_at > MAX_VARIABLES {
            break;
        }
        let Some((place, value)) = source.assigned(name, before) else { continue };
        let value = value.split(['\n', ';']).next().unwrap_or_default();
        decodes |= self::decodes(value);
        downloads |= self::downloads(value);
        open.extend(variables(value).map(|name| (name, place)));
    }
    (decodes, downloads)
}

/// The names in an expression.
fn variables(expression: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '@');
    expression
        .split(move |c| !is_part(c))
        .filter(|name| !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()))
        .take(MAX_VARIABLES)
}
