//! Signatures of manifests: minisign, and SSH by `ssh-keygen`.

use std::ffi::OsString;
use std::path::Path;
use std::{fmt, io};

use minisign_verify::{PublicKey, Signature};
use tenter_base::replace_file;
use tenter_proc::{Cancel, Invocation, ProcessEnd};
use tenter_protocol::Diagnostic;

use super::{failed, refused};

/// The namespace of SSH signatures: a signature of something else is not one of a bundle.
pub const SSH_NAMESPACE: &str = "tenter-bundle";
/// The name of the signer in the list that `ssh-keygen` reads.
const SSH_SIGNER: &str = "tenter";
/// The first line of an SSH signature.
const SSH_HEAD: &str = "-----BEGIN SSH SIGNATURE-----";
/// The beginning of the files of minisign.
const MINISIGN_HEAD: &str = "untrusted comment:";

/// A public key that the managed configuration pins.
#[derive(Clone)]
pub enum PinnedKey {
    /// A key of minisign: `RWQ…`.
    Minisign(PublicKey, String),
    /// A key of OpenSSH: its type and its base64.
    Ssh(String),
}

impl PinnedKey {
    /// Parses a key as `minisign -G` or `ssh-keygen` writes it; the comments of their files may be there, too.
    ///
    /// # Errors
    /// The text is neither; the error says what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let line = lines.find(|line| !line.starts_with(MINISIGN_HEAD)).unwrap_or_default();
        let is_ssh = ["ssh-", "sk-", "ecdsa-"].iter().any(|start| line.starts_with(start));
        let mut words = line.split_ascii_whitespace();
        if let (true, Some(kind), Some(key)) = (is_ssh, words.next(), words.next()) {
            return Ok(Self::Ssh(format!("{kind} {key}")));
        }
        match PublicKey::from_base64(line) {
            Ok(key) => Ok(Self::Minisign(key, line.to_owned())),
            Err(_) => Err(format!(
                "{line:?} is not a public key of minisign (RWQ…) or of SSH (ssh-ed25519 AAAA…)"
            )),
        }
    }
}

impl fmt::Display for PinnedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Minisign(_, text) => write!(f, "minisign {text}"),
            Self::Ssh(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for PinnedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns true if the text of a secret key is minisign's.
pub fn is_minisign_key(text: &str) -> bool {
    text.starts_with(MINISIGN_HEAD)
}

/// The keys with which a bundle may be signed, and what `ssh-keygen` needs.
#[derive(Debug, Clone, Copy)]
pub struct KeyRing<'k> {
    /// The pinned keys.
    pub keys: &'k [PinnedKey],
    /// The environment; its `PATH` has `ssh-keygen`.
    pub env: &'k [(OsString, OsString)],
    /// An existing directory for a temporary file.
    pub scratch: &'k Path,
    /// Cancels the verification.
    pub cancel: &'k Cancel,
}

impl KeyRing<'_> {
    /// Checks that one of the keys signed `text`.
    pub(super) fn verify(&self, text: &[u8], signature: &str) -> Result<(), Diagnostic> {
        if self.keys.is_empty() {
            return Err(refused("bundle-no-key", "no key is pinned for this bundle")
                .help("add `keys = [\"…\"]` to its table in the managed config.toml"));
        }
        let is_signed = if signature.trim().is_empty() {
            return Err(refused("bundle-unsigned", "it has no signature").help(
                "a bundle without a signature is never used; `tenter bundle sign` signs one",
            ));
        } else if signature.starts_with(SSH_HEAD) {
            self.verify_ssh(text, signature)?
        } else {
            self.verify_minisign(text, signature)
        };
        if is_signed {
            return Ok(());
        }
        Err(refused(
            "bundle-wrong-signature",
            "no pinned key has signed it, or it was changed since",
        )
        .help("if its key was replaced, pin the new one in the managed config.toml"))
    }

    fn verify_minisign(&self, text: &[u8], signature: &str) -> bool {
        let Ok(signature) = Signature::decode(signature) else { return false };
        self.keys.iter().any(|key| match key {
            PinnedKey::Minisign(key, _) => key.verify(text, &signature, false).is_ok(),
            PinnedKey::Ssh(_) => false,
        })
    }

    fn verify_ssh(&self, text: &[u8], signature: &str) -> Result<bool, Diagnostic> {
        let line = |key: &PinnedKey| match key {
            PinnedKey::Ssh(key) => {
                Some(format!("{SSH_SIGNER} namespaces=\"{SSH_NAMESPACE}\" {key}\n"))
            }
            PinnedKey::Minisign(..) => None,
        };
        let signers: String = self.keys.iter().filter_map(line).collect();
        if signers.is_empty() {
            return Ok(false);
        }
        let unwritable = |error: io::Error| {
            failed(format!("cannot write in {}: {error}", self.scratch.display()))
        };
        let name = replace_file::random().map_err(unwritable)?;
        let files = [format!(".{name}.signers"), format!(".{name}.sig")];
        let [signers_file, signature_file] = files.map(|file| self.scratch.join(file));
        let result = replace_file::replace(&signers_file, signers.as_bytes())
            .and_then(|()| replace_file::replace(&signature_file, signature.as_bytes()));
        let end = result.map(|()| self.ssh_keygen(text, &signers_file, &signature_file));
        for file in [&signers_file, &signature_file] {
            // Without them, nothing is left to remove.
            let _ = std::fs::remove_file(file);
        }
        match end.map_err(unwritable)? {
            ProcessEnd::NotStarted(error) => Err(failed(format!(
                "ssh-keygen, which checks signatures of SSH, cannot be started: {error}"
            ))
            .help("install OpenSSH's client")),
            ProcessEnd::Exited(code) => Ok(code == 0),
            _ => Err(failed("ssh-keygen was stopped before it had checked the signature")),
        }
    }

    fn ssh_keygen(&self, text: &[u8], signers: &Path, signature: &Path) -> ProcessEnd {
        let words = ["-Y", "verify", "-n", SSH_NAMESPACE, "-I", SSH_SIGNER, "-f"];
        let mut args: Vec<OsString> = words.map(OsString::from).into();
        args.extend([signers.into(), "-s".into(), signature.into()]);
        let invocation = Invocation {
            program: "ssh-keygen".into(),
            args,
            cwd: self.scratch.to_owned(),
            env: self.env.to_vec(),
            stdin: text.to_vec(),
            ..Invocation::default()
        };
        tenter_proc::run(&invocation, self.cancel).end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_parsed_with_the_comments_of_their_files() {
        let minisign = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        let file = format!("untrusted comment: minisign public key 1\n{minisign}\n");
        for text in [minisign, &file] {
            assert_eq!(PinnedKey::parse(text).unwrap().to_string(), format!("minisign {minisign}"));
        }
        let ssh =
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHJlYWxseSBub3QgYSBrZXkgYnV0IGxvbmcuLi4u ada@shop";
        assert_eq!(PinnedKey::parse(ssh).unwrap().to_string(), ssh.trim_end_matches(" ada@shop"));
        for text in
            ["", "x", "untrusted comment: only", "ssh-ed25519", "* cert-authority ssh-ed25519 A"]
        {
            assert!(PinnedKey::parse(text).is_err(), "{text:?}");
        }
    }
}
