//! Any output of a hook is parsed as a reply or rejected with a reason, at every event and in both protocols.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_protocol::lifecycle::TABLE;
use tenter_protocol::{executable, manifest};

fuzz_target!(|stdout: &[u8]| {
    for row in &TABLE {
        let _ = executable::parse_reply(row.event, stdout);
        let _ = manifest::parse_reply(row.event, stdout);
    }
});
