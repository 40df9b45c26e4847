/// The example: an error is recorded.
fn answer(event: &str) -> Option<Answer> {
    let is_error = text(event, "exit_reason")? == "error";
    is_error.then(|| Answer::Says("{\"log\": \"the session ended by an error\"}".to_owned()))
}
