def answer(event):
    """The example: no command may delete everything."""
    words = event["tool_input"].get("command", "").split()
    deletes = "rm" in words and any(word in ("-rf", "-fr") for word in words)
    if deletes and any(word in ("/", "/*", "~") for word in words):
        block("this would delete everything; name the folder that you mean")
    return None
