# block REASON: blocks with this reason.
block() {
    printf '%s\n' "$1" >&2
    exit 2
}

# @include field

# string JSON: prints the text of a JSON string; fails for other JSON.
string() {
    printf '%s\n' "$1" | LC_ALL=C grep -qxE '"([^"\\]|\\.)*"' || return 1
    printf '%b' "$(printf '%s\n' "$1" | LC_ALL=C sed -E 's/^"//; s/"$//; s/\\"/"/g')"
}

# input NAME: prints this field of the input, a string; nothing if the input does not have it.
input() {
    local json
    json=$(field "$input" "$1")
    case $json in '' | null) return ;; esac
    string "$json" || unreadable
}

# unreadable: blocks a call that cannot be read.
unreadable() {
    block 'this hook cannot read the call: `work_dir`, the command and the paths must be strings'
}

# The input of the call and its working directory.
input=$(field "$event" tool_input)
case $input in '{'*'}') ;; *) unreadable ;; esac
cwd=$(string "$(field "$event" work_dir)") || unreadable
[ -n "$cwd" ] || unreadable
