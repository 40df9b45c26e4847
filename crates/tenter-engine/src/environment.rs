//! The environment of hooks, commands and programs: the parent's without model keys (R40, R80).

use std::ffi::OsString;
use std::path::PathBuf;

use crate::hook_state::{self, Owner};

use crate::keys::is_model_key;

/// Environment variables as name and value.
pub type Environment = Vec<(OsString, OsString)>;

/// The environment of hooks.
#[derive(Debug, Clone, Default)]
pub struct HookEnvironment {
    given: Environment,
    withheld: Environment,
    /// Where hooks have their own directories; without it they have none.
    state: Option<PathBuf>,
}

impl HookEnvironment {
    /// The parent's environment without model keys, but for those in `pass`.
    pub fn new(parent: &Environment, pass: &[String]) -> Self {
        let (withheld, given) =
            parent.iter().cloned().partition(|(name, _)| is_withheld(name, pass));
        Self { given, withheld, state: None }
    }

    /// The same with a private directory for each hook in `root`, which is made when it is needed (R72).
    #[must_use]
    pub fn with_state(self, root: PathBuf) -> Self {
        Self { state: Some(root), ..self }
    }

    /// What the hook `owner` gets beside everything else: its own directory; and why, if that cannot be used.
    pub(crate) fn of_state(
        &self,
        owner: Owner<'_>,
    ) -> (Vec<(&'static str, OsString)>, Option<String>) {
        let Some(root) = &self.state else { return (Vec::new(), None) };
        match hook_state::directory(root, owner) {
            Ok(path) => {
                // Python would read compiled files from beside the script, which trust does not cover, and write them there.
                let compiled = path.join("pycache").into();
                let variables =
                    vec![(hook_state::VARIABLE, path.into()), ("PYTHONPYCACHEPREFIX", compiled)];
                (variables, None)
            }
            Err(error) => {
                let why = format!("it has no {}: {error}", hook_state::VARIABLE);
                (Vec::new(), Some(why))
            }
        }
    }

    /// The same without these variables, too: keys whose names do not look like one. A hook may still ask for them.
    #[must_use]
    pub fn withholding(self, names: &[&str]) -> Self {
        let named = |name: &OsString| names.iter().any(|named| name == named);
        let (more, given) = self.given.into_iter().partition(|(name, _)| named(name));
        Self { given, withheld: [self.withheld, more].concat(), state: self.state }
    }

    /// What every hook gets.
    pub fn given(&self) -> &Environment {
        &self.given
    }

    /// What a hook gets that asks for the withheld variables in `asked`, with `added` over all of it.
    pub fn with(&self, asked: &[String], added: &[(&str, OsString)]) -> Environment {
        let asked_for = |name: &OsString| asked.iter().any(|asked| name == asked.as_str());
        let passed = self.withheld.iter().filter(|(name, _)| asked_for(name));
        let inherited = self.given.iter().chain(passed);
        let kept =
            inherited.filter(|(name, _)| added.iter().all(|(ours, _)| name != ours)).cloned();
        kept.chain(added.iter().map(|(name, value)| (OsString::from(name), value.clone())))
            .collect()
    }

    /// The values that hooks do not get: what must not reach a record either.
    pub fn secrets(&self) -> impl Iterator<Item = String> {
        self.withheld.iter().filter_map(|(_, value)| value.to_str()).map(str::to_owned)
    }
}

fn is_withheld(name: &OsString, pass: &[String]) -> bool {
    name.to_str()
        .is_some_and(|name| is_model_key(name) && !pass.iter().any(|passed| passed == name))
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
        assert_eq!(environment.with(&[], &[]), parent[..1]);
        assert_eq!(environment.with(&key, &[]), parent);
        assert_eq!(HookEnvironment::new(&parent, &key).with(&[], &[]), parent);
        assert_eq!(environment.secrets().collect::<Vec<_>>(), ["sk-1"]);
    }

    #[test]
    fn a_configured_key_variable_is_withheld_too() {
        let parent: Environment =
            vec![("PATH".into(), "/bin".into()), ("WORK_LLM".into(), "secret".into())];
        let environment = HookEnvironment::new(&parent, &[]).withholding(&["WORK_LLM", "OTHER"]);
        assert_eq!(environment.with(&[], &[]), parent[..1]);
        assert_eq!(environment.with(&["WORK_LLM".to_owned()], &[]), parent);
        assert_eq!(environment.secrets().collect::<Vec<_>>(), ["secret"]);
    }

    #[test]
    fn added_variables_replace_inherited_ones() {
        let environment = HookEnvironment::new(&vec![("A".into(), "old".into())], &[]);
        assert_eq!(environment.with(&[], &[("A", "new".into())]), [("A".into(), "new".into())]);
    }
}
