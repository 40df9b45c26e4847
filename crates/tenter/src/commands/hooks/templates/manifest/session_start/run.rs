/// The example: where one query is answered and nobody can be asked, the model is told not to ask.
fn answer(event: &str) -> Option<Answer> {
    let context = quoted("Nobody can answer questions: decide, and say what you decided.");
    let is_run = text(event, "ui")? == "run";
    is_run.then(|| Answer::Says(format!("{{\"additional_context\": {context}}}")))
}
