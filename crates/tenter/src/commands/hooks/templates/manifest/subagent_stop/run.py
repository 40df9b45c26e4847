def answer(event):
    """The example: a subagent that says nothing has done nothing."""
    if not event["response"]:
        block("The subagent said nothing. Do its task yourself.")
    return None
