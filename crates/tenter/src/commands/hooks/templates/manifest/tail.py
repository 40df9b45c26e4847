

reply = answer(json.load(sys.stdin.buffer))
if reply is not None:
    print(json.dumps(reply))
