//! Options on the command line of the host, where the system shows it (Linux).

use std::fs;
use std::path::Path;

/// Maximum number of ancestors examined.
const MAX_ANCESTORS: usize = 6;
/// Programs with which hosts start hooks.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "fish", "env"];
/// Maximum length of a command line that is read, in bytes.
const MAX_LENGTH: u64 = 1 << 20;

/// An option with all its values.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HostOption {
    pub(super) name: &'static str,
    pub(super) values: Vec<String>,
}

/// Returns the options of these names in the command line of the host: the nearest ancestor that is not a shell.
pub(super) fn host_options(names: &[&'static str]) -> Vec<HostOption> {
    let words = host_words(std::os::unix::process::parent_id());
    names.iter().filter_map(|name| option(&words, name)).collect()
}

fn host_words(mut process: u32) -> Vec<String> {
    for _ in 0..MAX_ANCESTORS {
        let directory = Path::new("/proc").join(process.to_string());
        let words = words(&directory);
        let program = words.first().and_then(|word| Path::new(word).file_name()?.to_str());
        if !program.is_some_and(|program| SHELLS.contains(&program)) {
            return words;
        }
        let Some(parent) = parent(&directory) else { break };
        process = parent;
    }
    Vec::new()
}

fn words(process: &Path) -> Vec<String> {
    let bytes = tenter_base::untrusted_file::read_prefix(&process.join("cmdline"), MAX_LENGTH);
    let bytes = bytes.unwrap_or_default();
    let words =
        bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    words.collect()
}

fn parent(process: &Path) -> Option<u32> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Returns the values of an option: `--name=VALUE`, or `--name VALUE…` up to the next option.
fn option(words: &[String], name: &'static str) -> Option<HostOption> {
    let mut values = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if let Some(value) = word.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
            values.push(value.to_owned());
        } else if word == name {
            while let Some(value) = words.next_if(|word| !word.starts_with('-')) {
                values.push(value.clone());
            }
        }
    }
    (!values.is_empty()).then_some(HostOption { name, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_has_the_words_up_to_the_next_one() {
        let words: Vec<String> =
            ["claude", "--no", "a", "b", "-p", "x", "--no=c", "--nothing", "d"]
                .map(str::to_owned)
                .into();
        let values = ["a", "b", "c"].map(str::to_owned).into();
        assert_eq!(option(&words, "--no"), Some(HostOption { name: "--no", values }));
        assert_eq!(option(&words, "--yes"), None);
    }
}
