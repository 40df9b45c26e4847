//! `tenter bundle sign`: signs with the programs `minisign` and `ssh-keygen`, which ask for the password of a key.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tenter_base::replace_file;
use tenter_plugins::bundle::{SSH_NAMESPACE, is_minisign_key};
use tenter_proc::{Cancel, Invocation, ProcessEnd};
use tenter_terminal::signals::Interrupts;
use tenter_terminal::{CommandResult, Env, Exit, Failure, ui};

use super::read_package;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The bundle, as `tenter bundle pack` wrote it.
    file: PathBuf,
    /// The secret key of minisign or SSH; for a key in an SSH agent, its public key.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> CommandResult {
    let file = env.cwd.join(&args.file);
    let package = read_package(&file)?;
    let manifest = package.check_files()?;
    let key = env.cwd.join(&args.key);
    let signature = signature(env, &key, package.signed_text())?;
    let package = package.with_signature(signature);
    let result = replace_file::replace_with_mode(&file, &package.bytes(), Some(0o644));
    result.map_err(|error| Failure::new(format!("cannot write {}: {error}", file.display())))?;
    ui::note(format!("Signed {} {}.", manifest.name, manifest.version));
    Ok(Exit::Done)
}

/// Lets the key's program sign a text.
fn signature(env: &Env, key: &Path, text: &[u8]) -> Result<String, Failure> {
    let unreadable =
        |error: io::Error| Failure::new(format!("cannot read {}: {error}", key.display()));
    let is_minisign = is_minisign_key(&fs::read_to_string(key).map_err(unreadable)?);
    let scratch = tempfile::tempdir().map_err(Failure::caused_by)?;
    let file = scratch.path().join("manifest");
    // `ssh-keygen` chooses this name.
    let signature = scratch.path().join("manifest.sig");
    fs::write(&file, text).map_err(Failure::caused_by)?;
    let (program, args): (&str, Vec<OsString>) = if is_minisign {
        let options = ["-S".into(), "-s".into(), key.into(), "-x".into(), signature.clone().into()];
        ("minisign", [&options[..], &["-m".into(), file.into()]].concat())
    } else {
        let options = ["-q", "-Y", "sign", "-n", SSH_NAMESPACE, "-f"].map(OsString::from);
        ("ssh-keygen", [&options[..], &[key.into(), file.into()]].concat())
    };
    run_program(env, program, args)?;
    fs::read_to_string(&signature)
        .map_err(|error| Failure::new(format!("{program} wrote no signature: {error}")))
}

fn run_program(env: &Env, program: &str, args: Vec<OsString>) -> Result<(), Failure> {
    let invocation = Invocation {
        program: program.into(),
        args,
        cwd: env.cwd.clone(),
        env: env.vars.clone(),
        ..Invocation::default()
    };
    let interrupts = Interrupts::catch(&Cancel::new())?;
    // The program asks for the password itself.
    match interrupts.while_away(|| tenter_proc::interactive(&invocation)) {
        ProcessEnd::Exited(0) => Ok(()),
        ProcessEnd::NotStarted(error) => {
            Err(Failure::new(format!("cannot start {program}, which signs with this key: {error}"))
                .help("install it, or sign with a key of the other kind"))
        }
        _ => Err(Failure::new(format!("{program} did not sign; its message is above"))),
    }
}
