/// The example: an answer that says that it is not tested is sent back, once.
fn answer(event: &str) -> Option<Answer> {
    if event.contains("\"stop_hook_active\": true") {
        return None;
    }
    let is_untested = text(event, "content")?.contains("not tested");
    is_untested.then_some(Answer::Blocks("Test it before you stop, or say why it cannot be tested."))
}
