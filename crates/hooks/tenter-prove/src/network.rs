//! No network but loopback: a network namespace of its own, where the system lets users have one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, sendto, socket};
use tenter_base::search_path;
use tenter_proc::{Cancel, Invocation, Streams};

/// The program that makes namespaces.
const UNSHARE: &str = "unshare";

/// Its options: for root, and for another user, who becomes root in a user namespace.
const OPTIONS: [&[&str]; 2] = [&["--net"], &["--user", "--map-root-user", "--net"]];
/// The option that gives the program mounts of its own.
const MOUNTS: &str = "--mount";

/// Returns whether this process has no network interface but loopback.
pub fn is_isolated() -> bool {
    let Ok(interfaces) = fs::read_to_string("/proc/self/net/dev") else { return false };
    let names = interfaces.lines().filter_map(|line| Some(line.split_once(':')?.0.trim()));
    names.clone().count() > 0 && names.into_iter().all(|name| name == "lo")
}

/// Returns the program and the first arguments that start another program without a network but loopback, and with mounts of its own if
/// `own_mounts`; `None` where the system does not permit it.
pub fn isolating_command(
    environment: &[(OsString, OsString)],
    cwd: &Path,
    own_mounts: bool,
) -> Option<(PathBuf, Vec<OsString>)> {
    let unshare = search_path::program(UNSHARE, environment)?;
    let options = OPTIONS.map(|options| {
        let mounts = own_mounts.then_some(MOUNTS);
        options.iter().copied().chain(mounts).map(OsString::from).collect::<Vec<_>>()
    });
    let works = |options: &Vec<OsString>| {
        let options = options.iter().cloned().chain(["true".into()]);
        let invocation = Invocation {
            program: unshare.clone(),
            args: options.collect(),
            cwd: cwd.to_owned(),
            env: environment.to_vec(),
            streams: Streams::Merged,
            ..Invocation::default()
        };
        tenter_proc::run(&invocation, &Cancel::new()).end.is_success()
    };
    let options = options.into_iter().find(works)?;
    Some((unshare, options))
}

/// Turns the loopback interface of a new network namespace on.
///
/// # Errors
/// The system does not permit it.
pub fn turn_loopback_on() -> io::Result<()> {
    let socket = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    sendto(&socket, &set_up_request(), SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0; 512];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    match error_number(&answer[..length]) {
        Some(0) => Ok(()),
        Some(number) => Err(io::Error::from_raw_os_error(number)),
        None => Err(io::Error::other("the kernel gave no answer")),
    }
}

/// The kernel's request to set a link's flags, with an acknowledgement.
const RTM_NEWLINK: u16 = 16;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
/// An answer with an error number, 0 without an error.
const NLMSG_ERROR: u16 = 2;
/// The index of loopback in every network namespace, and the flag of a link that is on.
const LOOPBACK: i32 = 1;
const IFF_UP: u32 = 1;

/// Returns a message of a header (length, type, flags, number, port) and a link (family and type, index, flags, changed flags).
fn set_up_request() -> Vec<u8> {
    let mut link = vec![0; 4];
    link.extend(LOOPBACK.to_ne_bytes());
    link.extend(IFF_UP.to_ne_bytes());
    link.extend(IFF_UP.to_ne_bytes());
    let mut message = Vec::new();
    message.extend(32_u32.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend((NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
    message.extend([0; 8]);
    message.extend(link);
    message
}

/// Returns the error number in an answer.
fn error_number(answer: &[u8]) -> Option<i32> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let number = i32::from_ne_bytes(answer.get(16..20)?.try_into().ok()?);
    (kind == NLMSG_ERROR).then_some(-number)
}
