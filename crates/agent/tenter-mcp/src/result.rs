//! Converts the result of a server's tool into a result for the model, within limits.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use tenter_base::{excerpt, sanitize};
use tenter_protocol::tool_metadata::{Mcp, McpImage};

/// Maximum size of the text of a result in bytes: head and tail if there is more.
const MAX_TEXT: usize = 100 << 10;
/// Maximum number of images of a result.
const MAX_IMAGES: usize = 8;
/// Maximum size of an image in base64: every provider accepts 5 MiB.
const MAX_IMAGE: usize = (5 << 20) / 3 * 4;
/// The images that every provider reads.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Converts a result. Returns also whether the tool failed.
pub(crate) fn convert(server: &str, tool: &str, result: &CallToolResult) -> (Mcp, bool) {
    let mut images = Vec::new();
    let mut parts: Vec<String> =
        result.content.iter().filter_map(|block| part(block, &mut images)).collect();
    // A server that has structured content should also write it as text.
    if parts.is_empty()
        && images.is_empty()
        && let Some(structured) = &result.structured_content
    {
        parts.push(tenter_protocol::json::to_string(structured));
    }
    let text = parts.join("\n");
    let text = sanitize(&text);
    let output = excerpt::ends(&text, MAX_TEXT).into_owned();
    let dropped_bytes = text.len().saturating_sub(MAX_TEXT) as u64;
    let metadata =
        Mcp { server: server.to_owned(), tool: tool.to_owned(), output, images, dropped_bytes };
    (metadata, result.is_error == Some(true))
}

/// Returns the text for a part of a result; `None` for an image that the model sees.
fn part(block: &ContentBlock, images: &mut Vec<McpImage>) -> Option<String> {
    match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        ContentBlock::Image(image) => {
            let (kind, data) = (image.mime_type.as_str(), image.data.as_str());
            let is_usable = IMAGE_TYPES.contains(&kind) && data.len() <= MAX_IMAGE;
            if is_usable && images.len() < MAX_IMAGES {
                images.push(McpImage { media_type: kind.to_owned(), data: data.to_owned() });
                return None;
            }
            Some(left_out("image", kind, data))
        }
        ContentBlock::Audio(audio) => Some(left_out("audio", &audio.mime_type, &audio.data)),
        ContentBlock::Resource(embedded) => Some(match &embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                format!("[resource {}]\n{text}", excerpt::one_line(uri, 200))
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let what = format!("resource {}", excerpt::one_line(uri, 200));
                left_out(&what, mime_type.as_deref().unwrap_or("binary"), blob)
            }
            _ => "[resource of an unknown kind]".to_owned(),
        }),
        ContentBlock::ResourceLink(link) => {
            let about = link.description.as_deref().unwrap_or(&link.name);
            Some(format!(
                "[resource {}: {}]",
                excerpt::one_line(&link.uri, 200),
                excerpt::one_line(about, 400)
            ))
        }
        _ => Some("[content of an unknown kind]".to_owned()),
    }
}

/// Stands for data that the model does not get.
fn left_out(what: &str, kind: &str, base64: &str) -> String {
    let bytes = base64.len() / 4 * 3;
    format!("[{what} left out: {}, {bytes} bytes]", excerpt::one_line(kind, 60))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn convert_result(result: Value) -> (Mcp, bool) {
        convert("s", "t", &serde_json::from_value(result).unwrap())
    }

    #[test]
    fn texts_resources_and_links_become_text() {
        let (result, is_error) = convert_result(json!({"content": [
            {"type": "text", "text": "one\u{1b}[31m"},
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "two"}},
            {"type": "resource_link", "uri": "file:///b", "name": "b"},
            {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}
        ]}));
        assert!(!is_error);
        assert_eq!(
            result.output,
            "one\n[resource file:///a]\ntwo\n[resource file:///b: b]\n[audio left out: audio/wav, 3 bytes]"
        );
    }

    #[test]
    fn images_are_kept_within_limits() {
        let image = json!({"type": "image", "mimeType": "image/png", "data": "AAAA"});
        let mut content = vec![image; MAX_IMAGES + 1];
        content.push(json!({"type": "image", "mimeType": "image/tiff", "data": "AAAA"}));
        let (result, _) = convert_result(json!({"content": content}));
        assert_eq!(result.images.len(), MAX_IMAGES);
        assert_eq!(
            result.output,
            "[image left out: image/png, 3 bytes]\n[image left out: image/tiff, 3 bytes]"
        );
    }

    #[test]
    fn structured_content_is_shown_if_there_is_no_other() {
        let (result, _) = convert_result(json!({"content": [], "structuredContent": {"a": 1}}));
        assert_eq!(result.output, "{\"a\": 1}");
        let text = json!([{"type": "text", "text": "x"}]);
        let (result, _) = convert_result(json!({"content": text, "structuredContent": {"a": 1}}));
        assert_eq!(result.output, "x");
    }

    #[test]
    fn long_results_keep_their_ends_and_errors_are_known() {
        let text = format!("begin{}end", "x".repeat(MAX_TEXT));
        let (result, is_error) =
            convert_result(json!({"content": [{"type": "text", "text": text}], "isError": true}));
        assert!(is_error);
        assert!(result.output.starts_with("begin") && result.output.ends_with("end"));
        assert_eq!(result.dropped_bytes, 8);
        assert!(result.output.len() < MAX_TEXT + 100);
    }
}
