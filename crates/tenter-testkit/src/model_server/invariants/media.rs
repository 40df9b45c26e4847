//! Pictures in a request: of a type that the provider reads, and whole.

use super::Findings;

/// What Anthropic and OpenAI read.
pub(super) const USUAL: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Checks a picture's type and its base64.
pub(super) fn image(
    media_type: &str,
    data: &str,
    types: &[&str],
    at: &str,
    findings: &mut Findings,
) {
    let problem = format!("`{media_type}` is none of {}", types.join(", "));
    findings.demand(types.contains(&media_type), at, &problem);
    findings.demand(is_base64(data), at, "the data must be base64");
}

/// Checks an address that is either a picture's own `data:` or the web's.
pub(super) fn url(url: &str, at: &str, findings: &mut Findings) {
    let Some(inline) = url.strip_prefix("data:") else {
        return web(url, at, findings);
    };
    match inline.split_once(";base64,") {
        Some((media_type, data)) => image(media_type, data, &USUAL, at, findings),
        None => findings.add(at, "a data: address must be `data:TYPE;base64,DATA`"),
    }
}

/// Checks an address of the web.
pub(super) fn web(url: &str, at: &str, findings: &mut Findings) {
    let fine = url.starts_with("https://") || url.starts_with("http://");
    findings.demand(fine, at, "the address must be http: or https:");
}

fn is_base64(data: &str) -> bool {
    let body = data.trim_end_matches('=');
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !body.is_empty()
        && data.len().is_multiple_of(4)
        && data.len() - body.len() <= 2
        && body.bytes().all(fine)
}
