//! The system's `git`, asked for objects only: nothing that a repository holds is checked out, filtered or run.
//!
//! A repository of our own making fetches one commit into itself, and its tree and its files are read as objects. So no
//! hook, no filter, no attribute and no submodule of the fetched repository has a part in it. The person's own
//! configuration stays in force: it knows the credentials, the proxies and the addresses that stand for others.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tenter_proc::{Cancel, Captured, End, Invocation, Limits, Streams, run};
use tenter_protocol::Diagnostic;

use crate::fetch_error::FetchError;
use crate::rules::refused;

/// Bytes of a list of files at most; a longer one is of more files than are taken.
const LONGEST_LIST: usize = 16 << 20;
/// Bytes of what git says that are kept.
const WORDS: usize = 64 << 10;
/// The commit, by our own name for it.
const WANTED: &str = "refs/tenter/wanted";

/// Settings that outrank every file of configuration.
const SETTINGS: [&str; 9] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "maintenance.auto=false",
    "http.lowSpeedLimit=100",
    "http.lowSpeedTime=60",
];

/// Variables of git's that say where it and its configuration are and how a server is reached. Every other one is about a
/// repository, and ours is another.
const KEPT: [&str; 15] = [
    "GIT_ALLOW_PROTOCOL",
    "GIT_ASKPASS",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_PROXY_COMMAND",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "GIT_SSL_NO_VERIFY",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_EXEC_PATH",
];

/// What is set for git: it asks nobody, answers in English, and fetches nothing on its own account.
const SET: [(&str, &str); 6] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("LC_ALL", "C"),
];

/// A repository of our own, without files.
pub(crate) struct Repository<'a> {
    dir: PathBuf,
    env: Vec<(OsString, OsString)>,
    cancel: &'a Cancel,
    timeout: Duration,
}

impl<'a> Repository<'a> {
    /// Makes one at `dir`, which must not exist. `env` is the person's environment.
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

    /// Fetches what `reference` names at `source`, by default what it offers first, and returns the commit.
    pub(crate) fn fetch(
        &self,
        source: &str,
        reference: Option<&str>,
    ) -> Result<String, FetchError> {
        let name = reference.unwrap_or("HEAD");
        let fetched =
            self.fetch_refs(source, &["--depth=1", "--no-tags"], &[&format!("+{name}:{WANTED}")]);
        let wanted = match fetched {
            Ok(()) => WANTED,
            // Servers are asked by names; a commit that is abbreviated, or that they do not give by its own name, is looked
            // for in everything that they have.
            Err(FetchError::Refused(_)) if is_hex(name) => {
                let all = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
                self.fetch_refs(source, &["--no-tags"], &all)?;
                name
            }
            Err(failed) => return Err(failed),
        };
        let commit = format!("{wanted}^{{commit}}");
        let parsed = self.in_repository(
            &["rev-parse", "--verify", "--end-of-options", &commit],
            Vec::new(),
            WORDS,
        );
        let commit = parsed.map_err(|failed| failed.instead(|| unknown(name, source)))?;
        Ok(commit.text().trim().to_owned())
    }

    fn fetch_refs(&self, source: &str, how: &[&str], refs: &[&str]) -> Result<(), FetchError> {
        let start = ["fetch", "--quiet", "--no-recurse-submodules", "--no-write-fetch-head"];
        let args = [&start, how, &["--", source], refs].concat();
        self.in_repository(&args, Vec::new(), WORDS).map(drop)
    }

    /// The list of the commit's files below these paths, as `git ls-tree -z -l` has it; none where it is too long.
    pub(crate) fn list(
        &self,
        commit: &str,
        how: &[&str],
        paths: &[&str],
    ) -> Result<Option<Vec<u8>>, FetchError> {
        let args = [&["ls-tree", "-z", "-l", "--full-tree"], how, &[commit, "--"], paths].concat();
        let listed = self.in_repository(&args, Vec::new(), LONGEST_LIST)?;
        Ok(listed.whole().map(<[u8]>::to_vec))
    }

    /// The objects of these names as `git cat-file --batch` has them, `most` bytes at most.
    pub(crate) fn objects(
        &self,
        names: &[&str],
        most: usize,
    ) -> Result<Option<Vec<u8>>, FetchError> {
        let asked = names.join("\n").into_bytes();
        let objects = self.in_repository(&["cat-file", "--batch"], asked, most)?;
        Ok(objects.whole().map(<[u8]>::to_vec))
    }

    fn in_repository(
        &self,
        args: &[&str],
        stdin: Vec<u8>,
        keep: usize,
    ) -> Result<Captured, FetchError> {
        let mut all = vec![OsString::from("--git-dir"), self.dir.clone().into_os_string()];
        all.extend(args.iter().map(OsString::from));
        self.git(all, stdin, keep)
    }

    fn git(
        &self,
        args: Vec<OsString>,
        stdin: Vec<u8>,
        keep: usize,
    ) -> Result<Captured, FetchError> {
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
            End::Exited(0) => Ok(completion.stdout),
            End::Cancelled => Err(FetchError::Cancelled),
            end => Err(FetchError::from(trouble(&end, &completion.stderr, self.timeout))),
        }
    }
}

/// The person's environment without what would turn git to another repository, to a terminal or to another language.
fn environment(env: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let is_kept = |name: &OsString| {
        !name.as_encoded_bytes().starts_with(b"GIT_") || KEPT.iter().any(|kept| name == kept)
    };
    let mut kept: Vec<_> = env.iter().filter(|(name, _)| is_kept(name)).cloned().collect();
    kept.retain(|(name, _)| SET.iter().all(|(set, _)| name != set));
    kept.extend(SET.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    if kept.iter().all(|(name, _)| name != "SSH_ASKPASS") {
        // ssh asks at the terminal whoever holds it, and would wait for an answer that nobody knows is wanted.
        kept.push(("SSH_ASKPASS".into(), "false".into()));
        kept.push(("SSH_ASKPASS_REQUIRE".into(), "force".into()));
    }
    kept
}

fn is_hex(name: &str) -> bool {
    (4..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn unknown(name: &str, source: &str) -> Diagnostic {
    refused("plugin-ref-unknown", format!("there is no branch, tag or commit {name:?} at {source}"))
        .help("`git ls-remote` shows which branches and tags there are")
}

fn trouble(end: &End, stderr: &Captured, timeout: Duration) -> Diagnostic {
    let said = stderr.tail_lines(3);
    let said = said.trim();
    match end {
        End::NotStarted(error) => refused("plugin-no-git", format!("git cannot be run: {error}"))
            .help("install git; plugins are fetched with it"),
        End::TimedOut => refused("plugin-git-slow", format!("git took longer than {} s and was ended", timeout.as_secs()))
            .help("try again, or clone the repository yourself and add its folder"),
        _ if said.ends_with("find remote ref HEAD") => {
            refused("plugin-nothing-offered", "this repository offers nothing: it has no commit on the branch that it names first")
                .help("name a branch, a tag or a commit behind @, where there is one; `git ls-remote` shows them")
        }
        _ if said.contains("find remote ref") => {
            refused("plugin-ref-unknown", format!("git: {said}")).help("`git ls-remote` shows which branches and tags there are")
        }
        _ => refused("plugin-git-failed", format!("git: {said}"))
            .help("`git ls-remote` on the same address must work without a question: credentials come from a helper or an agent"),
    }
}
