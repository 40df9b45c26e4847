//! Signatures of reasoning: each says which format it belongs to and which reasoning it stands for.

use super::Format;

/// An opaque signature: letters that are valid base64, as some clients look.
pub(super) fn signature(format: Format, serial: usize, reasoning: &str) -> String {
    format!("sig{}{serial:08}{:016x}", format.letter(), hash(reasoning))
}

/// FNV-1a.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The format's letter and the reasoning's sum.
pub(super) fn read(signature: &str) -> Option<(char, String)> {
    let rest = signature.strip_prefix("sig")?;
    let letter = rest.chars().next()?;
    let sum = rest.get(9..).filter(|sum| sum.len() == 16)?;
    Some((letter, sum.to_owned()))
}
