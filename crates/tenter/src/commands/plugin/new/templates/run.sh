#!/bin/sh
# The tests of this plugin. They need nothing but tenter, and leave nothing behind.
set -eu

plugin=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The plugin as somebody has it who installed it for all projects, in a home of its own.
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME
export HOME="$scratch/home"
mkdir -p "$HOME/.kodelet/plugins" "$scratch/project/.git"
ln -s "$plugin" "$HOME/.kodelet/plugins/test@NAME"
cd "$scratch/project"

# expect WHAT TEXT: what the command before printed, which is on stdin, holds the text.
expect() {
    said=$(cat)
    case $said in
        *"$2"*) echo "ok: $1" ;;
        *)
            echo "failed: $1: no \"$2\" in: $said" >&2
            exit 1
            ;;
    esac
}

# An executable hook is asked as an agent would ask it.
"$plugin/hooks/reminder" hook | expect "reminder names its event" agent_stop
echo '{"stop_hook_active": false}' | "$plugin/hooks/reminder" run |
    expect "reminder makes the agent continue" '"follow_up_messages": ["Say what you tested'

# Manifest hooks have their tests in their folders.
tenter hooks test test/NAME/no-force-push
tenter hooks test test/NAME/context-at-start

tenter recipe show test/NAME/NAME --arg focus=typos | expect "the recipe takes its argument" "Look for typos first"
tenter skill show test/NAME/NAME | expect "the skill is read" "Looking over changes"
tenter plugin check "$plugin" | expect "the plugin is fit to be published" "Fit to be published"
