//! Parses a model's name: `PROVIDER/NAME`, `scripted:FILE`, or a bare name that one provider has.

/// A parsed model name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelName<'n> {
    /// `scripted:FILE`.
    Scripted(&'n str),
    /// `PROVIDER/NAME`. The name may contain slashes: resellers include the vendor.
    Of {
        /// The provider.
        provider: &'n str,
        /// The name that its server uses.
        model: &'n str,
    },
    /// A name without a provider.
    Bare(&'n str),
}

impl<'n> ModelName<'n> {
    /// Parses a name; `None` if a part of it is empty, or if it contains control characters, with which a project could
    /// forge lines of a question. Surrounding whitespace is ignored.
    pub fn parse(name: &'n str) -> Option<Self> {
        let name = name.trim();
        let parsed_name = match (name.strip_prefix("scripted:"), name.split_once('/')) {
            (Some(file), _) => Self::Scripted(file),
            (None, Some((provider, model))) => Self::Of { provider, model },
            (None, None) => Self::Bare(name),
        };
        let is_one_line = !name.chars().any(char::is_control);
        Some(parsed_name).filter(|parsed_name| is_one_line && !parsed_name.lacks_something())
    }

    fn lacks_something(&self) -> bool {
        match self {
            Self::Scripted(name) | Self::Bare(name) => name.is_empty(),
            Self::Of { provider, model } => provider.is_empty() || model.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_slash_ends_the_provider() {
        let of = |provider, model| Some(ModelName::Of { provider, model });
        assert_eq!(ModelName::parse("openai/gpt-5.2"), of("openai", "gpt-5.2"));
        assert_eq!(ModelName::parse("openrouter/x-ai/grok"), of("openrouter", "x-ai/grok"));
        assert_eq!(ModelName::parse("local/qwen3:4b"), of("local", "qwen3:4b"));
        assert_eq!(ModelName::parse(" gpt-5.2\n"), Some(ModelName::Bare("gpt-5.2")));
        assert_eq!(ModelName::parse("scripted:a/b.yaml"), Some(ModelName::Scripted("a/b.yaml")));
        assert_eq!(ModelName::parse("qwen3:4b"), Some(ModelName::Bare("qwen3:4b")));
    }

    #[test]
    fn an_incomplete_name_is_invalid() {
        for name in
            ["", "  ", "/", "openai/", "/gpt-5.2", "scripted:", "local/x\ny", "local/\u{1b}[2J"]
        {
            assert_eq!(ModelName::parse(name), None, "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn a_full_name_round_trips(
            provider in "[a-z][a-z0-9_-]{0,12}",
            model in "[a-zA-Z0-9][a-zA-Z0-9:./_-]{0,24}",
        ) {
            let whole = format!("{provider}/{model}");
            prop_assert_eq!(ModelName::parse(&whole), Some(ModelName::Of { provider: &provider, model: &model }));
        }

        #[test]
        fn parsing_accepts_any_text(name in "\\PC{0,40}") {
            let empty = name.trim().is_empty();
            prop_assert!(!empty || ModelName::parse(&name).is_none());
        }
    }
}
