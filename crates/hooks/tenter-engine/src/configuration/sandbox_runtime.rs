//! Reads settings of Anthropic's sandbox runtime, as Claude Code and other programs have them, as a confinement.

use std::path::Path;

use serde_json::Value;
use tenter_base::untrusted_file;
use tenter_protocol::confinement::{Confinement, DomainRule, NetworkAccess};

/// Maximum size of a settings file, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// A profile of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfineProfile {
    /// The confinement.
    pub confinement: Confinement,
    /// The fields of imported settings that cannot be kept.
    pub not_kept: Vec<String>,
}

/// Reads the settings file at `path`.
///
/// # Errors
/// It cannot be read, or it is not a JSON object.
pub(super) fn read(path: &Path) -> Result<ConfineProfile, String> {
    let failure = |why: String| format!("{}: {why}", path.display());
    let bytes =
        untrusted_file::read(path, MAX_BYTES).map_err(|error| failure(error.to_string()))?;
    let settings: Value =
        serde_json::from_slice(&bytes).map_err(|error| failure(error.to_string()))?;
    match settings.get("sandbox").unwrap_or(&settings) {
        Value::Object(_) => Ok(import(settings.get("sandbox").unwrap_or(&settings))),
        _ => Err(failure("is not a JSON object".to_owned())),
    }
}

/// Converts the settings.
fn import(settings: &Value) -> ConfineProfile {
    let strings = |pointer: &str| -> Option<Vec<String>> {
        let list = settings.pointer(pointer)?.as_array()?;
        Some(list.iter().filter_map(Value::as_str).map(place).collect())
    };
    let (network, invalid_domains) = network_access(
        &strings("/network/allowedDomains").unwrap_or_default(),
        &strings("/network/deniedDomains").unwrap_or_default(),
    );
    let confinement = Confinement {
        write: Some(strings("/filesystem/allowWrite").unwrap_or_default()),
        write_not: strings("/filesystem/denyWrite").unwrap_or_default(),
        read_not: strings("/filesystem/denyRead").unwrap_or_default(),
        network,
        ..Confinement::default()
    };
    let mut not_kept = Vec::new();
    for (section, fields) in [
        ("network", &["allowedDomains", "deniedDomains"][..]),
        ("filesystem", &["allowWrite", "denyWrite", "denyRead"][..]),
    ] {
        let entries = settings.get(section).and_then(Value::as_object).into_iter().flatten();
        let is_kept = |name: &str| fields.contains(&name);
        let fields = entries.filter(|(name, value)| !is_kept(name) && !is_empty(value));
        not_kept.extend(fields.map(|(name, _)| format!("{section}.{name}")));
    }
    let others = settings.as_object().into_iter().flatten().filter(|(name, value)| {
        !matches!(name.as_str(), "network" | "filesystem" | "enabled") && !is_empty(value)
    });
    not_kept.extend(others.map(|(name, _)| name.clone()));
    not_kept.extend(invalid_domains);
    ConfineProfile { confinement, not_kept }
}

/// Returns the network of these domains, and those that are no domains.
fn network_access(hosts: &[String], exclusions: &[String]) -> (NetworkAccess, Vec<String>) {
    let exceptions = exclusions.iter().map(|domain| format!("!{domain}"));
    let (mut rules, mut invalid) = (Vec::new(), Vec::new());
    for domain in hosts.iter().cloned().chain(exceptions) {
        match domain.parse::<DomainRule>() {
            Ok(rule) => rules.push(rule),
            Err(_) => invalid.push(format!("network: {domain:?}")),
        }
    }
    let network = match (hosts, exclusions) {
        ([], _) => NetworkAccess::None,
        _ if exclusions.is_empty() && hosts.iter().any(|domain| domain == "*") => {
            NetworkAccess::Any
        }
        // An exception that cannot be read allows nothing: it might be for any host.
        _ if exclusions.iter().any(|domain| domain.parse::<DomainRule>().is_err()) => {
            NetworkAccess::None
        }
        _ => NetworkAccess::Allow(rules),
    };
    (network, invalid)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::String(_) | Value::Number(_) => false,
    }
}

/// Returns the place that a path means here: `.` is the project.
fn place(path: &str) -> String {
    match path {
        "." | "./" => "project".to_owned(),
        // Two slashes begin an absolute path in the settings of Claude Code.
        path => {
            path.strip_prefix('/').filter(|rest| rest.starts_with('/')).unwrap_or(path).to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_become_a_confinement_and_name_what_is_not_kept() {
        let import_result = import(&json!({
            "network": {
                "allowedDomains": ["github.com", "a/b"],
                "deniedDomains": ["gist.github.com"],
                "allowLocalBinding": true,
            },
            "filesystem": {
                "allowWrite": [".", "/tmp"],
                "denyWrite": [".env"],
                "denyRead": ["~/.ssh"],
                "allowRead": ["~/.ssh/config"],
            },
            "credentials": {"mask": ["TOKEN"]},
        }));
        let Confinement { write, write_not, read_not, network, .. } = import_result.confinement;
        assert_eq!(write.unwrap(), ["project", "/tmp"]);
        assert_eq!((write_not, read_not), (vec![".env".into()], vec!["~/.ssh".into()]));
        let hosts = ["github.com", "!gist.github.com"].map(|rule| rule.parse().unwrap());
        assert_eq!(network, NetworkAccess::Allow(hosts.to_vec()));
        let not_kept = [
            "network.allowLocalBinding",
            "filesystem.allowRead",
            "credentials",
            "network: \"a/b\"",
        ];
        assert_eq!(import_result.not_kept, not_kept);
    }

    #[test]
    fn every_domain_is_every_network() {
        let import_result = import(&json!({"network": {"allowedDomains": ["*"]}}));
        assert_eq!(import_result.confinement.network, NetworkAccess::Any);
        assert_eq!(import_result.not_kept, Vec::<String>::new());
        let unreadable = json!({"network": {"allowedDomains": ["*"], "deniedDomains": ["a/b"]}});
        assert_eq!(import(&unreadable).confinement.network, NetworkAccess::None);
    }
}
