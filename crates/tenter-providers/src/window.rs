//! What a server says of its models: their names, and what they hold. OpenAI's list of models does not say it; servers at home add it, each under a name of
//! its own. One that says nothing, or that does not answer soon, leaves the question open: nothing here is an error.

use std::time::Duration;

use http::Request;
use serde_json::Value;
use tenter_proc::Cancel;

use crate::http::{Http, LastWords};
use crate::{Api, Endpoint, ResponseLimits};

/// How long the server may take: whoever asks wants to begin.
const PATIENCE: Duration = Duration::from_secs(3);

/// Maximum size of the list, in bytes.
const LONGEST_LIST: u64 = 4 << 20;

/// Tokens that the server's model of this name holds, as llama.cpp (`meta.n_ctx`) and vLLM (`max_model_len`) tell it.
pub fn context_window(endpoint: &Endpoint, model: &str, cancel: &Cancel) -> Option<u64> {
    said(&list(endpoint, cancel)?, model)
}

/// The names of the models that the server has, as far as it tells.
pub fn served_models(endpoint: &Endpoint, cancel: &Cancel) -> Vec<String> {
    let list = list(endpoint, cancel);
    let models = list.as_ref().and_then(|list| list.get("data")?.as_array());
    let names = models.into_iter().flatten().filter_map(|entry| entry.get("id")?.as_str());
    names.map(str::to_owned).collect()
}

/// The server's list of models, where its format has one.
fn list(endpoint: &Endpoint, cancel: &Cancel) -> Option<Value> {
    if endpoint.api != Api::Chat {
        return None;
    }
    let limits = ResponseLimits { bytes: LONGEST_LIST, time: PATIENCE };
    let endpoint = Endpoint { limits, ..endpoint.clone() };
    let http = Http::new(&endpoint).ok()?;
    let mut request = Request::get(format!("{}/models", endpoint.base_url.as_deref()?));
    if let Some(key) = &endpoint.key {
        request = request.header("authorization", format!("Bearer {}", key.reveal()));
    }
    let response = http.send(request.body(Vec::new()).ok()?, cancel, &LastWords::default()).ok()?;
    let body = response.into_body().collect::<Result<Vec<_>, _>>().ok()?.concat();
    serde_json::from_slice(&body).ok()
}

/// A server of one model answers with it, whatever name it is asked for.
fn said(list: &Value, model: &str) -> Option<u64> {
    let models = list.get("data")?.as_array()?;
    let named = models.iter().find(|entry| entry.get("id").and_then(Value::as_str) == Some(model));
    let entry = match models.as_slice() {
        [only] => named.unwrap_or(only),
        _ => named?,
    };
    let of_llama_cpp = || entry.get("meta")?.get("n_ctx")?.as_u64();
    let window = of_llama_cpp().or_else(|| entry.get("max_model_len")?.as_u64())?;
    Some(window).filter(|window| *window > 0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_window_is_read_as_each_server_tells_it() {
        let llama =
            json!({"data": [{"id": "gemma", "meta": {"n_ctx": 16384, "n_ctx_train": 32768}}]});
        assert_eq!(said(&llama, "gemma"), Some(16384));
        assert_eq!(said(&llama, "whatever"), Some(16384), "it has but one");
        let vllm = json!({"data": [
            {"id": "a", "max_model_len": 4096, "object": "model"},
            {"id": "b", "max_model_len": 8192, "object": "model"},
        ]});
        assert_eq!(said(&vllm, "b"), Some(8192));
        assert_eq!(said(&vllm, "c"), None);
    }

    #[test]
    fn a_list_that_does_not_say_it_leaves_the_question_open() {
        for list in [
            json!({}),
            json!({"data": []}),
            json!({"data": [{"id": "m", "object": "model", "owned_by": "library"}]}),
            json!({"data": [{"id": "m", "meta": null}]}),
            json!({"data": [{"id": "m", "meta": {"n_ctx": 0, "n_ctx_train": 32768}}]}),
            json!([{"id": "m"}]),
        ] {
            assert_eq!(said(&list, "m"), None, "{list}");
        }
    }
}
