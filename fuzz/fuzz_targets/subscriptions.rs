//! Any output of `hook` is a list of events without duplicates, or an error that names the invalid line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_protocol::executable::subscriptions;

fuzz_target!(|printed: &str| {
    if let Ok(found) = subscriptions(printed) {
        assert!(!found.is_empty());
        for (index, subscription) in found.iter().enumerate() {
            assert!(subscription.event.lifecycle().executable.contains(&subscription.spelling));
            assert!(found[..index].iter().all(|earlier| earlier.event != subscription.event));
        }
    }
});
