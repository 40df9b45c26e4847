# HOOK.md defines when this script runs. It reads the event on stdin, one JSON object, and replies with its exit code:
#   0        stdout is the reply: one JSON object, or nothing
#   2        block; stderr is the reason
#   other    failure; with `fail: closed` in HOOK.md it blocks, too
# Test changes with `tenter hooks test NAME`.
