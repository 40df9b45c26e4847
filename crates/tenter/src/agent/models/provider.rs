//! Who provides models: those that are built in, as the configuration changes them, and those that it adds.

use std::path::Path;

use tenter_base::nearest;
use tenter_providers::{Api, known_models};

use crate::env::Env;
use crate::failure::Failure;
use crate::project::Project;
use crate::settings::model_tables::{KeyCommand, ProviderTable};

/// A provider that needs no configuration.
struct BuiltIn {
    name: &'static str,
    api: Api,
    /// The address that it has where nobody gives another.
    address: &'static str,
    /// The variables that hold its key, the first that is set counts; none where no key is needed.
    key_variables: &'static [&'static str],
    /// The variable by which the provider's own programs are given another address.
    address_variable: Option<&'static str>,
    /// The model that is taken where nobody names one.
    usual_model: Option<&'static str>,
}

/// In the order in which their keys are looked for where nobody names a model.
const BUILT_IN: [BuiltIn; 4] = [
    BuiltIn {
        name: "anthropic",
        api: Api::Messages,
        address: "https://api.anthropic.com",
        key_variables: &["ANTHROPIC_API_KEY"],
        address_variable: Some("ANTHROPIC_BASE_URL"),
        usual_model: Some("claude-sonnet-5-5"),
    },
    BuiltIn {
        name: "openai",
        api: Api::Responses,
        address: "https://api.openai.com/v1",
        key_variables: &["OPENAI_API_KEY"],
        address_variable: Some("OPENAI_BASE_URL"),
        usual_model: Some("gpt-6.1-sol"),
    },
    BuiltIn {
        name: "google",
        api: Api::Gemini,
        address: "https://generativelanguage.googleapis.com",
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        address_variable: None,
        usual_model: Some("gemini-3.8-flash"),
    },
    BuiltIn {
        name: "local",
        api: Api::Chat,
        address: "http://localhost:8080/v1",
        key_variables: &[],
        address_variable: None,
        usual_model: None,
    },
];

/// A provider as it is after the configuration.
#[derive(Debug)]
pub(crate) struct Provider<'p> {
    /// Its name.
    pub(crate) name: &'p str,
    /// The format that its server speaks.
    pub(crate) api: Api,
    /// Its server's address.
    pub(crate) address: String,
    /// The address that it has of itself: the one that the table of facts knows prices for.
    own_address: Option<&'static str>,
    /// The variables that may hold its key.
    pub(crate) key_variables: Vec<&'p str>,
    /// What prints its key.
    pub(crate) key_command: Option<&'p KeyCommand>,
    /// The proxy that the configuration names; an empty one is none.
    pub(crate) proxy: Option<&'p str>,
    /// The file of the authorities that may sign its certificate.
    pub(crate) ca_file: Option<&'p Path>,
    /// The model that is taken where nobody names one.
    pub(crate) usual_model: Option<&'static str>,
}

impl<'p> Provider<'p> {
    /// The provider with this name.
    pub(crate) fn find(project: &'p Project, name: &str) -> Result<Self, Failure> {
        let built_in = BUILT_IN.iter().find(|built_in| built_in.name == name);
        let said = project.settings.models.providers.get_key_value(name);
        let found = match (built_in, said) {
            (Some(built_in), said) => {
                Ok(Self::built_in(built_in, said.map(|(_, table)| table), project.env))
            }
            (None, Some((name, table))) => Self::added(name, table),
            (None, None) => return Err(unknown(project, name)),
        };
        found.and_then(Self::checked).map_err(|problem| misconfigured(project, name, &problem))
    }

    /// All of them: those that are built in first.
    pub(crate) fn all(project: &'p Project) -> Result<Vec<Self>, Failure> {
        names(project).into_iter().map(|name| Self::find(project, name)).collect()
    }

    fn built_in(built_in: &'p BuiltIn, said: Option<&'p ProviderTable>, env: &Env) -> Self {
        let of_variable = || env.text(built_in.address_variable?).map(str::to_owned);
        let address = said.and_then(|said| said.base_url.clone()).or_else(of_variable);
        let key_variable = said.and_then(|said| said.api_key_env.as_deref());
        Self {
            name: built_in.name,
            api: said.and_then(|said| said.api).map_or(built_in.api, Api::from),
            address: address.unwrap_or_else(|| built_in.address.to_owned()),
            own_address: Some(built_in.address),
            key_variables: key_variable
                .map_or_else(|| built_in.key_variables.to_vec(), |name| vec![name]),
            key_command: said.and_then(|said| said.api_key_command.as_ref()),
            proxy: said.and_then(|said| said.proxy.as_deref()),
            ca_file: said.and_then(|said| said.ca_file.as_deref()),
            usual_model: built_in.usual_model,
        }
    }

    fn added(name: &'p str, said: &'p ProviderTable) -> Result<Self, String> {
        if name.is_empty() || name.contains(['/', ':']) || name == "scripted" {
            return Err(
                "a provider's name cannot be empty, \"scripted\", or hold / or :".to_owned()
            );
        }
        let (Some(api), Some(address)) = (said.api, said.base_url.clone()) else {
            return Err("a provider of your own needs `api` and `base_url`".to_owned());
        };
        Ok(Self {
            name,
            api: api.into(),
            address,
            own_address: None,
            key_variables: said.api_key_env.as_deref().into_iter().collect(),
            key_command: said.api_key_command.as_ref(),
            proxy: said.proxy.as_deref(),
            ca_file: said.ca_file.as_deref(),
            usual_model: None,
        })
    }

    /// What would otherwise go wrong in a way that shows a secret.
    fn checked(self) -> Result<Self, String> {
        if !self.key_variables.iter().all(|name| is_variable_name(name)) {
            return Err("`api_key_env` is the name of a variable, not the key itself; the name is made of letters, digits and _".to_owned());
        }
        check_address(&self.address)?;
        Ok(self)
    }

    /// Whether it is the provider itself that answers at `address`, and not a proxy or a server of somebody else's.
    pub(super) fn is_itself_at(&self, address: &str) -> bool {
        self.own_address == Some(address.trim_end_matches('/'))
    }

    /// Whether nothing is to be sent without a key.
    pub(crate) fn needs_key(&self) -> bool {
        !self.key_variables.is_empty() || self.key_command.is_some()
    }

    /// Its models that are known: from the table of facts, then those of which only the configuration says something.
    pub(crate) fn models(&self, project: &'p Project) -> Vec<&'p str> {
        let mut models: Vec<&str> = known_models(self.name);
        let said = project.settings.models.models.keys().filter_map(|whole| {
            let (provider, model) = whole.split_once('/')?;
            (provider == self.name).then_some(model)
        });
        for model in said {
            if !models.contains(&model) {
                models.push(model);
            }
        }
        models
    }
}

/// Checks an address before anything is made of it.
pub(crate) fn check_address(address: &str) -> Result<(), String> {
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
    let Some(rest) = rest.filter(|rest| !rest.is_empty() && !rest.starts_with('/')) else {
        return Err(format!("the address {address:?} must begin with http:// or https://"));
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        // Addresses are shown in errors.
        return Err("an address must not hold a password; give a key with `api_key_env` or `api_key_command`".to_owned());
    }
    Ok(())
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
    let added = project.settings.models.providers.keys().map(String::as_str).filter(is_new);
    built_in.chain(added).collect()
}

fn unknown(project: &Project, name: &str) -> Failure {
    let names = names(project);
    let known = format!("known are {}", names.join(", "));
    Failure::usage(format!("there is no provider {name:?}")).help(match nearest(name, names) {
        Some(meant) => format!("did you mean {meant}? {known}"),
        None => format!(
            "{known}; [providers.{name}] in {} adds one",
            project.env.config_file().display()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_where_nobody_names_a_model_is_known() {
        for built_in in &BUILT_IN {
            if let Some(model) = built_in.usual_model {
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
            assert!(check_address(bad).unwrap_err().contains("must begin with"), "{bad}");
        }
        let error = check_address("https://me:hunter2@proxy/v1").unwrap_err();
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn a_key_is_not_taken_for_the_name_of_a_variable() {
        assert!(is_variable_name("WORK_LLM_KEY") && is_variable_name("work_key2"));
        for key in ["", "sk-abcdef", "AIzaSyA1234567890", "a b", &"x".repeat(65)] {
            assert!(!is_variable_name(key), "{key}");
        }
    }
}
