def answer(event):
    """The example: an answer that says that it is not tested is sent back, once."""
    if event["stop_hook_active"]:
        return None
    if "not tested" in (event["final_message"] or {}).get("content", ""):
        block("Test it before you stop, or say why it cannot be tested.")
    return None
