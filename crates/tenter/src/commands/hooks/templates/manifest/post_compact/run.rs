/// The example: a summary that saves less than half is recorded.
fn answer(event: &str) -> Option<Answer> {
    let before = number(event, "tokens_before")?;
    let after = number(event, "tokens_after")?;
    (after * 2 > before).then(|| Answer::Says("{\"log\": \"the summary saved less than half\"}".to_owned()))
}
