//! A manifest in the form in which it is remembered: its trigger by name, since only names outlive a process.

use serde::{Deserialize, Serialize};
use tenter_protocol::Object;
use tenter_protocol::lifecycle::TABLE;
use tenter_protocol::manifest::{Extensions, Manifest, MatcherText, Unset};

/// A manifest, to be kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptManifest {
    name: String,
    description: String,
    trigger: String,
    matcher: MatcherText,
    timeout_ms: u64,
    asynchronous: bool,
    priority: u16,
    unset: Unset,
    extensions: Extensions,
    metadata: Object,
}

impl From<&Manifest> for KeptManifest {
    fn from(manifest: &Manifest) -> Self {
        let Manifest { name, description, event: _, trigger, matcher, .. } = manifest.clone();
        Self {
            name,
            description,
            trigger: trigger.to_owned(),
            matcher,
            timeout_ms: manifest.timeout_ms,
            asynchronous: manifest.asynchronous,
            priority: manifest.priority,
            unset: manifest.unset,
            extensions: manifest.extensions.clone(),
            metadata: manifest.metadata.clone(),
        }
    }
}

impl KeptManifest {
    /// The manifest that was kept; nothing, if its trigger is not known.
    pub(super) fn read(&self) -> Option<Manifest> {
        let (event, trigger) = TABLE.iter().find_map(|row| {
            let trigger = row.manifest.iter().find(|spelling| **spelling == self.trigger)?;
            Some((row.event, *trigger))
        })?;
        let KeptManifest { name, description, matcher, extensions, metadata, .. } = self.clone();
        Some(Manifest {
            name,
            description,
            event,
            trigger,
            matcher,
            timeout_ms: self.timeout_ms,
            asynchronous: self.asynchronous,
            priority: self.priority,
            unset: self.unset,
            extensions,
            metadata,
        })
    }
}
