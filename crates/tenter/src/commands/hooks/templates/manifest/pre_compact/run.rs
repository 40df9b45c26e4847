/// The example: a summary that nobody asked for keeps what was decided.
fn answer(event: &str) -> Option<Answer> {
    let context = quoted("Keep every decision and the names of all changed files.");
    let is_auto = text(event, "trigger")? == "auto";
    is_auto.then(|| Answer::Says(format!("{{\"additional_context\": {context}}}")))
}
