# block REASON: blocks with this reason.
block() {
    printf '%s\n' "$1" >&2
    exit 2
}

# unreadable: blocks a call that cannot be read.
unreadable() {
    block 'this hook cannot read the call: `work_dir`, the command and the paths must be strings'
}

# string JSON: sets `text` to the text of a JSON string, to nothing for `null`; blocks other JSON.
string() {
    text=''
    case $1 in
        null) return ;;
        # A variable cannot hold NUL.
        *'\u0000'*) unreadable ;;
        '"'*) ;;
        *) unreadable ;;
    esac
    text=${1#\"} text=${text%\"}
    printf -v text '%b' "$text"
}

# read_call: reads the event. Sets `cwd` to the working directory of the call, `command` to the command in its input, and `paths` to
# the paths in its input.
read_call() {
    local IFS=$'\n' token tokens text previous='' key='' object='' has_input='' depth=0
    cwd='' command='' paths=()
    # The tokens of the JSON text, with escapes that `printf` knows. Each process that a hook starts delays the call, so two
    # processes read all fields.
    tokens=$(LC_ALL=C sed 's/\\\\/\\0134/g; s/\\"/\\0042/g' | LC_ALL=C grep -oE '"[^"]*"|[][{}:,]|[^][{}:,"[:space:]]+')
    set -f
    for token in $tokens; do
        case $depth$object$key in
            '1"tool_input"') [ "$token" = '{' ] && object=input has_input=1 ;;
            '1"work_dir"') string "$token" && cwd=$text ;;
            '2input"command"') string "$token" && command=$text ;;
            '2input"file_path"' | '2input"path"' | '2input"notebook_path"') string "$token" && paths+=("$text") ;;
        esac
        key=''
        case $token in
            :) key=$previous ;;
            '{' | '[') depth=$((depth + 1)) ;;
            '}' | ']') depth=$((depth - 1)) ;;
        esac
        [ "$depth" -gt 1 ] || { [ "$token" = '}' ] && object=''; }
        previous=$token
    done
    set +f
    [ -n "$has_input" ] && [ -n "$cwd" ] && [ "$depth" = 0 ] || unreadable
}
