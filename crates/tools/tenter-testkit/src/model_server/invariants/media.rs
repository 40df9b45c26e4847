//! The rules for images in a request.

use super::Violations;

/// The image types of Anthropic and OpenAI.
pub(super) const USUAL: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Checks the type and the base64 data of an image.
pub(super) fn image(
    media_type: &str,
    data: &str,
    types: &[&str],
    at: &str,
    violations: &mut Violations,
) {
    let problem = format!("`{media_type}` is none of {}", types.join(", "));
    violations.demand(types.contains(&media_type), at, &problem);
    violations.demand(is_base64(data), at, "the data must be base64");
}

/// Checks a `data:` or web address.
pub(super) fn url(url: &str, at: &str, violations: &mut Violations) {
    let Some(inline) = url.strip_prefix("data:") else {
        return web(url, at, violations);
    };
    match inline.split_once(";base64,") {
        Some((media_type, data)) => image(media_type, data, &USUAL, at, violations),
        None => violations.add(at, "a data: address must be `data:TYPE;base64,DATA`"),
    }
}

/// Checks a web address.
pub(super) fn web(url: &str, at: &str, violations: &mut Violations) {
    let fine = url.starts_with("https://") || url.starts_with("http://");
    violations.demand(fine, at, "the address must be http: or https:");
}

fn is_base64(data: &str) -> bool {
    let body = data.trim_end_matches('=');
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !body.is_empty()
        && data.len().is_multiple_of(4)
        && data.len() - body.len() <= 2
        && body.bytes().all(fine)
}
