def answer(event):
    """The example: where one query is answered and nobody can be asked, the model is told not to ask."""
    if event["args"].get("ui") == "run":
        return {"additional_context": "Nobody can answer questions: decide, and say what you decided."}
    return None
