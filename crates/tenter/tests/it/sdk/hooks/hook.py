#!/usr/bin/env python3
import os
import subprocess

from tenter_hook import Hook, ask_user, context, deny, follow_up, modify_input

hook = Hook(concurrency=int(os.environ.get("CONCURRENCY", "1")))


@hook.before_tool
def before_tool(payload, call):
    command = payload["tool_input"]["command"]
    if command == "deny":
        return deny("no") | {"log": payload["session_id"]}
    if command == "ask":
        return ask_user("sure?")
    if command == "rewrite":
        return modify_input({"command": "ls"}) | context("rewritten")
    if command == "print":
        print("from print")
        subprocess.run(["echo", "from a child"])
    if command == "raise":
        raise ValueError("broken")
    if command == "list":
        return ["deny"]
    if command == "big":
        return deny("x" * (1 << 20))
    if command == "count":
        call.memory["count"] = call.memory.get("count", 0) + 1
        return context(f"count {call.memory['count']}")
    if command == "model":
        return context(call.model("hello", max_tokens=5, model="weak").text)
    if command == "ask the user":
        return context(call.ask("go?", ["yes", "no"]))
    if command == "history":
        return context("history " + call.history(last=1)[0]["role"])
    if command == "state":
        call.state.set("k", [1], scope="project", if_version=0)
        call.state.delete("k")
        return context(f"state {call.state.add('n', 2)}")
    if command == "notify":
        call.notify("look")
    if command == "wait":
        while not call.cancelled:
            pass
        return deny("cancelled")
    return None


@hook.before_stop
def before_stop(_payload):
    return follow_up("continue")


hook.run()
