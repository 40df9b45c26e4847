# json TEXT: prints the text as a JSON string.
json() {
    printf '"%s"' "$(printf '%s' "$1" | tr -d '\000-\010\013\014\016-\037' |
        sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e "s/$(printf '\t')/\\\\t/g" -e "s/$(printf '\r')/\\\\r/g" |
        awk 'NR > 1 { printf "\\n" } { printf "%s", $0 }')"
}
