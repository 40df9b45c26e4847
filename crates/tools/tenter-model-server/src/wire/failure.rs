//! Encodes errors for each API.

use serde_json::{Value, json};

use crate::Format;
use crate::stream::{Frame, FrameKind};

/// Returns the body of an HTTP error, as the provider documents it for this status.
pub fn body(format: Format, code: u16, retry_after: Option<u64>, llama: bool) -> Value {
    match format {
        _ if llama => llama_error(code, llama_kind(code), llama_text(code)),
        Format::Anthropic => anthropic(anthropic_kind(code), anthropic_text(code)),
        Format::Responses | Format::Chat => openai(code),
        Format::Gemini => gemini(code, gemini_text(code), retry_after),
    }
}

/// Returns an error with a message of this server, in the shape of the API.
pub fn rejection(format: Format, message: &str) -> Value {
    match format {
        Format::Anthropic => anthropic("invalid_request_error", message),
        Format::Responses | Format::Chat => {
            openai_error(message, "invalid_request_error", None, None)
        }
        Format::Gemini => gemini(400, message, None),
    }
}

/// Returns the body of the 400 for a conversation that is too long.
pub fn too_long(format: Format, llama: bool) -> Value {
    const RESPONSES: &str = "Your input exceeds the context window of this model. Please adjust your input and try again.";
    const CHAT: &str = "This model's maximum context length is 128000 tokens. However, your messages resulted in \
        130012 tokens. Please reduce the length of the messages.";
    const GEMINI: &str =
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    let code = Some("context_length_exceeded");
    match format {
        _ if llama => llama_too_long(),
        Format::Anthropic => {
            anthropic("invalid_request_error", "prompt is too long: 205000 tokens > 200000 maximum")
        }
        Format::Responses => openai_error(RESPONSES, "invalid_request_error", Some("input"), code),
        Format::Chat => openai_error(CHAT, "invalid_request_error", Some("messages"), code),
        Format::Gemini => gemini(400, GEMINI, None),
    }
}

/// Returns the body of the 404 for an unknown model.
pub(crate) fn unknown_model(format: Format, model: &str) -> Value {
    match format {
        Format::Anthropic => anthropic("not_found_error", &format!("model: {model}")),
        Format::Responses | Format::Chat => openai_error(
            &format!("The model `{model}` does not exist or you do not have access to it."),
            "invalid_request_error",
            None,
            Some("model_not_found"),
        ),
        Format::Gemini => {
            let message = format!(
                "models/{model} is not found for API version v1beta, or is not supported for generateContent. Call \
                 ListModels to see the list of available models and their supported methods."
            );
            gemini(404, &message, None)
        }
    }
}

/// Returns the error event of a stream that has started.
pub(crate) fn in_stream(format: Format, llama: bool) -> Frame {
    const MISMATCH: &str =
        "The model produced output that does not match the expected peg-native format";
    const FAILED: &str = "The server had an error while processing your request. Sorry about that!";
    match format {
        Format::Anthropic => {
            Frame::with_type(&anthropic("overloaded_error", "Overloaded"), FrameKind::Other)
        }
        Format::Responses => {
            let event = json!({
                "type": "error", "code": "server_error", "message": FAILED, "param": null, "sequence_number": 99,
            });
            Frame::with_type(&event, FrameKind::Other)
        }
        Format::Chat if llama => {
            Frame::data(&llama_error(500, "server_error", MISMATCH), FrameKind::Other)
        }
        Format::Chat => {
            Frame::data(&openai_error(FAILED, "server_error", None, None), FrameKind::Other)
        }
        Format::Gemini => Frame::data(&gemini(503, gemini_text(503), None), FrameKind::Other),
    }
}

fn anthropic(kind: &str, message: &str) -> Value {
    json!({
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": "req_0000000000000000000000",
    })
}

fn anthropic_kind(code: u16) -> &'static str {
    match code {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

fn anthropic_text(code: u16) -> &'static str {
    match code {
        401 => "invalid x-api-key",
        429 => {
            "This request would exceed your organization's rate limit of 50 requests per minute."
        }
        529 => "Overloaded",
        500.. => "Internal server error",
        _ => "The request is invalid.",
    }
}

fn openai(code: u16) -> Value {
    match code {
        401 => openai_error(
            "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.",
            "invalid_request_error",
            None,
            Some("invalid_api_key"),
        ),
        429 => openai_error(
            "Rate limit reached for requests. Please try again later.",
            "requests",
            None,
            Some("rate_limit_exceeded"),
        ),
        503 => openai_error(
            "The engine is currently overloaded, please try again later.",
            "server_error",
            None,
            Some("server_overloaded"),
        ),
        500.. => openai_error(
            "The server had an error while processing your request. Sorry about that!",
            "server_error",
            None,
            None,
        ),
        _ => openai_error("The request is invalid.", "invalid_request_error", None, None),
    }
}

fn openai_error(message: &str, kind: &str, param: Option<&str>, code: Option<&str>) -> Value {
    json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
}

fn gemini(code: u16, message: &str, retry_after: Option<u64>) -> Value {
    let mut error = json!({"code": code, "message": message, "status": gemini_status(code)});
    if let Some(seconds) = retry_after {
        let kind = "type.googleapis.com/google.rpc.RetryInfo";
        error["details"] = json!([{"@type": kind, "retryDelay": format!("{seconds}s")}]);
    }
    json!({"error": error})
}

fn gemini_status(code: u16) -> &'static str {
    match code {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 | 529 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}

fn gemini_text(code: u16) -> &'static str {
    match code {
        401 => {
            "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid \
                authentication credential."
        }
        429 => "Resource has been exhausted (e.g. check quota).",
        503 | 529 => "The model is overloaded. Please try again later.",
        500.. => {
            "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting"
        }
        _ => "Request contains an invalid argument.",
    }
}

/// Returns an error of llama.cpp's, with the same shape in every API and a numeric code.
fn llama_error(code: u16, kind: &str, message: &str) -> Value {
    json!({"error": {"code": code, "message": message, "type": kind}})
}

fn llama_kind(code: u16) -> &'static str {
    match code {
        401 => "authentication_error",
        404 => "not_found_error",
        503 => "unavailable_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

fn llama_text(code: u16) -> &'static str {
    match code {
        401 => "Invalid API Key",
        404 => "File Not Found",
        503 => "Loading model",
        500.. => "The model produced output that does not match the expected peg-native format",
        _ => "Invalid request",
    }
}

fn llama_too_long() -> Value {
    let mut error = llama_error(
        400,
        "exceed_context_size_error",
        "request (12062 tokens) exceeds the available context size (8192 tokens), try increasing it",
    );
    error["error"]["n_prompt_tokens"] = json!(12062);
    error["error"]["n_ctx"] = json!(8192);
    error
}
