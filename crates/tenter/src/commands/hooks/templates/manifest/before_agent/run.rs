/// The example: private keys do not go to the model.
fn answer(event: &str) -> Option<Answer> {
    let holds_key = text(event, "prompt")?.contains("PRIVATE KEY-----");
    holds_key.then_some(Answer::Blocks("the message holds a private key"))
}
