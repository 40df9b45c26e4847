def read_call():
    """The input of the call, and the directory that it runs in. A call that cannot be read does not run."""
    try:
        event = json.load(sys.stdin.buffer)
        given = {name: value for name, value in event["tool_input"].items() if value is not None}
        texts = [given.get(name, "") for name in ("command", "file_path", "path", "notebook_path")]
        if event["work_dir"] and all(isinstance(text, str) for text in [event["work_dir"], *texts]):
            return given, event["work_dir"]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    print("this hook cannot read the call: it needs `work_dir`, and an input whose command and paths are texts", file=sys.stderr)
    sys.exit(2)
