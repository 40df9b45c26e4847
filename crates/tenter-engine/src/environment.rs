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

/// The parent's environment as hooks get it: without model keys, but for those in `pass`.
pub fn for_hooks(parent: &Environment, pass: &[String]) -> Environment {
    parent.iter().filter(|(name, _)| !is_withheld(name, pass)).cloned().collect()
}

/// The values of the variables that hooks do not get: what must not reach a record either.
pub fn withheld_values(parent: &Environment, pass: &[String]) -> Vec<String> {
    let withheld = parent.iter().filter(|(name, _)| is_withheld(name, pass));
    withheld.filter_map(|(_, value)| value.to_str()).map(str::to_owned).collect()
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
        assert_eq!(for_hooks(&parent, &[]), parent[..1]);
        assert_eq!(for_hooks(&parent, &["OPENAI_API_KEY".to_owned()]), parent);
        assert_eq!(withheld_values(&parent, &[]), ["sk-1"]);
    }
}
