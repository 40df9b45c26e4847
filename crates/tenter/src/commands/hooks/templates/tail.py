

def main():
    if sys.argv[1:] == ["hook"]:
        print(EVENT)
        return
    reply = answer(json.load(sys.stdin.buffer))
    if reply is not None:
        print(json.dumps(reply))


main()
