//! Any bytes are one message of a runtime hook or rejected with a reason: no panic, and a message survives being written and read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_protocol::runtime::{Initialized, RuntimeMessage, ServiceCall, read_line};

fuzz_target!(|bytes: &[u8]| {
    let Ok(Some(message)) = read_line(bytes) else { return };
    let line = message.to_line();
    assert_eq!(line.matches('\n').count(), 1);
    assert_eq!(read_line(line.as_bytes()), Ok(Some(message.clone())));
    match message {
        RuntimeMessage::Request(request) => {
            let _ = ServiceCall::read(&request.method, request.params.as_ref());
        }
        RuntimeMessage::Response(response) => {
            if let Ok(result) = &response.result {
                let _ = Initialized::read(result);
            }
        }
        RuntimeMessage::Notification(_) => {}
    }
});
