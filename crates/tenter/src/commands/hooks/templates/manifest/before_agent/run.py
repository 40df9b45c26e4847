def answer(event):
    """The example: private keys do not go to the model."""
    if "PRIVATE KEY-----" in event["prompt"]:
        block("the message holds a private key")
    return None
