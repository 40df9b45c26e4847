#!/bin/sh
# The tests of this plugin. They need only tenter, and remove their files.
set -eu

plugin=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Install the plugin for all projects, in a temporary home directory.
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME
export HOME="$scratch/home"
mkdir -p "$HOME/.kodelet/plugins" "$scratch/project/.git"
ln -s "$plugin" "$HOME/.kodelet/plugins/test@NAME"
cd "$scratch/project"

# expect TEST TEXT: fails unless stdin contains the text.
expect() {
    output=$(cat)
    case $output in
        *"$2"*) echo "ok: $1" ;;
        *)
            echo "failed: $1: no \"$2\" in: $output" >&2
            exit 1
            ;;
    esac
}

# Run the executable hook as an agent would.
"$plugin/hooks/reminder" hook | expect "reminder prints its event" agent_stop
echo '{"stop_hook_active": false}' | "$plugin/hooks/reminder" run |
    expect "reminder makes the agent continue" '"follow_up_messages": ["Say what you tested'

# Run the tests of the manifest hooks.
tenter hooks test test/NAME/no-force-push
tenter hooks test test/NAME/context-at-start

tenter recipe show test/NAME/NAME --arg focus=typos | expect "the recipe accepts its argument" "Look for typos first"
tenter skill show test/NAME/NAME | expect "the skill is found" "Reviewing changes"
tenter plugin check "$plugin" | expect "the plugin can be published" "No problems found"
