def answer(event):
    """The example: a summary that saves less than half is recorded."""
    if event.get("tokens_after", 0) * 2 > event["tokens_before"]:
        return {"log": "the summary saved less than half"}
    return None
