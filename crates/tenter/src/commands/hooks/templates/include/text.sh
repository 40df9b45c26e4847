# text FIELD: the first text of this name in the event, without JSON's escapes.
text() {
    local json
    json=$(printf '%s\n' "$event" | LC_ALL=C grep -oE "\"$1\": *\"([^\"\\\\]|\\\\.)*\"" | head -n 1 |
        sed -E 's/^"[^"]*": *"//; s/"$//; s/\\"/"/g')
    printf '%b' "$json"
}

# @include json
