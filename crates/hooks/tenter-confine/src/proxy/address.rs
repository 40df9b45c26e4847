//! Addresses that no name may lead to: this machine, private networks, and the metadata services of clouds.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// A metadata service with a public address.
const METADATA: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// Returns true if the address is not one of the public network, or is this machine's.
pub(super) fn is_internal(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_internal_v4(address) || is_own(address.into()),
        IpAddr::V6(address) => is_internal_v6(address) || is_own(address.into()),
    }
}

fn is_internal_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_shared = a == 100 && (64..128).contains(&b);
    let is_benchmark = a == 198 && (18..20).contains(&b);
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address == METADATA
        || a == 0
        || a >= 224
        || (a, b, c) == (192, 0, 0)
        || is_shared
        || is_benchmark
}

fn is_internal_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let last = u32::from(segments[6]) << 16 | u32::from(segments[7]);
    let second = u32::from(segments[1]) << 16 | u32::from(segments[2]);
    match segments {
        // Translated to the address of IPv4 in it.
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => is_internal_v4(Ipv4Addr::from_bits(last)),
        // Loopback and unspecified addresses, and others that contain one of IPv4.
        [0, 0, 0, 0, 0, 0, ..] | [0x64, 0xff9b, ..] | [0x2001, 0, ..] => true,
        [0x2002, ..] => is_internal_v4(Ipv4Addr::from_bits(second)),
        // Unique local, link-local, site-local and multicast addresses.
        [first, ..] => first & 0xfe00 == 0xfc00 || first & 0xff80 == 0xfe80 || first >= 0xff00,
    }
}

/// Returns true if an interface of this machine has the address: only such an address can be bound.
fn is_own(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_private_and_metadata_addresses_are_internal() {
        for (address, expected) in [
            ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("0.0.0.0", true),
            ("10.0.0.5", true),
            ("172.16.0.1", true),
            ("192.168.1.1", true),
            ("169.254.169.254", true),
            ("168.63.129.16", true),
            ("100.100.100.200", true),
            ("192.0.0.192", true),
            ("224.0.0.1", true),
            ("255.255.255.255", true),
            ("::1", true),
            ("::", true),
            ("::ffff:127.0.0.1", true),
            ("::127.0.0.1", true),
            ("64:ff9b::a9fe:a9fe", true),
            ("64:ff9b::808:808", false),
            ("2002:7f00:1::", true),
            ("fd00:ec2::254", true),
            ("fe80::1", true),
            ("fec0::1", true),
            ("ff02::1", true),
            ("2001:0:1::1", true),
            ("8.8.8.8", false),
            ("140.82.121.4", false),
            ("::ffff:8.8.8.8", false),
            ("2606:4700::1111", false),
        ] {
            assert_eq!(is_internal(address.parse().unwrap()), expected, "{address}");
        }
    }
}
