//! What hooks can do at each of Tenter's events in a host.

use tenter_protocol::EventName;
use tenter_protocol::lifecycle::Power;

/// What hooks can do at one of Tenter's events in a host.
#[derive(Debug)]
pub struct EventPowers {
    /// Tenter's event.
    pub event: EventName,
    /// The native events that fire it.
    pub fired_by: &'static [&'static str],
    /// What the host does itself.
    pub native: &'static [Power],
    /// What the bridge does instead of the host, and how.
    pub emulated: &'static [(Power, &'static str)],
}

/// An event at which hooks can only watch, until powers are added.
pub(crate) const fn at(event: EventName, fired_by: &'static [&'static str]) -> EventPowers {
    EventPowers { event, fired_by, native: &[], emulated: &[] }
}

impl EventPowers {
    /// With what the host does itself.
    pub(crate) const fn native(self, native: &'static [Power]) -> Self {
        Self { native, ..self }
    }

    /// With what the bridge does instead of the host, and how.
    pub(crate) const fn emulated(self, emulated: &'static [(Power, &'static str)]) -> Self {
        Self { emulated, ..self }
    }
}

/// How a host supports what a hook's reply may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// The host provides it.
    Native,
    /// The bridge provides it, in this way.
    Emulated(&'static str),
    /// It has no effect.
    Unsupported,
}

impl Support {
    /// The word in listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Emulated(_) => "emulated",
            Self::Unsupported => "unsupported",
        }
    }
}
