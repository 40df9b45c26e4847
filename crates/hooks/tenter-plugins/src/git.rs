//! Runs `git` to read objects: nothing in a repository is checked out, filtered or run.
//!
//! A temporary bare repository fetches one commit, and its tree and files are read as objects, so hooks, filters, attributes and
//! submodules of the fetched repository have no effect. The user's git configuration still applies: it has the credentials,
//! proxies and URL rewrites.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tenter_proc::{Cancel, CapturedOutput, Invocation, Limits, ProcessEnd, Streams, run};
use tenter_protocol::Diagnostic;

use crate::fetch_error::FetchError;
use crate::rules::refused;

/// Maximum size of a list of files, in bytes; a longer one has too many files.
const LONGEST_LIST: usize = 16 << 20;
/// Maximum number of bytes kept of the messages of git.
const WORDS: usize = 64 << 10;
/// The ref under which the commit is fetched.
const WANTED: &str = "refs/tenter/wanted";

/// Settings that override every configuration file.
const SETTINGS: [&str; 9] = *tenter_base::words!(
    "core.hooksPath=/dev/null core.fsmonitor=false core.attributesFile=/dev/null
     protocol.ext.allow=never submodule.recurse=false fetch.recurseSubmodules=false
     maintenance.auto=false http.lowSpeedLimit=100 http.lowSpeedTime=60"
);

/// Variables of git that are passed on: where git and its configuration are and how a server is reached. Others belong to a
/// repository, which is not the temporary one.
const KEPT: [&str; 15] = *tenter_base::words!(
    "GIT_ALLOW_PROTOCOL GIT_ASKPASS GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_PROXY_COMMAND
     GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_SSL_CERT GIT_SSL_KEY GIT_SSL_NO_VERIFY GIT_CONFIG_GLOBAL
     GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_EXEC_PATH"
);

/// Variables that are set for git: no prompts, messages in English, and no lazy fetches.
const SET: [(&str, &str); 6] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("LC_ALL", "C"),
];

/// A temporary bare repository.
pub(crate) struct Repository<'a> {
    dir: PathBuf,
    env: Vec<(OsString, OsString)>,
    cancel: &'a Cancel,
    timeout: Duration,
}

impl<'a> Repository<'a> {
    /// Creates a repository at `dir`, which must not exist. `env` is the user's environment.
    pub(crate) fn make(
        dir: PathBuf,
        env: &[(OsString, OsString)],
        cancel: &'a Cancel,
        timeout: Duration,
    ) -> Result<Self, FetchError> {
        let repository = Self { dir, env: environment(env), cancel, timeout };
        let place = repository.dir.clone().into_os_string();
        let init = ["init", "--quiet", "--bare", "--template=", "--object-format=sha1"];
        let args = init.iter().map(OsString::from).chain([place]).collect();
        repository.git(args, Vec::new(), WORDS)?;
        Ok(repository)
    }

    /// Fetches `reference` from `source`, by default its default branch, and returns the commit.
    pub(crate) fn fetch(
        &self,
        source: &str,
        reference: Option<&str>,
    ) -> Result<String, FetchError> {
        let name = reference.unwrap_or("HEAD");
        let fetched =
            self.fetch_refs(source, &["--depth=1", "--no-tags"], &[&format!("+{name}:{WANTED}")]);
        let revision = match fetched {
            Ok(()) => WANTED,
            // A server may refuse an abbreviated commit, or any commit that is not a branch or tag: then everything is fetched
            // to look for it.
            Err(FetchError::Refused(_)) if is_hex(name) => {
                let all = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
                self.fetch_refs(source, &["--no-tags"], &all)?;
                name
            }
            Err(error) => return Err(error),
        };
        let commit = format!("{revision}^{{commit}}");
        let output = self.in_repository(
            &["rev-parse", "--verify", "--end-of-options", &commit],
            Vec::new(),
            WORDS,
        );
        let commit = output.map_err(|error| error.instead(|| unknown(name, source)))?;
        Ok(commit.text().trim().to_owned())
    }

    fn fetch_refs(&self, source: &str, how: &[&str], refs: &[&str]) -> Result<(), FetchError> {
        let start = ["fetch", "--quiet", "--no-recurse-submodules", "--no-write-fetch-head"];
        let args = [&start, how, &["--", source], refs].concat();
        self.in_repository(&args, Vec::new(), WORDS).map(drop)
    }

    /// Returns the output of `git ls-tree -z -l` for the commit's files below these paths; `None` if it is too long.
    pub(crate) fn list(
        &self,
        commit: &str,
        how: &[&str],
        paths: &[&str],
    ) -> Result<Option<Vec<u8>>, FetchError> {
        let args = [&["ls-tree", "-z", "-l", "--full-tree"], how, &[commit, "--"], paths].concat();
        let output = self.in_repository(&args, Vec::new(), LONGEST_LIST)?;
        Ok(output.whole().map(<[u8]>::to_vec))
    }

    /// Returns the output of `git cat-file --batch` for these object ids; `None` if it is longer than `most` bytes.
    pub(crate) fn objects(
        &self,
        names: &[&str],
        most: usize,
    ) -> Result<Option<Vec<u8>>, FetchError> {
        let input = names.join("\n").into_bytes();
        let objects = self.in_repository(&["cat-file", "--batch"], input, most)?;
        Ok(objects.whole().map(<[u8]>::to_vec))
    }

    fn in_repository(
        &self,
        args: &[&str],
        stdin: Vec<u8>,
        keep: usize,
    ) -> Result<CapturedOutput, FetchError> {
        let mut all = vec![OsString::from("--git-dir"), self.dir.clone().into_os_string()];
        all.extend(args.iter().map(OsString::from));
        self.git(all, stdin, keep)
    }

    fn git(
        &self,
        args: Vec<OsString>,
        stdin: Vec<u8>,
        keep: usize,
    ) -> Result<CapturedOutput, FetchError> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c".into(), OsString::from(setting)]);
        let invocation = Invocation {
            program: "git".into(),
            args: settings.chain(args).collect(),
            cwd: self.dir.parent().unwrap_or(Path::new("/")).to_owned(),
            env: self.env.clone(),
            stdin,
            streams: Streams::Separate,
            limits: Limits { timeout: self.timeout, keep, ..Limits::default() },
        };
        let completion = run(&invocation, self.cancel);
        match completion.end {
            ProcessEnd::Exited(0) => Ok(completion.stdout),
            ProcessEnd::Cancelled => Err(FetchError::Cancelled),
            end => Err(FetchError::from(trouble(&end, &completion.stderr, self.timeout))),
        }
    }
}

/// Returns the user's environment without variables that point git to another repository, a terminal or another language.
fn environment(env: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let is_kept = |name: &OsString| {
        !name.as_encoded_bytes().starts_with(b"GIT_")
            || KEPT.iter().any(|variables| name == variables)
    };
    let mut variables: Vec<_> = env.iter().filter(|(name, _)| is_kept(name)).cloned().collect();
    variables.retain(|(name, _)| SET.iter().all(|(set, _)| name != set));
    variables.extend(SET.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    if variables.iter().all(|(name, _)| name != "SSH_ASKPASS") {
        // Without this, ssh would prompt on the terminal and wait for an answer.
        variables.push(("SSH_ASKPASS".into(), "false".into()));
        variables.push(("SSH_ASKPASS_REQUIRE".into(), "force".into()));
    }
    variables
}

fn is_hex(name: &str) -> bool {
    (4..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn unknown(name: &str, source: &str) -> Diagnostic {
    refused("plugin-ref-unknown", format!("there is no branch, tag or commit {name:?} at {source}"))
        .help("`git ls-remote` shows which branches and tags there are")
}

fn trouble(end: &ProcessEnd, stderr: &CapturedOutput, timeout: Duration) -> Diagnostic {
    let message = stderr.tail_lines(3);
    let message = message.trim();
    match end {
        ProcessEnd::NotStarted(error) => refused("plugin-no-git", format!("git cannot be run: {error}"))
            .help("install git; plugins are fetched with it"),
        ProcessEnd::TimedOut => refused("plugin-git-slow", format!("git took longer than {} s and was ended", timeout.as_secs()))
            .help("try again, or clone the repository yourself and add its directory"),
        _ if message.ends_with("find remote ref HEAD") => {
            refused("plugin-nothing-offered", "this repository offers nothing: it has no commit on the branch that it names first")
                .help("name an existing branch, tag or commit after @; `git ls-remote` shows them")
        }
        _ if message.contains("find remote ref") => {
            refused("plugin-ref-unknown", format!("git: {message}")).help("`git ls-remote` shows which branches and tags there are")
        }
        _ => refused("plugin-git-failed", format!("git: {message}"))
            .help("`git ls-remote` on the same address must work without a question: credentials come from a helper or an agent"),
    }
}
