//! The network: seccomp refuses sockets, and a network namespace has only a loopback interface.

use std::collections::BTreeMap;

use nix::libc;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socket_with};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

/// The bit of the system calls of the x32 ABI, which a filter for x86-64 sees, too.
#[cfg(target_arch = "x86_64")]
const X32_BIT: i64 = 0x4000_0000;

/// The families of sockets that a network namespace confines: Unix, IPv4 and IPv6.
pub(crate) const NAMESPACED: [i32; 3] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6];
/// Unix sockets.
pub(crate) const UNIX: [i32; 1] = [libc::AF_UNIX];

/// Refuses every socket of another family, and io_uring, which opens sockets without a system call for each.
///
/// # Errors
/// The kernel refused the filter.
pub(crate) fn refuse_sockets_except(families: &[i32]) -> Result<(), String> {
    filter(families).and_then(|filter| apply_filter(&filter)).map_err(|error| error.to_string())
}

fn filter(families: &[i32]) -> Result<BpfProgram, seccompiler::Error> {
    let not = |argument: u8, value: i32| {
        let value = u64::from(value.unsigned_abs());
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
    };
    let is = |argument: u8, value: i32| {
        let value = u64::from(value.unsigned_abs());
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
    };
    // Netlink's routing family only tells which interfaces there are.
    let all_families = families.iter().chain([&libc::AF_NETLINK]);
    let sockets = vec![
        SeccompRule::new(all_families.map(|family| not(0, *family)).collect::<Result<_, _>>()?)?,
        SeccompRule::new(vec![is(0, libc::AF_NETLINK)?, not(2, libc::NETLINK_ROUTE)?])?,
    ];
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for number in numbers(libc::SYS_socket) {
        rules.insert(number, sockets.clone());
    }
    for number in numbers(libc::SYS_io_uring_setup) {
        rules.insert(number, Vec::new());
    }
    let action = SeccompAction::Errno(libc::EACCES.unsigned_abs());
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?.try_into()?)
}

#[cfg(target_arch = "x86_64")]
fn numbers(call: i64) -> impl Iterator<Item = i64> {
    [call, call | X32_BIT].into_iter()
}

#[cfg(not(target_arch = "x86_64"))]
fn numbers(call: i64) -> impl Iterator<Item = i64> {
    std::iter::once(call)
}

/// Starts the loopback interface of this process's network namespace.
///
/// # Errors
/// It cannot be started.
pub(crate) fn start_loopback() -> Result<(), String> {
    let flags = SocketFlags::CLOEXEC;
    let failure = |error: rustix::io::Errno| format!("no loopback interface ({error})");
    // The default protocol is the one for routes.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None);
    send(&socket.map_err(failure)?, &loopback_up(), SendFlags::empty()).map_err(failure)?;
    Ok(())
}

/// Returns the netlink message that starts the interface with the index 1: a `nlmsghdr` and an `ifinfomsg`.
fn loopback_up() -> [u8; 32] {
    const LENGTH: u32 = 32;
    const NEW_LINK: u16 = 16;
    const REQUEST: u16 = 1;
    const UP: u32 = 1;
    let mut message = [0; 32];
    message[0..4].copy_from_slice(&LENGTH.to_ne_bytes());
    message[4..6].copy_from_slice(&NEW_LINK.to_ne_bytes());
    message[6..8].copy_from_slice(&REQUEST.to_ne_bytes());
    message[20..24].copy_from_slice(&1_i32.to_ne_bytes());
    message[24..28].copy_from_slice(&UP.to_ne_bytes());
    message[28..32].copy_from_slice(&UP.to_ne_bytes());
    message
}

/// Returns true if this process cannot open network sockets at all, for example in a confinement around this one.
pub(crate) fn is_refused() -> bool {
    socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None).is_err()
}
