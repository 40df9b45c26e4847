/// The example: an answer that gave up is pointed out.
fn answer(event: &str) -> Option<Answer> {
    let gave_up = text(event, "response")?.contains("I could not");
    gave_up.then_some(Answer::Blocks("You gave up. Say what you tried, and what would help."))
}
