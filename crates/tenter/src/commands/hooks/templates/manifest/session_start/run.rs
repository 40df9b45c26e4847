/// The example: where nobody sits at a terminal, the model is told not to ask.
fn answer(event: &str) -> Option<Answer> {
    let context = quoted("Nobody can answer questions: decide, and say what you decided.");
    let is_headless = text(event, "ui")? == "headless";
    is_headless.then(|| Answer::Says(format!("{{\"additional_context\": {context}}}")))
}
