def answer(event):
    """The example: an error is recorded."""
    if event["exit_reason"] == "error":
        return {"log": "the session ended by an error"}
    return None
