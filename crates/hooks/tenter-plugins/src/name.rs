//! The name of a plugin: `org/repo`; its directory is `org@repo`. Both forms are accepted everywhere.

use std::fmt;

/// Maximum length of one half, in bytes.
const MAX_LENGTH: usize = 100;

/// The name of a plugin that can be installed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PluginName {
    org: String,
    repo: String,
}

impl PluginName {
    /// Creates a name from its halves.
    ///
    /// # Errors
    /// One of them is invalid; the text says why.
    pub fn new(org: &str, repo: &str) -> Result<Self, String> {
        let repo = repo.strip_suffix(".git").unwrap_or(repo);
        for half in [org, repo] {
            check(half).map_err(|why| format!("{half:?} {why}"))?;
        }
        Ok(Self { org: org.to_owned(), repo: repo.to_owned() })
    }

    /// Parses `org/repo` or `org@repo`.
    ///
    /// # Errors
    /// The text is not a name; the error says why.
    pub fn parse(text: &str) -> Result<Self, String> {
        let halves = text.split_once(['/', '@']);
        let (org, repo) = halves.ok_or_else(|| format!("{text:?} is not ORG/REPO"))?;
        Self::new(org, repo)
    }

    /// Returns the name of the directory: `org@repo`.
    pub fn directory(&self) -> String {
        format!("{}@{}", self.org, self.repo)
    }

    /// Returns the second half.
    pub fn repo(&self) -> &str {
        &self.repo
    }
}

impl fmt::Display for PluginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.org, self.repo)
    }
}

/// Checks a name. Names are used in paths, in names of hooks and in the lock file, so they are plain.
fn check(half: &str) -> Result<(), &'static str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    Err(if half.is_empty() {
        "is empty; the name of a plugin is ORG/REPO"
    } else if half.len() > MAX_LENGTH {
        "is too long for the name of a plugin"
    } else if half.starts_with(['.', '-']) {
        "begins with a dot or a hyphen, which the name of a plugin cannot"
    } else if !half.chars().all(is_plain) {
        "contains other characters than letters, digits, dots, hyphens and underscores"
    } else {
        return Ok(());
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_forms_are_one_name() {
        let name = PluginName::parse("ada/guards").unwrap();
        assert_eq!(PluginName::parse("ada@guards").unwrap(), name);
        assert_eq!(
            (name.to_string().as_str(), name.directory().as_str()),
            ("ada/guards", "ada@guards")
        );
        assert_eq!(PluginName::new("ada", "guards.git").unwrap(), name);
    }

    #[test]
    fn rejects_names_that_could_lead_elsewhere() {
        for text in [
            "", "ada", "ada/", "/guards", "../x", "ada/..", "a/b/c", "a@b@c", "a/-x", "a/b\n",
            "a/.git",
        ] {
            assert!(PluginName::parse(text).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_name_round_trips_through_both_forms(org in "[a-z0-9_][a-zA-Z0-9._-]{0,9}", repo in "[a-z0-9_][a-zA-Z0-9_-]{0,9}") {
            let name = PluginName::new(&org, &repo).unwrap();
            prop_assert_eq!(&PluginName::parse(&name.to_string()).unwrap(), &name);
            prop_assert_eq!(PluginName::parse(&name.directory()).unwrap(), name);
        }

        #[test]
        fn a_name_is_one_path_component(text in "\\PC{0,20}") {
            if let Ok(name) = PluginName::parse(&text) {
                let directory = name.directory();
                prop_assert!(!directory.contains('/') && !directory.starts_with('.'));
            }
        }
    }
}
