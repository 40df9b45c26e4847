# text FIELD: prints the first string with this name in the event, unescaped.
text() {
    local json
    json=$(printf '%s\n' "$event" | LC_ALL=C grep -oE "\"$1\": *\"([^\"\\\\]|\\\\.)*\"" | head -n 1 |
        sed -E 's/^"[^"]*": *"//; s/"$//; s/\\"/"/g')
    printf '%b' "$json"
}

# @include json
