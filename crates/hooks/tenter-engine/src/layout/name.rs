//! Names of resources: `name`, or `org/repo/name` for a plugin's. `org@repo/name` is accepted too, since a plugin's directory
//! is called `org@repo`.

use std::fmt;

/// Returns the name of the plugin in a directory called `org@repo`: `org/repo`. Also accepts a name.
pub fn plugin_name(directory: &str) -> String {
    if directory.contains('/') { directory.to_owned() } else { directory.replacen('@', "/", 1) }
}

/// A name that a resource can have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ResourceName(String);

impl ResourceName {
    /// Reads a name; `org@repo/name` becomes `org/repo/name`.
    pub fn new(text: &str) -> Self {
        Self(match text.split_once('/') {
            Some((plugin, rest)) => format!("{}/{rest}", plugin_name(plugin)),
            None => text.to_owned(),
        })
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name without its plugin and subdirectories.
    pub fn last(&self) -> &str {
        last(&self.0)
    }

    /// Returns the name among `names` that was probably meant by this one: another plugin's or directory's of the same last
    /// part, or one that is spelled similarly.
    pub fn nearest<'k>(&self, names: &[&'k str]) -> Option<&'k str> {
        let same_last = || names.iter().find(|name| last(name) == self.last()).copied();
        let similar_last = || {
            let near = tenter_base::nearest(self.last(), names.iter().map(|name| last(name)))?;
            names.iter().find(|name| last(name) == near).copied()
        };
        let similar = || tenter_base::nearest(self.as_str(), names.iter().copied());
        same_last().or_else(similar).or_else(similar_last)
    }

    /// Checks that the name cannot lead out of a directory and that a file can have it.
    ///
    /// # Errors
    /// The reason why no resource has this name.
    pub fn check(text: &str) -> Result<(), NameError> {
        let parts = || text.split('/');
        Err(NameError(if text.is_empty() {
            "is empty"
        } else if text.starts_with('/') {
            "is an absolute path"
        } else if text.chars().any(char::is_control) {
            "contains a control character"
        } else if parts().any(|part| part == "..") {
            "leads out of its directory"
        } else if parts().any(|part| part.is_empty() || part.starts_with('.')) {
            "has a part that is empty or begins with a dot"
        } else {
            return Ok(());
        }))
    }
}

fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The reason why no resource has a name, as the end of a sentence that begins with the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NameError(&'static str);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_a_plugins_resource_are_one_name() {
        for text in ["acme/docs/pdf", "acme@docs/pdf"] {
            assert_eq!(ResourceName::new(text).as_str(), "acme/docs/pdf");
        }
        assert_eq!(ResourceName::new("pdf@2").as_str(), "pdf@2");
        assert_eq!(ResourceName::new("acme@docs/a/b").last(), "b");
        assert_eq!(
            (plugin_name("acme@docs"), plugin_name("local")),
            ("acme/docs".into(), "local".into())
        );
    }

    #[test]
    fn names_that_lead_elsewhere_are_rejected() {
        for text in ["", "/etc", "../x", "a/../b", "a//b", "./a", ".hidden", "a\nb"] {
            assert!(ResourceName::check(text).is_err(), "{text:?}");
        }
        assert_eq!(ResourceName::check("github/pr"), Ok(()));
    }

    #[test]
    fn the_nearest_name_has_the_same_end_or_is_spelled_similarly() {
        let names = ["commit", "github/pr", "acme/docs/pdf"];
        for (written, expected) in [
            ("comit", Some("commit")),
            ("pr", Some("github/pr")),
            ("gitlab/pr", Some("github/pr")),
            ("pfd", Some("acme/docs/pdf")),
            ("quantum", None),
        ] {
            assert_eq!(ResourceName::new(written).nearest(&names), expected, "{written}");
        }
    }
}
