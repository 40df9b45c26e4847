//! Signatures of reasoning. Each contains its format and a hash of its reasoning.

use crate::Format;

/// Creates an opaque signature. It is valid base64, which some clients check.
pub(super) fn signature(format: Format, serial: usize, reasoning: &str) -> String {
    format!("sig{}{serial:08}{:016x}", format.letter(), hash(reasoning))
}

/// Checks a signature that a client of `format` sends back, with its reasoning if the format sends both.
///
/// # Errors
/// No server issued the signature, or it belongs to another format or to other reasoning.
pub fn check_signature(
    signature: &str,
    format: Format,
    reasoning: Option<&str>,
) -> Result<(), String> {
    let (letter, sum) = read(signature)
        .ok_or_else(|| format!("the signature `{signature}` was not issued by this server"))?;
    if letter != format.letter() {
        return Err(format!("the signature `{signature}` belongs to another format"));
    }
    match reasoning {
        Some(reasoning) if sum != format!("{:016x}", hash(reasoning)) => Err(format!(
            "the signature `{signature}` belongs to other reasoning than {reasoning:?}"
        )),
        _ => Ok(()),
    }
}

/// Computes the FNV-1a hash of a text.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns the letter of the format and the hash of the reasoning.
fn read(signature: &str) -> Option<(char, &str)> {
    let rest = signature.strip_prefix("sig")?;
    let letter = rest.chars().next()?;
    let sum = rest.get(9..).filter(|sum| sum.len() == 16)?;
    Some((letter, sum))
}
