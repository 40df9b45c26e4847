//! The certificate authorities that are trusted for a server: the file that the user's configuration names for the
//! provider, otherwise `SSL_CERT_FILE`, otherwise Mozilla's. A file replaces Mozilla's authorities, as in other programs.
//! A project cannot change this: a trusted server reads the key.

use std::path::{Path, PathBuf};

use tenter_http::Authorities;
use tenter_terminal::{Env, Failure};

/// A provider, and the file of authorities that the configuration names for it.
#[derive(Clone, Copy)]
pub struct ProviderFile<'p> {
    /// The provider's name.
    pub name: &'p str,
    /// The file, relative to the directory of `config.toml`.
    pub ca_file: Option<&'p Path>,
}

/// The trusted authorities, with the help for a certificate that none of them signed.
pub struct TrustedAuthorities {
    /// The authorities; `None` for Mozilla's.
    pub authorities: Option<Authorities>,
    /// The help for a certificate that none of them signed.
    pub help: String,
}

/// Returns the authorities for the provider's server and its proxy. Without encryption, no file is read.
pub fn trust(
    provider: ProviderFile<'_>,
    address: &str,
    proxy: Option<&str>,
    env: &Env,
) -> Result<TrustedAuthorities, Failure> {
    let is_encrypted = [Some(address), proxy]
        .into_iter()
        .flatten()
        .any(|url| url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://")));
    let Some((file, setting)) = file(provider, env).filter(|_| is_encrypted) else {
        return Ok(TrustedAuthorities { authorities: None, help: usual(provider, env) });
    };
    read(&file, &setting)
}

/// Returns the authorities for servers that are not models.
pub fn from_environment(env: &Env) -> Result<TrustedAuthorities, Failure> {
    match read_variable(env) {
        Some((file, setting)) => read(&file, &setting),
        None => Ok(TrustedAuthorities {
            authorities: None,
            help: "a company's proxy, or a server of your own? Name a PEM file of the authorities to trust in SSL_CERT_FILE"
                .to_owned(),
        }),
    }
}

/// Returns the authorities in the file that `setting` names.
fn read(file: &Path, setting: &str) -> Result<TrustedAuthorities, Failure> {
    let path = file.display();
    let unusable = |problem: String| {
        Failure::new(format!("the certificates of {setting} cannot be used: {path} {problem}")).help(
            "it must be a PEM file of the authorities to trust; without it, Mozilla's authorities are trusted",
        )
    };
    let pem = std::fs::read(file).map_err(|error| unusable(format!("cannot be read: {error}")))?;
    Ok(TrustedAuthorities {
        authorities: Some(Authorities::from_pem(&pem).map_err(unusable)?),
        help: format!(
            "{setting} limits trust to the authorities in {path}: add the one that signed"
        ),
    })
}

/// Returns the file, and the setting that names it.
fn file(provider: ProviderFile<'_>, env: &Env) -> Option<(PathBuf, String)> {
    if let Some(file) = provider.ca_file {
        let config = env.config_file();
        let file =
            config.parent().map_or_else(|| file.to_owned(), |directory| directory.join(file));
        return Some((file, format!("`ca_file` under [providers.{}]", provider.name)));
    }
    read_variable(env)
}

fn read_variable(env: &Env) -> Option<(PathBuf, String)> {
    Some((env.cwd.join(env.var("SSL_CERT_FILE")?), "SSL_CERT_FILE".to_owned()))
}

fn usual(provider: ProviderFile<'_>, env: &Env) -> String {
    format!(
        "a company's proxy, or a server of your own? Name a PEM file of the authorities to trust, in SSL_CERT_FILE or as \
         `ca_file` under [providers.{}] in {}; see `tenter help models`",
        provider.name,
        env.config_file().display()
    )
}
