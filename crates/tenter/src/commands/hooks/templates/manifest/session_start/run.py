def answer(event):
    """The example: where nobody sits at a terminal, the model is told not to ask."""
    if event["args"].get("ui") == "headless":
        return {"additional_context": "Nobody can answer questions: decide, and say what you decided."}
    return None
