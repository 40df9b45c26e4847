#!/bin/sh
# Blocks destructive commands. The model reads the reason and finds another way.
case "$1" in
hook) echo before_tool_call ;;
run)
    payload=$(cat)
    for forbidden in "rm -rf" "rm -fr" "sudo " "mkfs"; do
        case "$payload" in *'"command": "'*"$forbidden"*)
            echo "{\"blocked\": true, \"reason\": \"${forbidden% } is not allowed here\"}"
            exit 0
            ;;
        esac
    done
    ;;
esac
