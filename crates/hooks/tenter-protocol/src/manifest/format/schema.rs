//! The front matter of a `HOOK.md` as a JSON Schema, for editors. Limits, words and spellings come from the reader. A schema
//! cannot express that the directory has the hook's name.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::{Value, json};
use tenter_base::AgentState;

use super::claude_code::DIALECTS;
use super::limits::{BUDGET, MAX_DESCRIPTION_LENGTH, PRIORITY, TIMEOUT};
use crate::claude_code::EVENTS;
use crate::confinement::Confinement;
use crate::derived_schema::{derived, merge};
use crate::lifecycle::TABLE;
use crate::manifest::MatcherText;
use crate::manifest::http_endpoint::MAX_URL_LENGTH;
use crate::manifest::rule::{Conditions, Examples, RuleVerdict, UncertainPolicy};
use crate::manifest::static_action::ACTIONS;
use crate::resource_name;
use crate::runtime::{Runtime, Service};

/// When a hook runs, and how.
#[expect(dead_code, reason = "only its schema is used; the reader keeps positions")]
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ManifestKeys {
    /// Lower-case letters and digits of any script, separated by single hyphens. The same as the name of the directory.
    #[schemars(length(min = 1, max = resource_name::MAX_LENGTH))]
    #[schemars(regex(
        pattern = r"^[\p{Ll}\p{Lm}\p{Lo}\p{M}\p{N}]+(-[\p{Ll}\p{Lm}\p{Lo}\p{M}\p{N}]+)*$"
    ))]
    name: String,
    /// The purpose of the hook.
    #[schemars(length(min = 1, max = MAX_DESCRIPTION_LENGTH))]
    description: String,
    /// The event that runs the hook.
    trigger: Value,
    /// The tool calls that the hook applies to; all of them without it. Both expressions must match.
    matcher: Option<MatcherText>,
    /// The time limit of a run, in milliseconds.
    #[schemars(range(min = TIMEOUT.min, max = TIMEOUT.max), extend("default" = TIMEOUT.default))]
    timeout: Option<u64>,
    /// `true` if the agent does not wait for the hook. An asynchronous hook cannot block.
    #[schemars(extend("default" = false))]
    r#async: Option<bool>,
    /// Hooks with a higher priority run earlier.
    #[schemars(range(min = PRIORITY.min, max = PRIORITY.max), extend("default" = PRIORITY.default))]
    priority: Option<u16>,
    /// Anything else. Tenter reads the keys below; others are your own.
    metadata: Option<MetadataKeys>,
}

#[expect(dead_code, reason = "only its schema is used; the reader keeps positions")]
#[derive(JsonSchema)]
struct MetadataKeys {
    /// The meaning of a failure: `closed` denies what the hook could have blocked.
    #[schemars(extend("enum" = ["open", "closed"]))]
    fail: Option<String>,
    /// `monitor` if the decisions of the hook are recorded and not applied.
    #[schemars(extend("enum" = ["enforce", "monitor"], "default" = "enforce"))]
    mode: Option<String>,
    /// `true` if no hook of a higher layer can shadow this one.
    protected: Option<bool>,
    /// The directory in which the hook starts: the project, or its own directory.
    #[schemars(extend("enum" = ["project", "hook"]))]
    workdir: Option<String>,
    /// `pure` if the hook runs without network, reads no secrets, and writes only its private directory.
    #[schemars(extend("enum" = ["pure"]))]
    confine: Option<String>,
    /// Environment variables that the hook gets although they look like model keys.
    #[schemars(inner(regex(pattern = "^[A-Za-z_][A-Za-z0-9_]*$")))]
    env: Option<Vec<String>>,
    /// The duration in milliseconds above which a run is reported as too slow.
    #[schemars(range(min = BUDGET.min, max = BUDGET.max))]
    budget_ms: Option<u64>,
    /// `full` for a payload with the history, `light` for one without. The default is `full`, and `light` with `url`.
    #[schemars(extend("enum" = ["full", "light"]))]
    payload: Option<String>,
    /// Further events that run the hook.
    triggers: Option<Vec<Value>>,
    /// Rules about the commands and paths of a tool call. The hook applies to calls that fit one of them.
    #[schemars(length(min = 1))]
    r#match: Option<Vec<RuleKeys>>,
    /// Set for a hook that is started once, with the argument `serve`, and called many times. With `serve-only`, it cannot be run once per event.
    #[schemars(with = "Option<String>", extend("enum" = Runtime::WORDS))]
    runtime: Option<Runtime>,
    /// With `runtime`: the services that the hook may request.
    #[schemars(extend("uniqueItems" = true))]
    services: Option<Vec<Value>>,
    /// The settings of the hook, by name. `{setting: NAME}` elsewhere stands for the value of one.
    settings: Option<BTreeMap<String, SettingKeys>>,
    /// The user's values of these settings. `tenter guard set` writes them.
    #[schemars(extend("additionalProperties" = {"type": ["string", "number", "boolean", "array"]}))]
    set: Option<BTreeMap<String, String>>,
    /// The ready-made hook that runs instead of a script.
    ready_made: Option<String>,
    /// The URL of a hook behind HTTP, which has no script: payloads are posted there. `http://` is only possible on this machine.
    #[schemars(length(max = MAX_URL_LENGTH), regex(pattern = "^https?://"))]
    url: Option<String>,
    /// With `url`: headers of the requests, each with the environment variable that holds its value.
    #[schemars(extend("additionalProperties" = {"type": "string", "pattern": "^env:[A-Za-z_][A-Za-z0-9_]*$"}))]
    headers: Option<BTreeMap<String, String>>,
    /// The agent whose hooks the script is written as: it reads Claude Code's payloads and replies in its way. Without it, the payloads and replies of Agent Hooks.
    #[schemars(extend("enum" = DIALECTS))]
    dialect: Option<String>,
    /// With `dialect`: the event of Claude Code's, where the trigger fires for several.
    #[schemars(extend("enum" = EVENTS.iter().map(|event| event.name).collect::<Vec<_>>()))]
    event: Option<String>,
    /// With `dialect`: a matcher as in Claude Code's settings, for the name of the tool, the source of a session and so on.
    matcher: Option<String>,
    /// With `dialect`: the directory of the plugin, which the script finds in CLAUDE_PLUGIN_ROOT.
    plugin_root: Option<String>,
    /// With `dialect`: the settings file that the hook was imported from.
    origin: Option<String>,
    /// With `dialect`: what the hook is known by in that file, and a digest, by which a later import sees whether it was edited.
    imported: Option<String>,
    /// The action of a static hook, which has no script.
    #[schemars(extend("enum" = ACTIONS.map(|(word, _)| word)))]
    action: Option<String>,
    /// The condition of the action, as after `if` in a template. Without it, the hook always acts.
    when: Option<String>,
    /// With `deny`, `ask` and `allow`: a template of the reason.
    reason: Option<String>,
    /// With `context`: a template of the text that is added for the model.
    text: Option<String>,
    /// With `mutate`: the new history. Contents are templates; the last message is the user's.
    #[schemars(length(min = 1))]
    messages: Option<Vec<NewMessage>>,
    /// With `callback`: a template of the name of the recipe.
    recipe: Option<String>,
    /// With `callback`: the arguments of the recipe, as templates.
    #[schemars(extend("additionalProperties" = {"type": ["string", "number", "boolean"]}))]
    args: Option<BTreeMap<String, String>>,
}

/// A setting: a value that the user of the hook can change.
#[expect(dead_code, reason = "only its schema is used; the reader keeps positions")]
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct SettingKeys {
    /// The values that it can have: `boolean`, `number`, `text`, `list`, or a list of words.
    r#type: Value,
    /// The value, unless the user sets another one.
    default: Value,
    /// The purpose of the setting, in a sentence.
    description: String,
}

#[expect(dead_code, reason = "only its schema is used; the reader keeps positions")]
#[derive(JsonSchema)]
struct NewMessage {
    role: crate::Role,
    content: String,
}

/// A rule. A call fits if one of its commands and paths fits all conditions and none of the exceptions.
#[expect(dead_code, reason = "only its schema is used; the reader keeps positions")]
#[derive(JsonSchema)]
struct RuleKeys {
    #[schemars(flatten)]
    conditions: Conditions,
    /// The name of the rule, for messages and the journal.
    name: Option<String>,
    /// `false` for a rule that has no effect.
    enabled: Option<bool>,
    /// The conditions that the call must not fit.
    except: Option<Vec<Conditions>>,
    /// The decision about a call that fits. Without it, the hook runs.
    #[schemars(with = "Option<String>", extend("enum" = RuleVerdict::WORDS.map(|(word, _)| word)))]
    decision: Option<RuleVerdict>,
    /// With `decision`: why, and what to do instead.
    reason: Option<String>,
    /// With `decision: confine`: what the call may do. Without it, the profile `standard`.
    confine: Option<Confinement>,
    /// The decision about a call that may or may not fit. By default, a hook that can ask does so.
    #[schemars(with = "Option<String>", extend("enum" = UncertainPolicy::WORDS.map(|(word, _)| word)))]
    uncertain: Option<UncertainPolicy>,
    /// Commands that show what the rule stops. They are checked when the hook is.
    examples: Option<Examples>,
}

/// Returns the JSON Schema of the front matter.
pub fn front_matter_schema() -> Value {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "HOOK.md front matter",
    });
    merge(&mut schema, derived::<ManifestKeys>(SchemaSettings::draft2020_12()));
    let properties = &mut schema["properties"];
    properties["trigger"]["oneOf"] = triggers();
    let metadata = &mut properties["metadata"];
    metadata["allOf"] = needed_keys();
    let properties = &mut metadata["properties"];
    properties["triggers"]["items"] = json!({"oneOf": triggers()});
    let service = |service: Service| json!({"const": service.as_str(), "description": format!("The hook {}.", service.meaning())});
    properties["services"]["items"] = json!({"oneOf": Service::ALL.map(service)});
    let mut rules = schemars::Schema::try_from(properties["match"].take()).unwrap_or_default();
    OneOrSeveral.transform(&mut rules);
    properties["match"] = rules.to_value();
    schema
}

/// Returns one constant for each spelling of an event, with its meaning.
fn triggers() -> Value {
    let spellings = TABLE.iter().flat_map(|row| row.manifest.iter().map(move |word| (row, word)));
    spellings
        .map(|(row, word)| json!({"const": word, "description": format!("Fires {}.", row.fires)}))
        .collect()
}

/// Returns the key that each action needs.
fn needed_keys() -> Value {
    let keys = [
        ("deny", "reason"),
        ("ask", "reason"),
        ("context", "text"),
        ("mutate", "messages"),
        ("callback", "recipe"),
    ];
    let need = |(action, key): (&str, &str)| {
        let action = json!({"properties": {"action": {"const": action}}, "required": ["action"]});
        json!({"if": action, "then": {"required": [key]}})
    };
    keys.map(need).into_iter().collect()
}

/// Returns the schema of a reference to a setting.
fn reference_schema() -> Value {
    let properties = json!({"setting": {"type": "string"}, "is": {"type": ["string", "boolean"]}});
    json!({
        "type": "object",
        "properties": properties,
        "required": ["setting"],
        "additionalProperties": false,
    })
}

/// Completes the schema of rules: keys are closed, and a list of words may be a single word.
struct OneOrSeveral;

impl Transform for OneOrSeveral {
    fn transform(&mut self, schema: &mut schemars::Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        object.remove("required");
        let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) else {
            return;
        };
        for (name, property) in properties {
            if name == "agent" {
                property["items"] = json!({"enum": AgentState::WORDS.map(|(word, _)| word)});
            }
            if matches!(name.as_str(), "decision" | "enabled") {
                let mut value = property.take();
                let description = value["description"].take();
                value.as_object_mut().map(|value| value.remove("description"));
                if let Some(words) = value["enum"].as_array_mut() {
                    words.push("off".into());
                }
                *property =
                    json!({"description": description, "anyOf": [value, reference_schema()]});
                continue;
            }
            if property["type"] != "array" || property["items"].get("properties").is_some() {
                continue;
            }
            let items = match property["items"]["enum"].take() {
                Value::Null => json!({"type": ["string", "number", "boolean"]}),
                words => json!({"enum": words}),
            };
            let item = json!({"anyOf": [items, reference_schema()]});
            let several = json!({"type": "array", "minItems": 1, "items": item});
            *property = json!({"description": property["description"], "anyOf": [item, several]});
        }
        object.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}
