/// The example: a subagent that says nothing has done nothing.
fn answer(event: &str) -> Option<Answer> {
    let says_nothing = text(event, "response")?.is_empty();
    says_nothing.then_some(Answer::Blocks("The subagent said nothing. Do its task yourself."))
}
