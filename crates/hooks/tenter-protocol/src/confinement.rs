//! Confinements: what a call may do if it runs with fewer rights (F1). The launcher keeps them; here they are only data.

use std::fmt;

use serde::{Deserialize, Serialize};

pub use crate::domain_rule::DomainRule;

/// The places that a confinement can name by a word.
pub const PLACES: [(&str, &str); 5] = [
    ("project", "the project, with the repository of a git worktree"),
    ("temp", "the directories for temporary files"),
    ("home", "the home directory"),
    ("caches", "the caches of package managers and compilers"),
    ("secrets", "keys and credentials: only in `read_not`"),
];

/// A confinement. A missing field restricts nothing.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Confinement {
    /// The name of a profile, which applies besides the other fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The only places that may be written: `project`, `temp`, `home`, `caches`, paths and globs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Vec<String>>,
    /// Paths and globs in them that may not be written, in addition to hooks and settings of agents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write_not: Vec<String>,
    /// The files that may not be read: `secrets`, paths and globs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read_not: Vec<String>,
    /// The network that may be used.
    #[serde(skip_serializing_if = "NetworkAccess::is_any")]
    pub network: NetworkAccess,
    /// The fallback if this machine cannot keep a part of it; by default the user is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Otherwise>,
}

/// The network that a confined call may use. The strictest is the greatest; of two lists of hosts, neither is stricter.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkAccess {
    /// Every network.
    #[default]
    Any,
    /// The hosts that these rules allow, over HTTP and HTTPS, and a loopback interface of its own.
    Allow(Vec<DomainRule>),
    /// A loopback interface of its own.
    Local,
    /// None.
    None,
}

impl NetworkAccess {
    fn is_any(&self) -> bool {
        *self == Self::Any
    }
}

/// The fallback if a machine cannot keep a confinement. The strictest is the greatest.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Otherwise {
    /// The call runs with what can be kept.
    Run,
    /// The user is asked.
    #[default]
    Ask,
    /// The call is denied.
    Deny,
}

impl Otherwise {
    /// Returns what happens if one of several confinements cannot be kept: what the strictest says.
    pub fn strictest<'c>(confinements: impl IntoIterator<Item = &'c Confinement>) -> Self {
        let all = confinements.into_iter().map(|one| one.otherwise.unwrap_or_default());
        all.max().unwrap_or_default()
    }
}

impl Confinement {
    /// The names of the profiles that every user has.
    pub const BUILT_IN: [&'static str; 3] = ["standard", "build", "pure"];

    /// Returns the built-in profile `name`.
    ///
    /// - `standard`: writes the project and temporary files, reads no secrets, has no network.
    /// - `build`: as `standard`, with the network and the caches of package managers.
    /// - `pure`: writes nothing, reads no secrets, has no network.
    pub fn built_in(name: &str) -> Option<Self> {
        let places = |places: &[&str]| Some(places.iter().map(|&place| place.to_owned()).collect());
        let (write, network) = match name {
            "standard" => (places(&["project", "temp"]), NetworkAccess::None),
            "build" => (places(&["project", "temp", "caches"]), NetworkAccess::Any),
            "pure" => (places(&[]), NetworkAccess::None),
            _ => return None,
        };
        let read_not = vec!["secrets".to_owned()];
        Some(Self { profile: Some(name.to_owned()), write, read_not, network, ..Self::default() })
    }

    /// Returns true if it restricts nothing by itself, without its profile.
    pub fn is_unrestricted(&self) -> bool {
        self.write.is_none()
            && self.write_not.is_empty()
            && self.read_not.is_empty()
            && self.network == NetworkAccess::Any
    }

    /// Returns the confinements that this one means, without references to profiles other than as names: the profile, which
    /// `profile` looks up, and its own fields. One that names no profile and restricts nothing is the profile `standard`.
    ///
    /// # Errors
    /// The name of a profile that does not exist.
    pub fn resolve(self, profile: impl Fn(&str) -> Option<Self>) -> Result<Vec<Self>, String> {
        let is_empty = self.is_unrestricted();
        let name = match &self.profile {
            Some(name) => name.clone(),
            None if is_empty => "standard".to_owned(),
            None => return Ok(vec![self]),
        };
        let built_in = || Self::built_in(&name);
        let mut first = profile(&name).or_else(built_in).ok_or_else(|| name.clone())?;
        first.profile = Some(name);
        // The stricter of two: nothing is less strict than something.
        first.otherwise = first.otherwise.max(self.otherwise);
        let rest = Self { profile: None, ..self };
        Ok(if is_empty { vec![first] } else { vec![first, rest] })
    }

    /// Describes what it takes away, as the end of a sentence: `writes only project, temp, reads no secrets, has no network`.
    pub fn in_words(&self) -> String {
        let list = |start: &str, items: &[String]| {
            (!items.is_empty()).then(|| format!("{start} {}", items.join(", ")))
        };
        let write = match self.write.as_deref() {
            Some([]) => Some("writes nothing".to_owned()),
            Some(places) => list("writes only", places),
            None => None,
        };
        let reads = match self.read_not.as_slice() {
            [place] if place == "secrets" => Some("reads no secrets".to_owned()),
            places => list("does not read", places),
        };
        let network = match &self.network {
            NetworkAccess::Any => None,
            NetworkAccess::Allow(rules) => {
                let rules: Vec<String> = rules.iter().map(DomainRule::to_string).collect();
                Some(format!("has no network but for {}", rules.join(", ")))
            }
            NetworkAccess::Local => Some("has no network but a loopback interface".to_owned()),
            NetworkAccess::None => Some("has no network".to_owned()),
        };
        let otherwise = (self.otherwise == Some(Otherwise::Run))
            .then(|| "runs anyway where this cannot be kept".to_owned());
        let write_not = list("does not write", &self.write_not);
        let all = [write, write_not, reads, network, otherwise].into_iter().flatten();
        let all: Vec<String> = all.collect();
        if all.is_empty() { "is restricted in nothing".to_owned() } else { all.join(", ") }
    }

    /// Returns the name for messages and journals: the profile's, or `custom`.
    pub fn label(&self) -> &str {
        self.profile.as_deref().unwrap_or("custom")
    }
}

/// A fact about a confined call: what was kept (F3).
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfinedFact {
    /// The profiles, such as `standard`.
    pub profile: String,
    /// The promises that were kept: `write`, `read_not`, `network`.
    pub kept: Vec<String>,
    /// The promises that were not kept, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_kept: Vec<String>,
}

/// One line, such as `standard: kept write, read_not; not kept signals: Landlock has ABI 5`.
impl fmt::Display for ConfinedFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: kept {}", self.profile, self.kept.join(", "))?;
        if self.not_kept.is_empty() {
            return Ok(());
        }
        write!(f, "; not kept {}", self.not_kept.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confinement(json: &str) -> Confinement {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn an_empty_confinement_is_the_standard_profile() {
        let standard = Confinement::built_in("standard").unwrap();
        assert_eq!(confinement("{}").resolve(|_| None), Ok(vec![standard]));
    }

    #[test]
    fn a_profile_and_other_fields_are_two_confinements() {
        let both = confinement(r#"{"profile": "build", "network": "none", "otherwise": "deny"}"#);
        let confinement = both.resolve(|_| None).unwrap();
        assert_eq!(confinement[0].label(), "build");
        assert_eq!(confinement[0].otherwise, Some(Otherwise::Deny));
        let [_, own] = &confinement[..] else { panic!("{confinement:?}") };
        assert_eq!((own.label(), &own.network), ("custom", &NetworkAccess::None));
    }

    #[test]
    fn a_users_profile_comes_before_a_built_in_one_and_an_unknown_one_is_an_error() {
        let own = confinement(r#"{"network": "local"}"#);
        let result = confinement(r#"{"profile": "build"}"#).resolve(|_| Some(own.clone()));
        assert_eq!(result.unwrap()[0].network, NetworkAccess::Local);
        let unknown = confinement(r#"{"profile": "bild"}"#).resolve(|_| None);
        assert_eq!(unknown, Err("bild".to_owned()));
    }

    #[test]
    fn a_confinement_is_described_by_what_it_takes_away() {
        let pure = Confinement::built_in("pure").unwrap();
        assert_eq!(pure.in_words(), "writes nothing, reads no secrets, has no network");
        let own = confinement(
            r#"{"write": ["project"], "write_not": ["docs"], "read_not": ["~/mail"], "network": {"allow": ["github.com"]}, "otherwise": "run"}"#,
        );
        assert_eq!(
            own.in_words(),
            "writes only project, does not write docs, does not read ~/mail, has no network but for github.com, \
             runs anyway where this cannot be kept"
        );
    }

    #[test]
    fn a_fact_is_one_line() {
        let mut fact = ConfinedFact {
            profile: "standard".to_owned(),
            kept: vec!["write".to_owned(), "network none".to_owned()],
            not_kept: Vec::new(),
        };
        assert_eq!(fact.to_string(), "standard: kept write, network none");
        fact.not_kept.push("signals: Landlock has ABI 5".to_owned());
        let line = "standard: kept write, network none; not kept signals: Landlock has ABI 5";
        assert_eq!(fact.to_string(), line);
    }

    #[test]
    fn hosts_are_a_list_in_the_field_network() {
        let json = r#"{"network":{"allow":["github.com","*.crates.io"]}}"#;
        let value = confinement(json);
        let hosts = ["github.com", "*.crates.io"].map(|rule| rule.parse().unwrap()).to_vec();
        assert_eq!(value.network, NetworkAccess::Allow(hosts));
        assert_eq!(serde_json::to_string(&value).unwrap(), json);
        assert!(NetworkAccess::Any < value.network && value.network < NetworkAccess::Local);
    }

    #[test]
    fn misspelled_fields_are_errors() {
        for json in [
            r#"{"wirte": []}"#,
            r#"{"network": "some"}"#,
            r#"{"network": {"allow": ["https://github.com"]}}"#,
            r#"{"write": "project"}"#,
        ] {
            assert!(serde_json::from_str::<Confinement>(json).is_err(), "{json}");
        }
    }
}
