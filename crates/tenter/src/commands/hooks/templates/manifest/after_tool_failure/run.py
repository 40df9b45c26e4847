def answer(event):
    """The example: a file that is not there is looked for."""
    if "No such file or directory" in json.dumps(event["tool_output"]):
        return {"additional_context": "List the folder first, and use a name that is there."}
    return None
