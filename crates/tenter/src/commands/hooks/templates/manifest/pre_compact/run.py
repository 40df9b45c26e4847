def answer(event):
    """The example: a summary that nobody asked for keeps what was decided."""
    if event["trigger"] == "auto":
        return {"additional_context": "Keep every decision and the names of all changed files."}
    return None
