//! Landlock: which places may be written, and which processes may be reached (F6).

use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd,
    Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError,
    RulesetStatus, Scope,
};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};

/// The ABI below which nothing about writing is promised: truncation and renaming are not covered.
pub(crate) const MIN_ABI: u8 = 3;
/// The ABI that covers signals and abstract sockets.
pub(crate) const SCOPE_ABI: u8 = 6;
/// The ABI that covers Unix sockets with paths.
pub(crate) const SERVICE_ABI: u8 = 9;
/// The newest ABI that is used.
pub(crate) const MAX_ABI: u8 = 9;

/// Devices that every command may write.
const DEVICES: [&str; 8] = *tenter_base::words!(
    "/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/ptmx /dev/pts"
);

/// Returns the ABI of this kernel, at most `cap`; 0 without Landlock.
pub(crate) fn abi(cap: u8) -> u8 {
    let is_supported = |abi: &u8| {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let ruleset = match abi {
            1 => ruleset.handle_access(AccessFs::MakeBlock),
            2 => ruleset.handle_access(AccessFs::Refer),
            3 => ruleset.handle_access(AccessFs::Truncate),
            5 => ruleset.handle_access(AccessFs::IoctlDev),
            6 => ruleset.scope(Scope::Signal),
            9 => ruleset.handle_access(AccessFs::ResolveUnix),
            _ => return false,
        };
        ruleset.and_then(Ruleset::create).is_ok()
    };
    (1..=cap.min(MAX_ABI)).rev().find(is_supported).unwrap_or(0)
}

/// Restricts this process to writing in `layers`, each of which must allow a write, and to its own processes.
///
/// # Errors
/// The kernel refused a layer.
pub(crate) fn restrict(layers: &[Vec<PathBuf>], abi: u8) -> Result<(), String> {
    let level = ABI::from(i32::from(abi));
    let mut scope = (abi >= SCOPE_ABI).then(|| Scope::from_all(level));
    let mut create = |access: BitFlags<AccessFs>| {
        let ruleset = Ruleset::default().handle_access(access)?;
        match scope.take() {
            Some(scope) => ruleset.scope(scope)?.create(),
            None => ruleset.create(),
        }
    };
    // A layer without rights still forbids mounts and access to other processes.
    if layers.is_empty() {
        return enforce(create(AccessFs::MakeBlock.into()));
    }
    for places in layers {
        let access = AccessFs::from_write(level);
        let ruleset = create(access).and_then(|ruleset| allow(ruleset, places, level));
        enforce(ruleset)?;
    }
    Ok(())
}

fn enforce(ruleset: Result<RulesetCreated, RulesetError>) -> Result<(), String> {
    let status =
        ruleset.and_then(RulesetCreated::restrict_self).map_err(|error| error.to_string())?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(()),
        _ => Err("Landlock did not enforce every right".to_owned()),
    }
}

fn allow(
    mut ruleset: RulesetCreated,
    places: &[PathBuf],
    abi: ABI,
) -> Result<RulesetCreated, RulesetError> {
    let all = AccessFs::from_write(abi);
    let file = all & AccessFs::from_file(abi);
    let device = file & (AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev);
    let devices = DEVICES.iter().map(|path| (Path::new(path), device));
    let places = places.iter().map(|path| (path.as_path(), if path.is_dir() { all } else { file }));
    for (path, access) in places.chain(devices) {
        // A place that disappeared allows nothing.
        let Ok(descriptor) = PathFd::new(path) else { continue };
        ruleset = ruleset.add_rule(PathBeneath::new(descriptor, access))?;
    }
    let output = file & (AccessFs::WriteFile | AccessFs::Truncate);
    let (stdout, stderr) = (io::stdout(), io::stderr());
    for descriptor in [stdout.as_fd(), stderr.as_fd()] {
        // A command may open its own output again, as /dev/stdout.
        if is_written_file(&descriptor) {
            ruleset = ruleset.add_rule(PathBeneath::new(descriptor, output))?;
        }
    }
    Ok(ruleset)
}

fn is_written_file(descriptor: &impl AsFd) -> bool {
    let is_file = fstat(descriptor)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
    let is_written =
        || fcntl_getfl(descriptor).is_ok_and(|flags| flags & OFlags::ACCMODE != OFlags::RDONLY);
    is_file && is_written()
}
