//! The environment that hooks run in: the parent's, less what looks like a model's key (R40).

use std::ffi::OsString;

/// Environment variables as name and value.
pub type Environment = Vec<(OsString, OsString)>;

/// Makers and sellers of models; with one of [`SECRET_WORDS`], their names make a key.
const MODEL_VENDORS: &[&str] = &[
    "ANTHROPIC",
    "AZURE",
    "BEDROCK",
    "CLAUDE",
    "COHERE",
    "DEEPSEEK",
    "FIREWORKS",
    "GEMINI",
    "GOOGLE",
    "GROQ",
    "HF",
    "HUGGINGFACE",
    "HUGGING_FACE",
    "MISTRAL",
    "OPENAI",
    "OPENROUTER",
    "PERPLEXITY",
    "REPLICATE",
    "TOGETHER",
    "VERTEX",
    "XAI",
];
const SECRET_WORDS: &[&str] = &["KEY", "SECRET", "TOKEN"];

/// Whether a variable's name looks like a model's key.
pub fn looks_like_model_key(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let of_vendor = MODEL_VENDORS
        .iter()
        .any(|vendor| name.strip_prefix(vendor).is_some_and(|rest| rest.starts_with('_')));
    let secret = name.split('_').any(|word| SECRET_WORDS.contains(&word));
    name.contains("API_KEY") || name.contains("APIKEY") || (of_vendor && secret)
}

/// The environment of hooks.
#[derive(Debug, Clone, Default)]
pub struct HookEnvironment {
    given: Environment,
    withheld: Environment,
}

impl HookEnvironment {
    /// The parent's environment without model keys, but for those in `pass`.
    pub fn new(parent: &Environment, pass: &[String]) -> Self {
        let (withheld, given) =
            parent.iter().cloned().partition(|(name, _)| is_withheld(name, pass));
        Self { given, withheld }
    }

    /// The same without these variables, too: keys whose names do not look like one. A hook may still ask for them.
    #[must_use]
    pub fn withholding(self, names: &[&str]) -> Self {
        let named = |name: &OsString| names.iter().any(|named| name == named);
        let (more, given) = self.given.into_iter().partition(|(name, _)| named(name));
        Self { given, withheld: [self.withheld, more].concat() }
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
        .is_some_and(|name| looks_like_model_key(name) && !pass.iter().any(|passed| passed == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_keys_are_told_from_other_variables() {
        for key in [
            "OPENAI_API_KEY",
            "anthropic_api_key",
            "ANTHROPIC_AUTH_TOKEN",
            "GEMINI_KEY",
            "HF_TOKEN",
            "MY_APIKEY_2",
        ] {
            assert!(looks_like_model_key(key), "{key}");
        }
        for other in [
            "PATH",
            "SLACK_WEBHOOK_URL",
            "GITHUB_TOKEN",
            "KEYBOARD",
            "GOOGLE_CLOUD_PROJECT",
            "OPENAI_BASE_URL",
        ] {
            assert!(!looks_like_model_key(other), "{other}");
        }
    }

    #[test]
    fn a_key_is_passed_only_when_asked_for() {
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
    fn a_key_with_a_name_of_its_own_is_withheld_as_well() {
        let parent: Environment =
            vec![("PATH".into(), "/bin".into()), ("WORK_LLM".into(), "secret".into())];
        let environment = HookEnvironment::new(&parent, &[]).withholding(&["WORK_LLM", "OTHER"]);
        assert_eq!(environment.with(&[], &[]), parent[..1]);
        assert_eq!(environment.with(&["WORK_LLM".to_owned()], &[]), parent);
        assert_eq!(environment.secrets().collect::<Vec<_>>(), ["secret"]);
    }

    #[test]
    fn what_is_added_replaces_what_is_inherited() {
        let environment = HookEnvironment::new(&vec![("A".into(), "old".into())], &[]);
        assert_eq!(environment.with(&[], &[("A", "new".into())]), [("A".into(), "new".into())]);
    }
}
