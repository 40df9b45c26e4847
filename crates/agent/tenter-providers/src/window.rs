//! The list of models of a server: their names and context windows. OpenAI's list has no context windows; local servers add them,
//! each in its own field. A missing field or a slow server is not an error: the value is then unknown.

use std::time::Duration;

use http::Request;
use serde_json::Value;
use tenter_proc::Cancel;

use crate::{Api, Endpoint, ResponseLimits};
use tenter_http::StreamTail;

/// Maximum time for the response.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Maximum size of the list, in bytes.
const MAX_LIST_BYTES: u64 = 4 << 20;

/// Returns the context window of a model in tokens, as llama.cpp (`meta.n_ctx`) and vLLM (`max_model_len`) report it; `None` if
/// unknown.
pub fn context_window(endpoint: &Endpoint, model: &str, cancel: &Cancel) -> Option<u64> {
    window_of(&list(endpoint, cancel)?, model)
}

/// Returns the names of the models on the server; empty if unknown.
pub fn served_models(endpoint: &Endpoint, cancel: &Cancel) -> Vec<String> {
    let list = list(endpoint, cancel);
    let models = list.as_ref().and_then(|list| list.get("data")?.as_array());
    let names = models.into_iter().flatten().filter_map(|entry| entry.get("id")?.as_str());
    names.map(str::to_owned).collect()
}

/// Returns the list of models, if the API has one.
fn list(endpoint: &Endpoint, cancel: &Cancel) -> Option<Value> {
    if endpoint.api != Api::Chat {
        return None;
    }
    let limits = ResponseLimits { bytes: MAX_LIST_BYTES, time: TIMEOUT };
    let endpoint = Endpoint { limits, ..endpoint.clone() };
    let http = endpoint.transport().ok()?;
    let mut request = Request::get(format!("{}/models", endpoint.base_url.as_deref()?));
    if let Some(key) = &endpoint.key {
        request = request.header("authorization", format!("Bearer {}", key.reveal()));
    }
    let response =
        http.send(request.body(Vec::new()).ok()?, cancel, &StreamTail::default()).ok()?;
    let body = response.into_body().collect::<Result<Vec<_>, _>>().ok()?.concat();
    serde_json::from_slice(&body).ok()
}

/// Returns the context window of a model in the list. A server with a single model uses it for every name.
fn window_of(list: &Value, model: &str) -> Option<u64> {
    let models = list.get("data")?.as_array()?;
    let entry_of_name =
        models.iter().find(|entry| entry.get("id").and_then(Value::as_str) == Some(model));
    let entry = match models.as_slice() {
        [only] => entry_of_name.unwrap_or(only),
        _ => entry_of_name?,
    };
    let from_llama_cpp = || entry.get("meta")?.get("n_ctx")?.as_u64();
    let window = from_llama_cpp().or_else(|| entry.get("max_model_len")?.as_u64())?;
    Some(window).filter(|window| *window > 0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_window_is_read_from_the_field_of_each_server() {
        let llama =
            json!({"data": [{"id": "gemma", "meta": {"n_ctx": 16384, "n_ctx_train": 32768}}]});
        assert_eq!(window_of(&llama, "gemma"), Some(16384));
        assert_eq!(window_of(&llama, "whatever"), Some(16384), "it has only one model");
        let vllm = json!({"data": [
            {"id": "a", "max_model_len": 4096, "object": "model"},
            {"id": "b", "max_model_len": 8192, "object": "model"},
        ]});
        assert_eq!(window_of(&vllm, "b"), Some(8192));
        assert_eq!(window_of(&vllm, "c"), None);
    }

    #[test]
    fn a_list_without_a_window_is_not_an_error() {
        for list in [
            json!({}),
            json!({"data": []}),
            json!({"data": [{"id": "m", "object": "model", "owned_by": "library"}]}),
            json!({"data": [{"id": "m", "meta": null}]}),
            json!({"data": [{"id": "m", "meta": {"n_ctx": 0, "n_ctx_train": 32768}}]}),
            json!([{"id": "m"}]),
        ] {
            assert_eq!(window_of(&list, "m"), None, "{list}");
        }
    }
}
