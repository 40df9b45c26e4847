def answer(event):
    """The example: the model does not get to read access keys."""
    output = json.dumps(event["tool_output"])
    redacted = re.sub("AKIA[0-9A-Z]{16}", "[redacted]", output)
    if redacted != output:
        return {"modified_output": json.loads(redacted)}
    return None
