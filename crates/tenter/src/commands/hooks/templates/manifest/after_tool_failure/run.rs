/// The example: a file that is not there is looked for.
fn answer(event: &str) -> Option<Answer> {
    let context = quoted("List the folder first, and use a name that is there.");
    let is_missing = event.contains("No such file or directory");
    is_missing.then(|| Answer::Says(format!("{{\"additional_context\": {context}}}")))
}
