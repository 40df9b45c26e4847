#!/usr/bin/env python3
"""@NAME@: does nothing yet."""

from tenter_hook import Hook, context, deny

hook = Hook()


@hook.@EVENT@
def handle(payload, call):
    # Read a field, for example: payload["session_id"]
    # Reply, for example: return deny("not on a Friday"), or: return context("it is Friday")
    # Use a service, for example: call.state.add("seen"). The list `services` in the HOOK.md must have it.
    return None


if __name__ == "__main__":
    hook.run()
