//! Systems other than Linux: no promise can be kept there, and each layer says so.

const REFUSED: &str = "only Linux confines commands";

/// Landlock.
pub(crate) mod landlock_layer {
    use std::path::PathBuf;

    /// The ABIs as on Linux.
    pub(crate) const MIN_ABI: u8 = 3;
    pub(crate) const SCOPE_ABI: u8 = 6;
    pub(crate) const SERVICE_ABI: u8 = 9;
    pub(crate) const MAX_ABI: u8 = 9;

    pub(crate) fn abi(_cap: u8) -> u8 {
        0
    }

    pub(crate) fn restrict(_layers: &[Vec<PathBuf>], _abi: u8) -> Result<(), String> {
        Err(super::REFUSED.to_owned())
    }
}

/// Mounts.
pub(crate) mod mounts {
    use std::path::PathBuf;

    use crate::places::MountPlan;

    #[expect(clippy::unnecessary_wraps, reason = "as on Linux")]
    pub(crate) fn with_inner_mounts(paths: &[PathBuf]) -> std::io::Result<Vec<PathBuf>> {
        Ok(paths.to_vec())
    }

    impl MountPlan {
        pub(crate) fn is_empty(&self) -> bool {
            self.hidden.is_empty() && self.read_only.is_empty()
        }

        pub(crate) fn without_existing(self) -> Self {
            self
        }

        #[expect(clippy::unused_self, reason = "as on Linux")]
        pub(crate) fn apply(&self) -> Result<(), String> {
            Err(super::REFUSED.to_owned())
        }
    }
}

/// Namespaces.
pub(crate) mod namespaces {
    pub(crate) fn enter(_mounts: bool, _network: bool) -> Result<(), String> {
        Err(super::REFUSED.to_owned())
    }
}

/// The network.
pub(crate) mod network {
    pub(crate) const NAMESPACED: [i32; 0] = [];
    pub(crate) const UNIX: [i32; 0] = [];

    pub(crate) fn refuse_sockets_except(_families: &[i32]) -> Result<(), String> {
        Err(super::REFUSED.to_owned())
    }

    pub(crate) fn start_loopback() -> Result<(), String> {
        Err(super::REFUSED.to_owned())
    }

    pub(crate) fn is_refused() -> bool {
        false
    }
}
