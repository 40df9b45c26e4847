def answer(event):
    """The example: subagents do not deploy."""
    if re.search("[Dd]eploy", event["task_description"]):
        block("a subagent must not deploy; ask the user")
    return None
