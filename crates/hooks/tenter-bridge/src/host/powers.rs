//! The powers of hooks at each of Tenter's events in a host.

use tenter_protocol::EventName;
use tenter_protocol::lifecycle::Power;

/// The powers of hooks at one of Tenter's events in a host.
#[derive(Debug)]
pub struct EventPowers {
    /// Tenter's event.
    pub event: EventName,
    /// The native events that fire it.
    pub fired_by: &'static [&'static str],
    /// The powers that the host provides.
    pub native: &'static [Power],
    /// The powers that the bridge provides instead, with a description of each.
    pub emulated: &'static [(Power, &'static str)],
}

/// Creates an event at which hooks can only watch, until powers are added.
pub(crate) const fn at(event: EventName, fired_by: &'static [&'static str]) -> EventPowers {
    EventPowers { event, fired_by, native: &[], emulated: &[] }
}

impl EventPowers {
    /// Sets the powers that the host provides.
    pub(crate) const fn native(self, native: &'static [Power]) -> Self {
        Self { native, ..self }
    }

    /// Sets the powers that the bridge provides instead, with a description of each.
    pub(crate) const fn emulated(self, emulated: &'static [(Power, &'static str)]) -> Self {
        Self { emulated, ..self }
    }
}

/// The support of a host for a power.
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
    /// Returns the word in listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Emulated(_) => "emulated",
            Self::Unsupported => "unsupported",
        }
    }
}
