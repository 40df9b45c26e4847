//! Signatures of reasoning. Each contains its format and a hash of its reasoning.

use crate::Format;

/// An opaque signature. It is valid base64, which some clients check.
pub(super) fn signature(format: Format, serial: usize, reasoning: &str) -> String {
    format!("sig{}{serial:08}{:016x}", format.letter(), hash(reasoning))
}

/// FNV-1a.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The letter of the format and the hash of the reasoning.
pub(super) fn read(signature: &str) -> Option<(char, String)> {
    let rest = signature.strip_prefix("sig")?;
    let letter = rest.chars().next()?;
    let sum = rest.get(9..).filter(|sum| sum.len() == 16)?;
    Some((letter, sum.to_owned()))
}
