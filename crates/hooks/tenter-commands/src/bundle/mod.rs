//! `tenter bundle`: signed hooks for the managed layer of many machines (M2).

mod configured;
mod pack;
mod report;
mod sign;
mod transport;
mod unit;
mod update;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use tenter_base::visible;
use tenter_plugins::bundle::{KeyRing, MAX_PACKAGE, Package, PinnedKey};
use tenter_proc::Cancel;
use tenter_protocol::Diagnostic;
use tenter_terminal::{CommandResult, Env, Exit, Failure, GOOD, now, styled, ui};

use crate::{Deferred, user_only};
use configured::ConfiguredBundle;

pub(crate) use report::examine;

/// Pack, sign, verify, install and update signed bundles of managed hooks.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Pack the hooks of a plugin into one file.
    #[command(disable_version_flag = true)]
    Pack(Deferred<pack::Args>),
    /// Sign a bundle with a key of minisign or SSH.
    Sign(Deferred<sign::Args>),
    /// Verify the signature and the files of a bundle.
    Verify(Deferred<VerifyBundleArgs>),
    /// Install a bundle from a file.
    Install(Deferred<InstallArgs>),
    /// Install newer bundles from where the managed settings say.
    Update(Deferred<update::Args>),
    /// Show the bundles of this machine, and their keys.
    Status(Deferred<report::Args>),
    /// Print units of systemd that update bundles.
    Unit(Deferred<unit::Args>),
}

/// The arguments of `bundle verify`.
#[derive(Debug, clap::Args)]
pub struct VerifyBundleArgs {
    /// The bundle.
    file: PathBuf,
    /// A public key, or its file, instead of the pinned ones. Repeatable.
    #[arg(long = "key", value_name = "KEY")]
    keys: Vec<String>,
}

/// The arguments of `bundle install`.
#[derive(Debug, clap::Args)]
pub struct InstallArgs {
    /// The bundle.
    file: PathBuf,
}

/// Runs the command.
pub fn run(env: &Env, command: &Command) -> CommandResult {
    match command {
        Command::Pack(args) => pack::run(env, args),
        Command::Sign(args) => sign::run(env, args),
        Command::Verify(args) => verify(env, args),
        Command::Install(args) => {
            check_user(env, "bundle install")?;
            install(env, args)
        }
        Command::Update(args) => {
            check_user(env, "bundle update")?;
            update::run(env, args)
        }
        Command::Status(args) => Ok(report::run(env, args)),
        Command::Unit(args) => Ok(unit::run(args)),
    }
}

/// Bundles change the hooks of all users, which an agent must not do.
fn check_user(env: &Env, name: &str) -> Result<(), Failure> {
    user_only::check(env, env.directories().managed.path(), name)
}

fn verify(env: &Env, args: &VerifyBundleArgs) -> CommandResult {
    let package = read_package(&env.cwd.join(&args.file))?;
    let name = claimed_name(&package);
    let keys = if args.keys.is_empty() {
        configured(env, &name)?.keys
    } else {
        args.keys.iter().map(|text| read_key(env, text)).collect::<Result<_, _>>()?
    };
    let bundle = with_ring(env, &keys, |ring| package.verify(&name, ring)?.open())?;
    let manifest = &bundle.manifest;
    ui::out(format!(
        "{}: {} {} with {}, expires {}",
        styled(GOOD, "Valid"),
        manifest.name,
        manifest.version,
        report::files(manifest),
        report::day(manifest.expires()),
    ));
    Ok(Exit::Done)
}

fn install(env: &Env, args: &InstallArgs) -> CommandResult {
    let package = read_package(&env.cwd.join(&args.file))?;
    let entry = configured(env, &claimed_name(&package))?;
    let managed = env.directories().managed;
    let installation = with_ring(env, &entry.keys, |ring| {
        let bundle = package.verify(&entry.name, ring)?.open()?;
        let installation = entry.store(&managed)?.install(&bundle, ring, now())?;
        Ok((bundle.manifest, installation))
    });
    let (manifest, installation) = installation.map_err(|finding| {
        let current = entry.store(&managed).ok().and_then(|store| store.manifest());
        update::refusal(&entry.name, current.as_ref(), finding)
    })?;
    report::installed(&manifest, installation);
    Ok(Exit::Done)
}

/// Returns the bundle with this name in the managed settings.
fn configured(env: &Env, name: &str) -> Result<ConfiguredBundle, Failure> {
    let mut bundles = ConfiguredBundle::all(env)?.into_iter();
    let bundle = bundles.find_map(|bundle| bundle.ok().filter(|bundle| bundle.name == name));
    bundle.ok_or_else(|| {
        let file = env.directories().managed.config_file();
        Failure::new(format!("no key is pinned for the bundle {}", visible(name))).help(format!(
            "add to {}: [[managed.bundle]], name = \"NAME\", keys = [\"PUBLIC KEY\"], and its url, git or directory",
            file.display()
        ))
    })
}

fn claimed_name(package: &Package) -> String {
    package.claimed_name().unwrap_or_default()
}

/// Calls `check` with these keys.
fn with_ring<T>(
    env: &Env,
    keys: &[PinnedKey],
    check: impl FnOnce(&KeyRing) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    let scratch = tempfile::tempdir().map_err(|error| {
        let message = format!("cannot create a temporary directory: {error}");
        Diagnostic::new("bundle-failed", tenter_protocol::Severity::Error, message)
    })?;
    let cancel = Cancel::new();
    check(&KeyRing { keys, env: &env.vars, scratch: scratch.path(), cancel: &cancel })
}

fn read_package(file: &Path) -> Result<Package, Failure> {
    Ok(Package::read(&read_file(file)?)?)
}

/// Reads a file that is not larger than a package may be.
fn read_file(file: &Path) -> Result<Vec<u8>, Diagnostic> {
    let failure = |why: String| {
        let id = tenter_plugins::bundle::TEMPORARY;
        let message = format!("cannot read {}: {why}", file.display());
        Diagnostic::new(id, tenter_protocol::Severity::Error, message)
    };
    let result = tenter_base::untrusted_file::open(file);
    let input = result.map_err(|error| failure(error.to_string()))?;
    let mut bytes = Vec::new();
    let most = MAX_PACKAGE as u64 + 1;
    let result = input.take(most).read_to_end(&mut bytes);
    result.map_err(|error| failure(error.to_string()))?;
    if bytes.len() > MAX_PACKAGE {
        return Err(failure("it is larger than a bundle may be".to_owned()));
    }
    Ok(bytes)
}

/// Parses a key, or the file that has it.
fn read_key(env: &Env, text: &str) -> Result<PinnedKey, Failure> {
    let file = fs::read_to_string(env.cwd.join(text));
    PinnedKey::parse(file.as_deref().unwrap_or(text)).map_err(Failure::usage)
}
