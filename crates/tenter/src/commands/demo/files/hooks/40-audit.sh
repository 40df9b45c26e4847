#!/usr/bin/env bash
# Writes every tool call into a log, blocked ones too: the whole payload, one line each.
case "$1" in
hook) echo after_tool_call ;;
run) cat >> audit.jsonl ;; # hooks start in the project's folder
esac
