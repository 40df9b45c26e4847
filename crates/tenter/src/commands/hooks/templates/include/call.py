def read_call():
    """Returns the input of the call and its working directory. Blocks a call that cannot be read."""
    try:
        event = json.load(sys.stdin.buffer)
        given = {name: value for name, value in event["tool_input"].items() if value is not None}
        texts = [given.get(name, "") for name in ("command", "file_path", "path", "notebook_path")]
        if event["work_dir"] and all(isinstance(text, str) for text in [event["work_dir"], *texts]):
            return given, event["work_dir"]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    print("this hook cannot read the call: `work_dir`, the command and the paths must be strings", file=sys.stderr)
    sys.exit(2)
