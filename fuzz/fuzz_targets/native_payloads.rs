//! Any bytes are read as the payload of any event of any agent, or rejected with a reason: no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_bridge::hosts;
use tenter_bridge::payload::Payload;

fuzz_target!(|bytes: &[u8]| {
    let Ok(payload) = Payload::parse(bytes) else { return };
    for host in hosts::ALL {
        for event in host.events {
            if let Err(reason) = (host.read)(event, &payload) {
                assert!(!reason.to_string().is_empty());
            }
        }
    }
});
