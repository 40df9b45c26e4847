//! The files that the word `secrets` means, as the guard `secrets` does.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::globs;

/// A list of globs, one a line. `~` is the home directory, and a glob that begins with `**/` applies to the project.
const LIST: &str = include_str!("secrets.txt");

/// Files of tools that read as empty, so that the tools work without their tokens; the others cannot be opened.
const READS_AS_EMPTY: [&str; 14] = *tenter_base::words!(
    ".npmrc .yarnrc .yarnrc.yml .condarc .netrc .env .env.* pip.conf gradle.properties
     settings*.xml NuGet.Config .terraformrc .msmtprc .my.cnf"
);

/// Returns the globs.
pub(crate) fn globs() -> impl Iterator<Item = &'static str> {
    LIST.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '!']))
}

/// Returns true if a file of this name is an exception, such as a public key.
pub(crate) fn is_exception(name: &OsStr) -> bool {
    LIST.lines().filter_map(|line| line.strip_prefix('!')).any(|glob| matches(glob, name))
}

/// Returns true if a hidden file of this name reads as empty.
pub(crate) fn reads_as_empty(name: &OsStr) -> bool {
    READS_AS_EMPTY.iter().any(|glob| matches(glob, name))
}

fn matches(glob: &str, name: &OsStr) -> bool {
    globs::matches(glob.as_bytes(), name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_keys_and_examples_are_no_secrets() {
        for (name, expected) in
            [("id_rsa.pub", true), (".env.example", true), ("server.pem", false), (".env", false)]
        {
            assert_eq!(is_exception(OsStr::new(name)), expected, "{name}");
        }
    }
}
