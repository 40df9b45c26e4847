/// The example: subagents do not deploy.
fn answer(event: &str) -> Option<Answer> {
    let task = text(event, "task_description")?.to_lowercase();
    task.contains("deploy").then_some(Answer::Blocks("a subagent must not deploy; ask the user"))
}
