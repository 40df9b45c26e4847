#!/bin/sh
# Logs every tool call, including blocked ones: one payload per line.
case "$1" in
hook) echo after_tool_call ;;
run) cat >> audit.jsonl ;; # hooks start in the project's directory
esac
