//! The environment of hooks, commands and programs: the parent's without model keys (R40, R80).

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use crate::hook_state::{self, HookOwner};
use crate::keys::is_model_key;

/// Keeps Python from writing compiled files, if it is not empty.
pub(crate) const NO_BYTECODE: &str = "PYTHONDONTWRITEBYTECODE";

/// Environment variables as name and value.
pub type Environment = Vec<(OsString, OsString)>;

/// The environment of hooks, whose copies share the variables.
#[derive(Debug, Clone, Default)]
pub struct HookEnvironment {
    base: Arc<Environment>,
    withheld: Arc<Environment>,
    /// The directory with the private directories of hooks; `None` if hooks have none.
    state: Option<PathBuf>,
}

impl HookEnvironment {
    /// Returns the parent's environment without model keys, except those named in `pass`.
    pub fn new(parent: &Environment, pass: &[String]) -> Self {
        let (withheld, base): (Environment, Environment) =
            parent.iter().cloned().partition(|(name, _)| is_withheld(name, pass));
        Self { base: Arc::new(base), withheld: Arc::new(withheld), state: None }
    }

    /// Gives each hook a private directory in `root`, which is created when it is needed (R72).
    #[must_use]
    pub fn with_state(self, root: PathBuf) -> Self {
        Self { state: Some(root), ..self }
    }

    /// Returns the directory with private copies of hooks that others can change (R74); `None` without a state directory.
    pub(crate) fn copies(&self) -> Option<PathBuf> {
        Some(self.state.as_ref()?.with_file_name("hook-copies"))
    }

    /// Returns the variables for the private directory of `owner`, or none and a warning if the directory cannot be used.
    pub(crate) fn state_variables(
        &self,
        owner: HookOwner<'_>,
    ) -> (Vec<(&'static str, OsString)>, Option<String>) {
        let Some(root) = &self.state else { return (Vec::new(), None) };
        match hook_state::directory(root, owner) {
            Ok(path) => {
                // By default Python caches compiled files next to the script, where trust does not cover them.
                let cache = path.join("pycache").into();
                let variables = vec![
                    (hook_state::VARIABLE, path.into()),
                    ("PYTHONPYCACHEPREFIX", cache),
                    // Where it is set, as in many containers, nothing would be cached, and every run would compile the standard library.
                    (NO_BYTECODE, OsString::new()),
                ];
                (variables, None)
            }
            Err(error) => {
                let why = format!("it has no {}: {error}", hook_state::VARIABLE);
                (Vec::new(), Some(why))
            }
        }
    }

    /// Withholds also these variables: keys whose names do not look like one. A hook may still request them.
    #[must_use]
    pub fn withholding(self, names: &[&str]) -> Self {
        let is_listed = |(name, _): &(OsString, OsString)| names.iter().any(|one| name == one);
        if !self.base.iter().any(is_listed) {
            return self;
        }
        let (more, base): (Environment, Environment) =
            Arc::unwrap_or_clone(self.base).into_iter().partition(is_listed);
        let withheld = Arc::new([Arc::unwrap_or_clone(self.withheld), more].concat());
        Self { base: Arc::new(base), withheld, state: self.state }
    }

    /// Returns the variables that every hook gets.
    pub fn base(&self) -> &Environment {
        &self.base
    }

    /// Returns the environment of a hook that requests the withheld variables in `names`. Variables in `additions` replace
    /// inherited ones.
    pub fn for_hook(&self, names: &[String], additions: &[(&str, OsString)]) -> Environment {
        let is_requested = |name: &OsString| names.iter().any(|one| name == one.as_str());
        let exceptions = self.withheld.iter().filter(|(name, _)| is_requested(name));
        let variables = self.base.iter().chain(exceptions);
        let variables =
            variables.filter(|(name, _)| additions.iter().all(|(ours, _)| name != ours)).cloned();
        variables
            .chain(additions.iter().map(|(name, value)| (OsString::from(name), value.clone())))
            .collect()
    }

    /// Returns the values of the withheld variables, which must not reach a record either.
    pub fn secrets(&self) -> impl Iterator<Item = String> {
        self.withheld.iter().filter_map(|(_, value)| value.to_str()).map(str::to_owned)
    }
}

fn is_withheld(name: &OsString, pass: &[String]) -> bool {
    name.to_str()
        .is_some_and(|name| is_model_key(name) && !pass.iter().any(|exception| exception == name))
}

/// Adds a setting of git for all calls of git below, by git's own variables. Settings of the user in the same variables stay, and
/// win.
#[must_use]
pub fn with_git_setting(mut environment: Environment, name: &str, value: &str) -> Environment {
    const COUNT: &str = "GIT_CONFIG_COUNT";
    let get = |key: &str| environment.iter().find(|(name, _)| name == key).map(|(_, v)| v);
    let count = get(COUNT).filter(|count| !count.is_empty());
    let Ok(count) = count.map_or(Ok(0_usize), |count| count.to_string_lossy().parse()) else {
        // git says so itself.
        return environment;
    };
    let is_set = (0..count.min(1000)).any(|index| {
        let key = get(&format!("GIT_CONFIG_KEY_{index}"));
        key.is_some_and(|key| key.eq_ignore_ascii_case(name))
    });
    if is_set {
        return environment;
    }
    let additions = [
        (COUNT.to_owned(), (count + 1).to_string()),
        (format!("GIT_CONFIG_KEY_{count}"), name.to_owned()),
        (format!("GIT_CONFIG_VALUE_{count}"), value.to_owned()),
    ];
    environment.retain(|(name, _)| additions.iter().all(|(ours, _)| name != ours.as_str()));
    environment.extend(additions.map(|(name, value)| (name.into(), value.into())));
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_passed_only_if_configured() {
        let parent: Environment =
            vec![("PATH".into(), "/bin".into()), ("OPENAI_API_KEY".into(), "sk-1".into())];
        let key = vec!["OPENAI_API_KEY".to_owned()];
        let environment = HookEnvironment::new(&parent, &[]);
        assert_eq!(environment.for_hook(&[], &[]), parent[..1]);
        assert_eq!(environment.for_hook(&key, &[]), parent);
        assert_eq!(HookEnvironment::new(&parent, &key).for_hook(&[], &[]), parent);
        assert_eq!(environment.secrets().collect::<Vec<_>>(), ["sk-1"]);
    }

    #[test]
    fn a_configured_key_variable_is_withheld_too() {
        let parent: Environment =
            vec![("PATH".into(), "/bin".into()), ("WORK_LLM".into(), "secret".into())];
        let environment = HookEnvironment::new(&parent, &[]).withholding(&["WORK_LLM", "OTHER"]);
        assert_eq!(environment.for_hook(&[], &[]), parent[..1]);
        assert_eq!(environment.for_hook(&["WORK_LLM".to_owned()], &[]), parent);
        assert_eq!(environment.secrets().collect::<Vec<_>>(), ["secret"]);
    }

    #[test]
    fn a_setting_of_git_is_added_to_those_of_the_user() {
        let set = |pairs: &[(&str, &str)]| {
            let environment = pairs.iter().map(|(name, value)| (name.into(), value.into()));
            let all = with_git_setting(environment.collect(), "safe.bareRepository", "explicit");
            let mut all: Vec<String> = all
                .iter()
                .map(|(name, value)| format!("{name:?}={value:?}").replace('"', ""))
                .collect();
            all.sort();
            all.join(" ").replace("GIT_CONFIG_", "")
        };
        let ours = "COUNT=1 KEY_0=safe.bareRepository VALUE_0=explicit";
        assert_eq!(set(&[]), ours);
        assert_eq!(set(&[("GIT_CONFIG_COUNT", ""), ("GIT_CONFIG_KEY_0", "left.over")]), ours);
        let other =
            [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "a.b"), ("GIT_CONFIG_VALUE_0", "c")];
        let both = "COUNT=2 KEY_0=a.b KEY_1=safe.bareRepository VALUE_0=c VALUE_1=explicit";
        assert_eq!(set(&other), both);
        let all = [
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "safe.barerepository"),
            ("GIT_CONFIG_VALUE_0", "all"),
        ];
        assert_eq!(set(&all), "COUNT=1 KEY_0=safe.barerepository VALUE_0=all");
        assert_eq!(set(&[("GIT_CONFIG_COUNT", "x")]), "COUNT=x");
    }

    #[test]
    fn added_variables_replace_inherited_ones() {
        let environment = HookEnvironment::new(&vec![("A".into(), "old".into())], &[]);
        assert_eq!(environment.for_hook(&[], &[("A", "new".into())]), [("A".into(), "new".into())]);
    }
}
