//! Any answer to `hook` is a list of events, each of them once, or the line that is none.
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
