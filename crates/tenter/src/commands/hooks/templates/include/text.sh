# text FIELD: the first text of this name in the event, without JSON's escapes.
text() {
    local json
    json=$(printf '%s\n' "$event" | LC_ALL=C grep -oE "\"$1\": *\"([^\"\\\\]|\\\\.)*\"" | head -n 1 |
        sed -E 's/^"[^"]*": *"//; s/"$//; s/\\"/"/g')
    printf '%b' "$json"
}

# json TEXT: the text as JSON.
json() {
    printf '"%s"' "$(printf '%s' "$1" | tr -d '\000-\010\013\014\016-\037' |
        sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e "s/$(printf '\t')/\\\\t/g" -e "s/$(printf '\r')/\\\\r/g" |
        awk 'NR > 1 { printf "\\n" } { printf "%s", $0 }')"
}

# block REASON: blocks, for this reason.
block() {
    printf '%s\n' "$1" >&2
    exit 2
}
