//! Ids for conversations.

use jiff::Timestamp;
use uuid::{NoContext, Uuid};

/// Returns a new id: a version 7 UUID, so that ids sort by their creation time `now`.
pub fn new_conversation_id(now: Timestamp) -> String {
    let seconds = u64::try_from(now.as_second()).unwrap_or(0);
    let nanoseconds = u32::try_from(now.subsec_nanosecond()).unwrap_or(0);
    Uuid::new_v7(uuid::Timestamp::from_unix(NoContext, seconds, nanoseconds)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_never_repeat() {
        let at =
            |millisecond| new_conversation_id(Timestamp::from_millisecond(millisecond).unwrap());
        assert!(at(1_700_000_000_000) < at(1_700_000_000_001));
        assert_ne!(at(1_700_000_000_000), at(1_700_000_000_000));
        assert_eq!(at(-1).len(), 36, "a clock before 1970 is no reason to fail");
    }
}
