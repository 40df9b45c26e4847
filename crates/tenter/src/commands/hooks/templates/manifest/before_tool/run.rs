/// The example: no command may delete everything.
fn answer(event: &str) -> Option<Answer> {
    let command = text(event, "command")?;
    let words: Vec<&str> = command.split_whitespace().collect();
    let has = |any: &[&str]| words.iter().any(|word| any.contains(word));
    let deletes_all = has(&["rm"]) && has(&["-rf", "-fr"]) && has(&["/", "/*", "~"]);
    deletes_all.then_some(Answer::Blocks("this would delete everything; name the folder that you mean"))
}
