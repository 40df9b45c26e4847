//! Providers of models: the built-in ones with their configuration, and those that the configuration adds.

use std::path::Path;

use tenter_base::nearest;
use tenter_commands::project::Project;
use tenter_providers::{Api, known_models};
use tenter_settings::model_tables::{self, KeyCommand, ProviderTable};
use tenter_terminal::{Env, Failure};

/// A provider that needs no configuration.
struct BuiltIn {
    name: &'static str,
    api: Api,
    /// Its default base URL.
    address: &'static str,
    /// The variables that may contain its key, the first that is set is used; empty if it needs no key.
    key_variables: &'static [&'static str],
    /// The variable with which the provider's own tools override the base URL.
    address_variable: Option<&'static str>,
    /// The model that is used if none is chosen.
    default_model: Option<&'static str>,
}

/// In the order in which their keys are looked up if no model is chosen.
const BUILT_IN: [BuiltIn; 4] = [
    BuiltIn {
        name: "anthropic",
        api: Api::Messages,
        address: "https://api.anthropic.com",
        key_variables: &["ANTHROPIC_API_KEY"],
        address_variable: Some("ANTHROPIC_BASE_URL"),
        default_model: Some("claude-sonnet-5-5"),
    },
    BuiltIn {
        name: "openai",
        api: Api::Responses,
        address: "https://api.openai.com/v1",
        key_variables: &["OPENAI_API_KEY"],
        address_variable: Some("OPENAI_BASE_URL"),
        default_model: Some("gpt-6.1-sol"),
    },
    BuiltIn {
        name: "google",
        api: Api::Gemini,
        address: "https://generativelanguage.googleapis.com",
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        address_variable: None,
        default_model: Some("gemini-3.8-flash"),
    },
    BuiltIn {
        name: "local",
        api: Api::Chat,
        address: "http://localhost:8080/v1",
        key_variables: &[],
        address_variable: None,
        default_model: None,
    },
];

/// A provider after configuration.
#[derive(Debug)]
pub(crate) struct Provider<'p> {
    pub name: &'p str,
    /// The API of its server.
    pub api: Api,
    /// The base URL of its server.
    pub address: String,
    /// Its default base URL: the one that the known prices apply to.
    own_address: Option<&'static str>,
    /// The variables that may contain its key.
    pub key_variables: Vec<&'p str>,
    /// The command that prints its key.
    pub key_command: Option<&'p KeyCommand>,
    /// The configured proxy; empty for none.
    pub proxy: Option<&'p str>,
    /// The file of trusted certificate authorities.
    pub ca_file: Option<&'p Path>,
    /// The model that is used if none is chosen.
    pub default_model: Option<&'static str>,
}

impl<'p> Provider<'p> {
    /// Returns the provider with this name.
    pub(crate) fn find(project: &'p Project, name: &str) -> Result<Self, Failure> {
        let built_in = BUILT_IN.iter().find(|built_in| built_in.name == name);
        let table = project.settings.models.providers.get_key_value(name);
        let provider = match (built_in, table) {
            (Some(built_in), table) => {
                Ok(Self::built_in(built_in, table.map(|(_, table)| table), project.env))
            }
            (None, Some((name, table))) => Self::added(name, table),
            (None, None) => return Err(unknown(project, name)),
        };
        provider.and_then(Self::check).map_err(|problem| misconfigured(project, name, &problem))
    }

    /// Returns all providers, the built-in ones first.
    pub(crate) fn all(project: &'p Project) -> Result<Vec<Self>, Failure> {
        names(project).into_iter().map(|name| Self::find(project, name)).collect()
    }

    fn built_in(built_in: &'p BuiltIn, table: Option<&'p ProviderTable>, env: &Env) -> Self {
        let address_in_variable = || env.text(built_in.address_variable?).map(str::to_owned);
        let address = table.and_then(|table| table.base_url.clone()).or_else(address_in_variable);
        let key_variable = table.and_then(|table| table.api_key_env.as_deref());
        Self {
            name: built_in.name,
            api: table.and_then(|table| table.api).map_or(built_in.api, api),
            address: address.unwrap_or_else(|| built_in.address.to_owned()),
            own_address: Some(built_in.address),
            key_variables: key_variable
                .map_or_else(|| built_in.key_variables.to_vec(), |name| vec![name]),
            key_command: table.and_then(|table| table.api_key_command.as_ref()),
            proxy: table.and_then(|table| table.proxy.as_deref()),
            ca_file: table.and_then(|table| table.ca_file.as_deref()),
            default_model: built_in.default_model,
        }
    }

    fn added(name: &'p str, table: &'p ProviderTable) -> Result<Self, String> {
        if name.is_empty() || name.contains(['/', ':']) || name == "scripted" {
            return Err(
                "a provider's name cannot be empty or \"scripted\", and cannot contain / or :"
                    .to_owned(),
            );
        }
        let (Some(api), Some(address)) = (table.api, table.base_url.clone()) else {
            return Err("a provider of your own needs `api` and `base_url`".to_owned());
        };
        Ok(Self {
            name,
            api: self::api(api),
            address,
            own_address: None,
            key_variables: table.api_key_env.as_deref().into_iter().collect(),
            key_command: table.api_key_command.as_ref(),
            proxy: table.proxy.as_deref(),
            ca_file: table.ca_file.as_deref(),
            default_model: None,
        })
    }

    /// Rejects settings whose errors would otherwise show a secret.
    fn check(self) -> Result<Self, String> {
        if !self.key_variables.iter().all(|name| is_variable_name(name)) {
            return Err("`api_key_env` must be the name of a variable (letters, digits and _), not the key itself".to_owned());
        }
        check_address(&self.address)?;
        Ok(self)
    }

    /// Checks whether `address` is the provider's own server, and not a proxy or another server.
    pub(super) fn is_itself_at(&self, address: &str) -> bool {
        self.own_address == Some(address.trim_end_matches('/'))
    }

    /// Checks whether requests need a key.
    pub(crate) fn needs_key(&self) -> bool {
        !self.key_variables.is_empty() || self.key_command.is_some()
    }

    /// Returns its known models: from the built-in table, then those that only the configuration has.
    pub(crate) fn models(&self, project: &'p Project) -> Vec<&'p str> {
        let mut models: Vec<&str> = known_models(self.name);
        let names = project.settings.models.models.keys().filter_map(|whole| {
            let (provider, model) = whole.split_once('/')?;
            (provider == self.name).then_some(model)
        });
        for model in names {
            if !models.contains(&model) {
                models.push(model);
            }
        }
        models
    }
}

/// Returns the API that a name in the configuration means.
fn api(api: model_tables::Api) -> Api {
    match api {
        model_tables::Api::Messages => Api::Messages,
        model_tables::Api::Responses => Api::Responses,
        model_tables::Api::Chat => Api::Chat,
        model_tables::Api::Gemini => Api::Gemini,
    }
}

/// Checks a base URL before it is used.
pub(super) fn check_address(address: &str) -> Result<(), String> {
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
    let Some(rest) = rest.filter(|rest| !rest.is_empty() && !rest.starts_with('/')) else {
        return Err(format!("the URL {address:?} must start with http:// or https://"));
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        // URLs are shown in errors.
        return Err("a URL must not contain a password; configure a key with `api_key_env` or `api_key_command`".to_owned());
    }
    let is_invalid = |c: &char| !c.is_ascii_graphic() || "\"<>\\^`{|}".contains(*c);
    match address.chars().find(is_invalid) {
        None => Ok(()),
        Some(c) => Err(format!(
            "the URL {address:?} cannot contain {c:?}: write it as %XX, and a host name with other letters in its ASCII form (xn--…)"
        )),
    }
}

fn is_variable_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.len() <= 64 && name.chars().all(fits) && !name.starts_with("AIza")
}

fn misconfigured(project: &Project, name: &str, problem: &str) -> Failure {
    Failure::usage(format!("the provider {name}: {problem}"))
        .help(format!("look at [providers.{name}] in {}", project.env.config_file().display()))
}

fn names<'p>(project: &'p Project) -> Vec<&'p str> {
    let built_in = BUILT_IN.iter().map(|built_in| built_in.name);
    let is_new = |name: &&str| BUILT_IN.iter().all(|built_in| built_in.name != *name);
    let new_names = project.settings.models.providers.keys().map(String::as_str).filter(is_new);
    built_in.chain(new_names).collect()
}

fn unknown(project: &Project, name: &str) -> Failure {
    let names = names(project);
    let providers = format!("the providers are {}", names.join(", "));
    Failure::usage(format!("there is no provider {name:?}")).help(match nearest(name, names) {
        Some(suggestion) => format!("did you mean {suggestion}? {providers}"),
        None => format!(
            "{providers}; [providers.{name}] in {} adds one",
            project.env.config_file().display()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_models_are_known() {
        for built_in in &BUILT_IN {
            if let Some(model) = built_in.default_model {
                assert!(known_models(built_in.name).contains(&model), "{model}");
                assert!(tenter_providers::facts(built_in.name, model).is_some(), "{model}");
            }
        }
    }

    #[test]
    fn an_address_has_a_scheme_and_no_password() {
        for good in ["https://api.x.com", "http://localhost:8080/v1", "http://[::1]:8080/@me"] {
            assert_eq!(check_address(good), Ok(()), "{good}");
        }
        for bad in ["localhost:8080", "ftp://x", "http://", "https:///v1", ""] {
            assert!(check_address(bad).unwrap_err().contains("must start with"), "{bad}");
        }
        for bad in ["https://bücher.example/v1", "https://a b/v1", "https://a/{v1}", "http://a/\n"]
        {
            assert!(check_address(bad).unwrap_err().contains("cannot contain"), "{bad}");
        }
        let error = check_address("https://me:hunter2@proxy/v1").unwrap_err();
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn a_key_is_rejected_as_the_name_of_a_variable() {
        assert!(is_variable_name("WORK_LLM_KEY") && is_variable_name("work_key2"));
        for key in ["", "sk-abcdef", "AIzaSyA1234567890", "a b", &"x".repeat(65)] {
            assert!(!is_variable_name(key), "{key}");
        }
    }
}
