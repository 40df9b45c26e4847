//! Any output of `hook` is a list of events without duplicates, or an error that names the invalid line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_protocol::executable::subscriptions;

fuzz_target!(|output: &str| {
    if let Ok(list) = subscriptions(output) {
        assert!(!list.is_empty());
        for (index, subscription) in list.iter().enumerate() {
            assert!(subscription.event.lifecycle().executable.contains(&subscription.spelling));
            assert!(list[..index].iter().all(|earlier| earlier.event != subscription.event));
        }
    }
});
