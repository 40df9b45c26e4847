
# text FIELD: the payload's first text of this name, as JSON writes it: with \" for " and \n for a new line.
text() {
    printf '%s\n' "$payload" | grep -oE "\"$1\": \"([^\"\\\\]|\\\\.)*\"" | head -n 1 |
        sed -e "s/^\"$1\": \"//" -e 's/"$//'
}

# number FIELD: the payload's first whole number of this name.
number() {
    printf '%s\n' "$payload" | grep -oE "\"$1\": [0-9]+" | head -n 1 | grep -oE '[0-9]+$'
}

case ${1:-} in
    hook) echo "$event" ;;
    run)
        payload=$(cat)
        answer
        ;;
esac
