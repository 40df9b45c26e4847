//! Hooks of Claude Code's behind HTTP, as commands: they read its payload and answer in its way, which hooks with a `url` do not.

use std::fmt::Write as _;

use serde_json::Value;
use tenter_protocol::manifest::http_endpoint::check_url;

use super::slug;

/// Writes a shell script that posts the payload to `url` and prints the answer. Secrets are in no argument of a process.
///
/// # Errors
/// The handler cannot be carried over; the error is the reason, as a clause.
pub(super) fn script(url: &str, handler: &Value) -> Result<String, String> {
    check_url(url).map_err(|why| format!("its address {why}"))?;
    let variables: Vec<&str> = handler
        .get("allowedEnvVars")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).filter(|name| is_name(name)).collect())
        .unwrap_or_default();
    let mut config = String::from("header = \"Content-Type: application/json\"\n");
    let headers = handler.get("headers").and_then(Value::as_object);
    for (name, value) in headers.into_iter().flatten() {
        let value = value.as_str().ok_or("a header is not text")?;
        let is_writable = |text: &str| !text.chars().any(|c| c.is_control() || "\"\\`".contains(c));
        if !is_writable(name) || name.contains(['$', ':']) || !is_writable(value) {
            return Err(format!("its header {name:?} has characters that are not supported"));
        }
        let _ = writeln!(config, "header = \"{name}: {}\"", with_variables(value, &variables));
    }
    let url = shlex::try_quote(url).map_err(|_| "its address is no text")?;
    Ok(format!(
        "exec curl --silent --show-error --fail --data-binary @- --config /dev/fd/3 {url} 3<<TENTER_HEADERS\n{config}TENTER_HEADERS"
    ))
}

/// Returns the name of a hook with this address.
pub(super) fn name(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    format!("post-{}", slug(rest, 35))
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Writes a header's value for a here-document: `$NAME` and `${NAME}` are replaced for the allowed variables, and empty for others, as in
/// Claude Code.
fn with_variables(value: &str, variables: &[&str]) -> String {
    let mut text = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        let is_braced = after.starts_with('{');
        let inner = after.trim_start_matches('{');
        let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (name, mut tail) = inner.split_at(end.unwrap_or(inner.len()));
        if is_braced {
            tail = tail.strip_prefix('}').unwrap_or(tail);
        }
        match name {
            "" => text.push_str("\\$"),
            name if variables.contains(&name) => {
                let _ = write!(text, "${{{name}}}");
            }
            _ => {}
        }
        rest = tail;
    }
    text.push_str(rest);
    text
}
