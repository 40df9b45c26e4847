# block REASON: blocks, for this reason.
block() {
    printf '%s\n' "$1" >&2
    exit 2
}

# @include field

# string JSON: the text of a JSON string; fails if it is something else.
string() {
    printf '%s\n' "$1" | LC_ALL=C grep -qxE '"([^"\\]|\\.)*"' || return 1
    printf '%b' "$(printf '%s\n' "$1" | LC_ALL=C sed -E 's/^"//; s/"$//; s/\\"/"/g')"
}

# input NAME: this field of the input, a text; nothing if the input does not have it.
input() {
    local json
    json=$(field "$input" "$1")
    case $json in '' | null) return ;; esac
    string "$json" || unreadable
}

# A call that cannot be read does not run.
unreadable() {
    block 'this hook cannot read the call: it needs `work_dir`, and an input whose command and paths are texts'
}

# The call: its input, and the directory that it runs in.
input=$(field "$event" tool_input)
case $input in '{'*'}') ;; *) unreadable ;; esac
cwd=$(string "$(field "$event" work_dir)") || unreadable
[ -n "$cwd" ] || unreadable
