def answer(event):
    """The example: where the context is nearly full, the model is told to come to an end."""
    usage = event["usage"]
    most = usage["max_context_window"]
    if most > 0 and usage["current_context_window"] * 100 // most >= 90:
        return {"additional_context": "The context is nearly full. Finish what you are at, and say what is left to do."}
    return None
