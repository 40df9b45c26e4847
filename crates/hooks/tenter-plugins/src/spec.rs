//! The source of a plugin as users write it: `ORG/REPO[@REF]`, a URL, or a path (R55).

use std::path::{Path, PathBuf};

use crate::name::PluginName;

/// The source and the name of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The name.
    pub name: PluginName,
    /// The source.
    pub source: Source,
    /// The branch, tag or commit; `None` means the repository's default branch.
    pub reference: Option<String>,
}

/// The source of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The URL of a git repository.
    Url(String),
    /// The absolute path of a local directory, which may be a repository.
    Path(PathBuf),
}

impl Source {
    /// Returns the source as the lock file and listings show it.
    pub fn as_text(&self) -> String {
        match self {
            Self::Url(url) => url.clone(),
            Self::Path(path) => path.to_string_lossy().into_owned(),
        }
    }
}

/// The accepted URL schemes. Others could make git run a program.
const SCHEMES: [&str; 5] = ["https", "http", "ssh", "git", "file"];

impl Spec {
    /// Parses a spec; relative paths start at `cwd`, an absolute path.
    ///
    /// # Errors
    /// The text names no source; the error says why.
    pub fn parse(text: &str, cwd: &Path) -> Result<Self, String> {
        if text.chars().any(char::is_control) {
            return Err("the source of a plugin cannot contain control characters".to_owned());
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            return parse_url(scheme, rest);
        }
        if is_path(text) {
            return parse_path(text, cwd);
        }
        if let Some((host, path)) = text.split_once(':').filter(|(host, _)| !host.contains('/')) {
            return parse_scp(host, path);
        }
        parse_forge(text)
    }

    /// Returns the spec of a plugin in the lock file. Anyone may have edited the lock file, so the same rules apply.
    ///
    /// # Errors
    /// Nothing can be fetched from the source; the error says why.
    pub fn recorded(
        name: PluginName,
        source: &str,
        reference: Option<&str>,
    ) -> Result<Self, String> {
        let reference = check_reference(reference)?;
        if source.starts_with('/') {
            return Ok(Self { name, source: Source::Path(source.into()), reference });
        }
        let spec = Self::parse(source, Path::new("/"))?;
        if spec.source.as_text() == source {
            Ok(Self { name, source: spec.source, reference })
        } else {
            Err(format!("{source:?} is not the address of a repository"))
        }
    }
}

fn is_path(text: &str) -> bool {
    ["/", "./", "../"].iter().any(|start| text.starts_with(start)) || [".", ".."].contains(&text)
}

fn parse_forge(text: &str) -> Result<Spec, String> {
    // `ORG@REPO` is the same name: a REF only follows a name with a slash.
    let is_name = text.split('@').next().is_some_and(|org| !org.contains('/'));
    let slashed = text.replacen('@', "/", usize::from(is_name));
    let text = slashed.as_str();
    let (place, reference) = match text.split_once('@') {
        Some((place, reference)) => (place, Some(reference)),
        None => (text, None),
    };
    let halves = place.split_once('/').filter(|(_, repo)| !repo.contains('/'));
    let (org, repo) = halves.ok_or_else(|| {
        format!("{text:?} is neither ORG/REPO nor a URL; a path begins with ./ or /")
    })?;
    let name = PluginName::new(org, repo)?;
    let source = Source::Url(format!("https://github.com/{org}/{}.git", name.repo()));
    Ok(Spec { name, source, reference: check_reference(reference)? })
}

fn parse_url(scheme: &str, rest: &str) -> Result<Spec, String> {
    if !SCHEMES.contains(&scheme) {
        return Err(format!("{scheme}:// is not supported; use one of {}", SCHEMES.join(", ")));
    }
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, place) = match host.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, host),
    };
    let is_secret = |user: &str| user.contains(':') || scheme.starts_with("http");
    if user.is_some_and(is_secret) {
        return Err(
            "the URL contains a user name or a password, and plugin.lock would show it to everyone; \
                    use a git credential helper instead"
                .to_owned(),
        );
    }
    // A password with a slash looks like the end of the host, so the message does not quote it.
    if host.starts_with('-') || !has_port_or_none(place) {
        return Err(format!("there is no valid host after {scheme}://"));
    }
    if scheme.starts_with("http") && path.contains('?') {
        return Err("the URL of a repository cannot contain a question mark".to_owned());
    }
    let (path, reference) = split_reference(path);
    let source = Source::Url(format!("{scheme}://{host}/{path}"));
    Ok(Spec { name: last_two(path)?, source, reference: check_reference(reference)? })
}

/// Returns true if the text after the colon of a host is a port, or there is no colon.
fn has_port_or_none(place: &str) -> bool {
    let is_bare_ipv6 = place.ends_with(']');
    let port = place.rsplit_once(':').filter(|_| !is_bare_ipv6).map_or("", |(_, port)| port);
    port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses `user@host:path`, the form of ssh.
fn parse_scp(host: &str, path: &str) -> Result<Spec, String> {
    let (path, reference) = split_reference(path);
    let is_plain = !host.is_empty() && !host.starts_with('-') && !path.starts_with([':', '-']);
    if !is_plain {
        return Err(format!("\"{host}:{path}\" is not the address of a repository"));
    }
    let source = Source::Url(format!("{host}:{path}"));
    Ok(Spec { name: last_two(path)?, source, reference: check_reference(reference)? })
}

fn parse_path(text: &str, cwd: &Path) -> Result<Spec, String> {
    let (path, reference) =
        if cwd.join(text).exists() { (text, None) } else { split_reference(text) };
    let directory = cwd.join(path);
    let real =
        directory.canonicalize().map_err(|error| format!("{}: {error}", directory.display()))?;
    let text = real.to_str().ok_or_else(|| format!("{} is not UTF-8", real.display()))?;
    let name = last_two(text)?;
    Ok(Spec { name, source: Source::Path(real), reference: check_reference(reference)? })
}

fn split_reference(path: &str) -> (&str, Option<&str>) {
    match path.rsplit_once('@') {
        Some((path, reference)) => (path, Some(reference)),
        None => (path, None),
    }
}

fn last_two(path: &str) -> Result<PluginName, String> {
    let mut parts = path.rsplit('/').filter(|part| !part.is_empty());
    match (parts.next(), parts.next()) {
        (Some(repo), Some(org)) => {
            let org = org.strip_prefix('~').unwrap_or(org);
            PluginName::new(org, repo)
                .map_err(|why| format!("the last two parts of {path:?} name the plugin, and {why}"))
        }
        // The message does not quote the path: it may contain a part of a password.
        _ => Err("the source has no two last parts that could name the plugin".to_owned()),
    }
}

/// Checks that git cannot read a reference as anything else, by git's rules for branch names.
fn check_reference(reference: Option<&str>) -> Result<Option<String>, String> {
    let Some(reference) = reference else { return Ok(None) };
    let is_bad = |c: char| c.is_whitespace() || "~^:?*[\\".contains(c);
    let is_name = !reference.is_empty()
        && !reference.starts_with(['-', '/', '+', '.'])
        && !reference.ends_with(['/', '.'])
        && !["..", "@{", "//", "/."].iter().any(|part| reference.contains(part))
        && !reference.chars().any(is_bad);
    if is_name {
        Ok(Some(reference.to_owned()))
    } else {
        Err(format!("{reference:?} is not a valid branch, tag or commit"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split_reference(text: &str) -> (String, String, Option<String>) {
        let spec = Spec::parse(text, Path::new("/")).unwrap();
        (spec.name.to_string(), spec.source.as_text(), spec.reference)
    }

    #[test]
    fn parses_every_form_of_a_source() {
        let table = [
            ("ada/guards", "ada/guards", "https://github.com/ada/guards.git", None),
            ("ada/guards@v1", "ada/guards", "https://github.com/ada/guards.git", Some("v1")),
            ("ada@guards", "ada/guards", "https://github.com/ada/guards.git", None),
            ("ada@guards@v1", "ada/guards", "https://github.com/ada/guards.git", Some("v1")),
            (
                "ada/guards@pkg@1.0",
                "ada/guards",
                "https://github.com/ada/guards.git",
                Some("pkg@1.0"),
            ),
            (
                "https://git.example/x/ada/guards.git",
                "ada/guards",
                "https://git.example/x/ada/guards.git",
                None,
            ),
            (
                "https://git.sr.ht/~ada/guards@a/b",
                "ada/guards",
                "https://git.sr.ht/~ada/guards",
                Some("a/b"),
            ),
            (
                "ssh://git@host:22/ada/guards@main",
                "ada/guards",
                "ssh://git@host:22/ada/guards",
                Some("main"),
            ),
            ("git@host:ada/guards.git@1f", "ada/guards", "git@host:ada/guards.git", Some("1f")),
            ("file:///srv/ada/guards", "ada/guards", "file:///srv/ada/guards", None),
        ];
        for (text, name, source, reference) in table {
            let expected = (name.to_owned(), source.to_owned(), reference.map(str::to_owned));
            assert_eq!(split_reference(text), expected);
        }
    }

    #[test]
    fn a_path_is_named_after_its_last_two_directories() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("ada/guards@home")).unwrap();
        std::fs::create_dir_all(base.join("ada/guards")).unwrap();
        let spec = Spec::parse("./ada/guards@v1", &base).unwrap();
        assert_eq!(
            (spec.name.to_string().as_str(), spec.reference.as_deref()),
            ("ada/guards", Some("v1"))
        );
        assert_eq!(spec.source, Source::Path(base.join("ada/guards")));
        assert!(
            Spec::parse("./ada/guards@home", &base).is_err(),
            "a directory of that name is not a valid name"
        );
        assert!(Spec::parse("./ada/missing", &base).is_err());
    }

    #[test]
    fn rejects_sources_that_could_run_a_program_or_are_ambiguous() {
        for text in [
            "",
            "ada",
            "a/b/c",
            "ext::sh -c x",
            "ext://x/y/z",
            "--upload-pack=x:a/b",
            "https://-x/a/b",
            "https://ada:secret@host/a/b",
            "https://token@host/a/b",
            "https://ada:sec/ret/x@host/a/b",
            "ssh://ada:sec/ret/x@host/a/b",
            "https://host/x?token=secret/a/b",
            "ada/guards@",
            "ada/guards@-x",
            "ada/guards@+x:y",
            "ada/guards@a..b",
            "ada/guards@a b",
            "ada/gu\nards",
            "https://host/x",
            "host:x",
        ] {
            assert!(Spec::parse(text, Path::new("/")).is_err(), "{text:?}");
        }
    }

    #[test]
    fn messages_contain_no_part_of_a_password() {
        for text in [
            "https://ada:secret@host/a/b",
            "https://ada:secret/x@host/a/b",
            "https://ada:x/secret@host/a/b",
            "HTTPS://ada:secret@host/a/b",
            "https://-:secret@host/a/b",
            "https://ada:secret\n@host/a/b",
            "https://host/a/b?token=secret",
            "ada:secret@host:a/b",
            "ada:secret@host/a/b",
        ] {
            let why = Spec::parse(text, Path::new("/")).unwrap_err();
            assert!(!why.contains("secret"), "{text:?}: {why}");
        }
    }

    #[test]
    fn a_host_may_have_a_port_and_be_a_number() {
        for text in ["https://host:8443/a/b", "http://[::1]:80/a/b", "ssh://git@[::1]/a/b"] {
            assert_eq!(split_reference(text).1, text);
        }
    }

    #[test]
    fn recorded_sources_follow_the_same_rules() {
        let spec = |source: &str, reference| {
            Spec::recorded(PluginName::parse("ada/guards").unwrap(), source, reference)
        };
        for source in ["https://github.com/ada/guards.git", "git@host:x/y.git", "/srv/x@y"] {
            assert_eq!(spec(source, Some("v1")).unwrap().source.as_text(), source);
        }
        for source in [
            "ext::sh -c x",
            "--upload-pack=x",
            "ada/guards",
            "./x",
            "https://a:b@host/x/y",
            "https://host/x/y@z",
        ] {
            assert!(spec(source, None).is_err(), "{source:?}");
        }
        assert!(spec("/srv/x", Some("--x")).is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics_and_no_source_is_an_option(text in "\\PC{0,30}") {
            if let Ok(spec) = Spec::parse(&text, Path::new("/")) {
                prop_assert!(!spec.source.as_text().starts_with('-'));
                prop_assert!(!spec.reference.unwrap_or_default().starts_with('-'));
            }
        }
    }
}
