# field JSON NAME: prints this field of the object as JSON without spaces; nothing if the object does not have it.
field() {
    printf '%s\n' "$1" | LC_ALL=C grep -oE '"([^"\\]|\\.)*"|[][{}:,]|[^][{}:,"[:space:]]+' | LC_ALL=C awk -v name="\"$2\"" '
        /^[]}]/ { depth-- }
        depth < 1 || (depth == 1 && $0 == ",") { taken = 0 }
        taken { printf "%s", $0 }
        depth == 1 && previous == name && $0 == ":" { taken = 1 }
        /^[[{]/ { depth++ }
        { previous = $0 }'
}
