//! Tool calls and their results in the form of the documents: `StructuredToolResult` (camelCase keys, a `metadataType` next to
//! every `metadata`, R52).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter_base::nearest;

use crate::Object;
use crate::tool_metadata::{self, Blocked, Metadata};

/// A tool call as the model made it, or as hooks rewrote it.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The call's id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The tool's input, which is always an object.
    pub input: Object,
}

/// The result of a tool call: the `StructuredToolResult` of the documents.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The tool's own name.
    pub tool_name: String,
    /// `true` if the tool succeeded; `null` if the agent does not know.
    #[serde(deserialize_with = "Option::deserialize")]
    pub success: Option<bool>,
    /// The error message. Only after a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The type of `metadata`: `bash`, `file_read`, `blocked`, … Only with `metadata`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_type: Option<String>,
    /// The data of the result. The text that the model reads is made from it. Not if the tool failed without a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
    /// The time when the tool finished, as RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub timestamp: String,
}

impl ToolCall {
    /// Creates a call of the tool `name`.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        input: impl IntoIterator<Item = (String, Value)>,
    ) -> Self {
        Self { id: id.into(), name: name.into(), input: input.into_iter().collect() }
    }
}

impl ToolResult {
    /// Returns a success with metadata.
    pub fn success<M: Metadata>(tool_name: &str, metadata: &M, timestamp: String) -> Self {
        Self {
            tool_name: tool_name.to_owned(),
            success: Some(true),
            error: None,
            metadata_type: Some(M::TYPE.to_owned()),
            metadata: Some(to_object(metadata)),
            timestamp,
        }
    }

    /// Returns a failure without metadata.
    pub fn failure(tool_name: &str, error: impl Into<String>, timestamp: String) -> Self {
        Self {
            tool_name: tool_name.to_owned(),
            success: Some(false),
            error: Some(error.into()),
            metadata_type: None,
            metadata: None,
            timestamp,
        }
    }

    /// Turns the result into a failure and keeps its metadata.
    #[must_use]
    pub fn failed(mut self, error: impl Into<String>) -> Self {
        self.success = Some(false);
        self.error = Some(error.into());
        self
    }

    /// Returns the result of a call that a hook blocked (R52).
    pub fn blocked(tool_name: &str, reason: &str, timestamp: String) -> Self {
        let metadata = Blocked { tool_name: tool_name.to_owned(), reason: reason.to_owned() };
        Self::success(tool_name, &metadata, timestamp).failed(format!("blocked by hook: {reason}"))
    }

    /// Returns the result of a call that does not have the user's permission.
    pub fn not_allowed(tool_name: &str, reason: &str, timestamp: String) -> Self {
        let metadata = Blocked { tool_name: tool_name.to_owned(), reason: reason.to_owned() };
        Self::success(tool_name, &metadata, timestamp).failed(format!("not allowed: {reason}"))
    }

    /// Returns true if the tool is known to have failed.
    pub fn is_failure(&self) -> bool {
        self.success == Some(false)
    }

    /// Returns true if this is the result of a call that a hook or the user blocked.
    pub fn is_blocked(&self) -> bool {
        self.metadata_type.as_deref() == Some(Blocked::TYPE)
    }

    /// Returns the text for the model: the error, if there is one, and the text of the metadata.
    pub fn text(&self) -> String {
        let kind = self.metadata_type.as_deref();
        let body = self.metadata.clone().and_then(|metadata| tool_metadata::text(kind, metadata));
        match (&self.error, body) {
            (Some(error), Some(body)) => format!("<error>{error}</error>\n{body}"),
            (Some(error), None) => format!("<error>{error}</error>"),
            (None, Some(body)) => body,
            (None, None) => "(no output)".to_owned(),
        }
    }

    /// Applies a hook's rewrite. An `output` with `toolName` and `success` is a whole result and replaces everything; otherwise
    /// missing fields are taken from `self` (R64). `timestamp` and `metadataType` may always be missing.
    ///
    /// # Errors
    /// `output` has a field that no result has, or a field of the wrong type.
    pub fn rewrite(&self, output: &Object) -> Result<Self, String> {
        let own = to_object(self);
        if let Some(unknown) = output.keys().find(|key| !FIELDS.contains(&key.as_str())) {
            return Err(unknown_field(unknown));
        }
        let has = |key: &str| output.get(key).is_some_and(|value| !value.is_null());
        let is_whole = has("toolName") && has("success");
        let is_kept = |key: &str| match key {
            "timestamp" => true,
            "metadataType" => !is_whole || has("metadata"),
            "error" => !is_whole && !output.contains_key("success"),
            _ => !is_whole,
        };
        let mut result: Object = own.into_iter().filter(|(key, _)| is_kept(key)).collect();
        for (key, value) in output {
            let empty_time = key == "timestamp" && value.as_str() == Some("");
            if !value.is_null() && !empty_time {
                result.insert(key.clone(), value.clone());
            }
        }
        serde_json::from_value(Value::Object(result)).map_err(|error| error.to_string())
    }
}

/// The fields of a result.
pub(crate) const FIELDS: [&str; 6] =
    ["toolName", "success", "error", "metadataType", "metadata", "timestamp"];

fn unknown_field(name: &str) -> String {
    let name: String = name.chars().take(60).collect();
    let help = match nearest(&name, &FIELDS) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("its fields are {}; the text is in `metadata`", FIELDS.join(", ")),
    };
    format!("a tool's result has no field {name:?}; {help}")
}

/// Serialises a struct as an object.
fn to_object<T: Serialize>(value: &T) -> Object {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        // Serialising a struct with string keys cannot fail and always yields an object.
        other => unreachable!("a struct serialised to {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool_metadata::Bash;
    use serde_json::json;

    fn bash(output: &str) -> ToolResult {
        let metadata = Bash { command: "ls".into(), output: output.into(), ..Bash::default() };
        ToolResult::success("bash", &metadata, "2026-01-01T00:00:00Z".into())
    }

    #[test]
    fn a_blocked_result_has_the_documents_form() {
        let value = serde_json::to_value(ToolResult::blocked("bash", "no", "T".into())).unwrap();
        assert_eq!(
            value,
            json!({"toolName": "bash", "success": false, "error": "blocked by hook: no", "metadataType": "blocked",
                   "metadata": {"tool_name": "bash", "reason": "no"}, "timestamp": "T"})
        );
    }

    #[test]
    fn a_partial_rewrite_keeps_the_other_fields() {
        let output = json!({"metadata": {"command": "ls", "exitCode": 0, "output": "[gone]", "executionTime": 1}});
        let result = bash("secret").rewrite(output.as_object().unwrap()).unwrap();
        assert_eq!(result.metadata_type.as_deref(), Some("bash"));
        assert_eq!(result.text(), "[gone]");
        assert_eq!(result.success, Some(true));
    }

    #[test]
    fn a_rewrite_to_success_drops_the_old_error() {
        let result = bash("x").failed("exit code 1");
        let result = result.rewrite(json!({"success": true}).as_object().unwrap()).unwrap();
        assert_eq!(result.error, None);
    }

    fn rewrite_result(result: &ToolResult, output: &Value) -> Result<ToolResult, String> {
        result.rewrite(output.as_object().unwrap())
    }

    #[test]
    fn rejects_a_rewrite_with_a_wrong_type_or_an_unknown_field() {
        assert!(rewrite_result(&bash("x"), &json!({"success": "yes"})).is_err());
        let error = rewrite_result(&bash("x"), &json!({"output": "[redacted]"})).unwrap_err();
        assert!(error.contains("no field \"output\"; its fields are toolName"), "{error}");
        assert!(error.ends_with("the text is in `metadata`"), "{error}");
        let error = rewrite_result(&bash("x"), &json!({"metaData": {}})).unwrap_err();
        assert!(error.ends_with("did you mean \"metadata\"?"), "{error}");
    }

    #[test]
    fn a_whole_result_replaces_everything_and_a_partial_one_is_merged() {
        let secret = bash("SECRET").failed("SECRET");
        let whole = rewrite_result(&secret, &json!({"toolName": "bash", "success": true})).unwrap();
        assert_eq!(whole.text(), "(no output)");
        assert_eq!((whole.error, whole.metadata, whole.metadata_type), (None, None, None));
        assert_eq!(whole.timestamp, secret.timestamp);
        let rewrite =
            json!({"toolName": "bash", "success": false, "metadata": {"output": "[gone]"}});
        let result = rewrite_result(&secret, &rewrite).unwrap();
        assert_eq!(result.metadata_type.as_deref(), Some("bash"));
        assert_eq!(result.text(), "[gone]");
        let partial = rewrite_result(&secret, &json!({"error": "[gone]"})).unwrap();
        assert_eq!(partial.text(), "<error>[gone]</error>\nSECRET");
    }

    #[test]
    fn an_unknown_success_is_null_and_stays_so() {
        let unknown = ToolResult { success: None, ..bash("x") };
        let value = serde_json::to_value(&unknown).unwrap();
        assert_eq!(value["success"], Value::Null);
        assert_eq!(serde_json::from_value::<ToolResult>(value).unwrap(), unknown);
        let result = rewrite_result(&unknown, &json!({"metadata": {"output": "[gone]"}})).unwrap();
        assert_eq!((result.success, result.text()), (None, "[gone]".to_owned()));
        let without = json!({"toolName": "bash", "timestamp": "T"});
        assert!(serde_json::from_value::<ToolResult>(without).is_err(), "it is not optional");
    }

    #[test]
    fn an_empty_result_is_shown_as_no_output() {
        assert_eq!(bash("").text(), "(no output)");
    }
}
