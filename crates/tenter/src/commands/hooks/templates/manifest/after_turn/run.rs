/// The example: where the context is nearly full, the model is told to come to an end.
fn answer(event: &str) -> Option<Answer> {
    let used = number(event, "current_context_window")?;
    let most = number(event, "max_context_window")?;
    let context = quoted("The context is nearly full. Finish what you are at, and say what is left to do.");
    let is_nearly_full = most > 0 && used * 100 / most >= 90;
    is_nearly_full.then(|| Answer::Says(format!("{{\"additional_context\": {context}}}")))
}
