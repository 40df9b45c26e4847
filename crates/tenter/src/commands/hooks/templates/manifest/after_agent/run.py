def answer(event):
    """The example: an answer that gave up is pointed out."""
    if "I could not" in event["response"]:
        block("You gave up. Say what you tried, and what would help.")
    return None
